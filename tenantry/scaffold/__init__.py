"""A new project for a fleet: the files that `tenantry init` writes, and what a newer version would write differently.

Called by: the commands `init` and `upgrade`.
Never: overwrites a file that somebody edited.
"""
