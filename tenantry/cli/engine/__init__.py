"""`tenantry up`, `preview` and `destroy`: Pulumi with the fastest safe settings, with checks before and after.

Called by: `app`, which finds each command in the module of its name.
Never: decides about settings of Pulumi, which `tenantry.stacks.command` does; changes what Pulumi prints.
"""
