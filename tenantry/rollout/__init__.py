"""Rollouts: what the file says, which wave takes what, whether a wave is ready, and what of a change is blocked.

Read them in this order: `model`, `waves`, `flux_status`, `readiness`, `change`, `blocked`.
"""

import tenantry.model  # noqa: F401 # first, because the whole document has a place for what `model` here describes
