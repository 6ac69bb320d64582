"""Existing Flux objects to tenants.yaml: what `tenantry import` reads, infers, writes, and proves.

Called by: the command `import`.
Never: changes a cluster, or copies the value of a Secret.
"""
