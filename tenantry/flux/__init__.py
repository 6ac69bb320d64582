"""What Flux's API accepts: schemas derived from its CRDs, checks against them, and the fields that refer to other objects.

Called by: `fleet` for blocks as written, `plan` for specs as planned, preflight for the fields that a cluster knows.
Never: knows tenants.yaml, or what a controller finds later.
"""
