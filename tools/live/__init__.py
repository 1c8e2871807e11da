"""Real packets on this machine: a lab of network namespaces, and what is measured in it.

Everything needs root, and stays in namespaces that are made for it and removed afterwards
(`tidegate.hosts.lab`).
"""
