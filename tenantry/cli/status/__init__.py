"""`tenantry status`: whether every app is ready, in each format."""
