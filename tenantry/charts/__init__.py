"""The Helm charts that come with Tenantry.

`objects` installs what the plan puts into its values: the baselines of tenants on remote clusters. Commands package and publish
it, and the sandbox serves it. Nothing here reads a fleet.
"""

from pathlib import Path

OBJECTS = Path(__file__).resolve().parent / "objects"
