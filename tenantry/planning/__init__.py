"""How a plan comes about: clusters first, then add-ons, then tenants cluster by cluster.

A part that can not be planned leaves a finding and does not stop the others, so that one run names all problems.
"""

from tenantry.planning.placements import PlannedPlacement
from tenantry.planning.planner import Planner

__all__ = ["PlannedPlacement", "Planner"]
