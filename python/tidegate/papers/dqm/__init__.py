"""Dual-queue management: D. Kim and M. Liu, about 2003."""

TITLE = "Kim and Liu, Distributed admission control via dual-queue management"
