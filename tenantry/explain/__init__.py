"""Explains a tenant, an app, an add-on or the platform: effective values with their origins, and why each cluster is selected.

Called by: `tenantry explain` and `tenantry parity`, with the plans of environments, so the answers describe what `tenantry up`
applies. What is granted to a tenant needs no plan.
Never: decides what an app gets or where it goes; that is in `fleet` and `plan`.
"""

from tenantry.explain.app import ExplainedApp, PlacedApp, explain_addon, explain_app
from tenantry.explain.common import Keeper, without_secrets
from tenantry.explain.grants import (
    ExplainedGrants,
    GrantedAddress,
    GrantedCluster,
    GrantedEnvironment,
    explain_grants,
    rights_on_clusters,
)
from tenantry.explain.tenant import ExplainedPlatform, ExplainedTenant, explain_platform, explain_tenant

__all__ = [
    "ExplainedApp",
    "ExplainedGrants",
    "ExplainedPlatform",
    "ExplainedTenant",
    "GrantedAddress",
    "GrantedCluster",
    "GrantedEnvironment",
    "Keeper",
    "PlacedApp",
    "explain_addon",
    "explain_app",
    "explain_grants",
    "explain_platform",
    "explain_tenant",
    "rights_on_clusters",
    "without_secrets",
]
