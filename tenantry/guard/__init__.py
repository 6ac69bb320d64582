"""Refuses a run that would remove more than it may: compares the plan with what the management cluster really holds.

Called by: the Pulumi program before it registers anything, preflight, and `tenantry diff`.
Never: reads a cluster (`cluster.inventory`), or trusts a stack's state alone, which can be lost or belong to another branch: it
only tells what the fleet has in a tenant's namespace from what the tenant has made there.
"""
