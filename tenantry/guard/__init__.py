"""The guard before the engine: what a run would take away is compared with what the management cluster really holds.

State can be lost and branches mixed up; the cluster is what people's workloads hang on. So before anything is registered,
its objects that carry the fleet's labels are held against the plan: what is there and not planned is a removal.
"""

from tenantry.guard.check import Limits, check, limits_of, refusals
from tenantry.guard.held import Held, HeldApp, held
from tenantry.guard.removals import Removal, kept_namespaces, planned_namespaces, removals

__all__ = [
    "Held",
    "HeldApp",
    "Limits",
    "Removal",
    "check",
    "held",
    "kept_namespaces",
    "limits_of",
    "planned_namespaces",
    "refusals",
    "removals",
]
