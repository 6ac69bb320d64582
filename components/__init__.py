"""A plan as Pulumi resources, and nothing more: what to create, `tenantry` has decided before any resource exists."""
