"""Compares two fleets, plan by plan: objects, fields, and what the difference does to tenants, apps and clusters.

Called by: `tenantry diff`, and by preflight, which compares planned objects with live ones.
Never: reads a cluster, or formats output. `git` and `revision` read the fleet to compare with.
"""
