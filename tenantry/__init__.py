"""Tenantry: one file, `tenants.yaml`, in; the Flux objects of a multi-tenant, multi-cluster fleet out.

This package is the pure core and the command line. It never imports pulumi: `components/` turns a plan into Pulumi
resources, and every command works from the same plan. `load.py` shows the steps from a file to a plan.
"""

__version__ = "0.1.0"
