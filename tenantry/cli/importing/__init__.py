"""`tenantry import`: existing Flux objects become tenants.yaml, with a report."""
