"""The commands that edit tenants.yaml.

Called by: `cli.app`.
Never: decides where in a file an edit goes, or how it is written. `tenantry.edit` does.
"""
