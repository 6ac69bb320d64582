"""Benchmarks of the core on large fleets. Run them by hand; they are not tests."""
