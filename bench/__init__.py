"""Timings of the core on large fleets; run by hand, never as tests."""
