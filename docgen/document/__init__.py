"""The JSON Schemas of tenants.yaml and of teams' files, derived from the model: `tenantry schema` prints them."""
