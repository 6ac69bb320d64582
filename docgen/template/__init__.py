"""Writes templates/pulumi, which `pulumi new` takes: what `tenantry init` writes with the default answers.

Called by: `make template`, and `make check` with --check.
Never: has text of its own: `tenantry.scaffold` makes every file.
"""
