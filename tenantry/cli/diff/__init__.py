"""`tenantry diff`: the difference between two fleets as text, Markdown, JSON or names.

Called by: `cli.app`, and by `cli.preflight`, which shows what adoption changes in the same form.
Never: compares anything itself. `tenantry.facts` does.
"""
