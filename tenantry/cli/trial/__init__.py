"""`tenantry try`: the commands that need no cluster, shown on the example fleet.

`tenants.yaml` here is a link to that of the repository; a wheel holds a copy of it.
"""
