"""Checks a plan against the live clusters before a run, and finds what would fail or be unexpected. A module for each subject.

Called by: `tenantry preflight` and `tenantry preflight --cluster`. Each check yields problems with their fixes.
Never: changes a cluster, or repeats a check of the guard.
"""
