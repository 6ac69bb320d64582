"""Benchmarks, run by `make bench`. No test depends on a time.

Figures are compared within one run: what is compared takes turns, so that other load on the machine hits all of it.
"""
