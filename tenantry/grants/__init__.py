"""Grants: what the main file gives to the included file of a tenant, and what this may therefore say.

Read them in this order: `model`, `frames`, `grants`, `rules`, `wall`. `confined` judges plans apart from them.
"""

import tenantry.model  # noqa: F401 # first, because the whole document has a place for what `model` here describes
