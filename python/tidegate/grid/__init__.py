"""Many runs: axes, plan, workers, the folder that grows run by run, and merging.

A comparison is a grid of controls, a sweep one of any axes.
"""
