"""Turns a plan into Pulumi resources. `tenantry` has decided what to create before any resource exists."""
