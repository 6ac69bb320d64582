"""Fills the tables and the plot of docs/performance.md from the results of the benchmarks."""
