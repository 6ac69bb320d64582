"""Tenantry: one file, `tenants.yaml`, in; the Flux objects of a multi-tenant, multi-cluster fleet out.

This package is the pure core and the command line. It never imports pulumi: `components/` turns a plan into Pulumi
resources, and every command works from the same plan. `load.py` shows the steps from a file to a plan.
"""

from pathlib import Path

__version__ = "0.1.0"

if not Path(__path__[0], "components").is_dir():
    # An editable installation. A wheel has a copy of `components/` as `tenantry.components`, which the programs of projects import;
    # here, the directory is beside this package.
    __path__.append(str(Path(__path__[0]).parent))
