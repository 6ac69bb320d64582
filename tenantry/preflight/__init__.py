"""Checks a plan against the live clusters before a run: what would fail, and what would surprise. A module for each subject.

Called by: `tenantry preflight` and `tenantry cluster check`. Each check yields problems with their fixes.
Never: changes a cluster, or repeats a check of the guard.
"""
