"""Rollouts: what the file says, which wave takes what, when a wave is good, and what a run says.

Read them in this order: `model`, `drawing`, `rules`, `waves`, `turns`, `judging`, `words`. `components/gates.py` waits.
"""
