"""Plans every object of one environment, in the order of their dependencies. A pure function of the fleet and the environment.

Called by: `load`, and through it by every command and the Pulumi program. `plan` visits clusters, add-ons, then tenants.
Never: reads a file, a clock or a cluster. A part that cannot be planned leaves a finding and does not stop the others.
"""
