"""`tenantry up`, `preview` and `destroy`: Pulumi with the fastest safe settings, with checks before and after.

Called by: `cli.app`.
Never: decides about settings of Pulumi, which `tenantry.stacks.command` does; changes what Pulumi prints.
"""
