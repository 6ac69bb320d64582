"""Builders: settings in, manifests out. One module for each concern.

Called by: the rest of `plan`, which decides which objects exist. Builders decide what they look like.
Never: read the fleet, or look at another tenant.
"""
