"""Builders: settings in, manifests out. One module for each concern.

Called by: the rest of `plan`, which decides what exists; builders decide what it looks like.
Never: read the fleet, or look at another tenant.
"""
