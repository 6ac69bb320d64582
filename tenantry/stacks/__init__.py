"""Pulumi's stacks, as their files describe them: which environment each runs, on which cluster, with which settings.

Called by: the Pulumi program for its configuration, and commands that find a stack or run `pulumi`.
Never: imports pulumi, or contacts a cluster or a state backend.
"""
