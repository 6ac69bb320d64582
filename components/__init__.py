"""Turns a plan into Pulumi resources. `tenantry` has decided what to create before any resource exists."""

try:
    import pulumi  # noqa: F401  one of the packages of the extra `pulumi`
    import pulumi_kubernetes  # noqa: F401
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"the Pulumi program needs the Python package '{missing.name}': run `pip install 'tenantry[pulumi]'`,"
        " or `make setup` in a checkout",
        name=missing.name,
    ) from None

from .fleet import Cluster, Fleet, FleetArgs, Placement, Tenant

__all__ = ["Cluster", "Fleet", "FleetArgs", "Placement", "Tenant"]
