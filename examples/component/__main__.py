"""A program of your own around a fleet: it makes more resources, which wait for the tenant that they need."""

import pulumi
from tenantry.components import Fleet, FleetArgs

fleet = Fleet("dev", FleetArgs(file="tenants.yaml"))
rocky = fleet.tenants["rocky"]

pulumi.export("tenants", {name: {"namespaces": each.namespaces} for name, each in fleet.tenants.items()})
pulumi.Stash("rocky-is-there", input=rocky.apps, opts=pulumi.ResourceOptions(depends_on=[rocky]))
