"""See `tenantry.plan.chain`."""

from tenantry.plan.chain import Chains as Chains
