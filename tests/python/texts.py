"""Scenarios that several files of tests use."""

LONG = """
name     = "long flows"
duration = "10s"
warmup   = "2s"

[topology.dumbbell]
pairs      = 2
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "18ms", buffer = "200packets" }

[traffic.long]
arrivals  = { uniform = 2, within = "1s" }
size      = "unlimited"
transport = { tcp = { profile = "linux" } }
"""
