"""Edits of tenants.yaml by command: text in, text out, and every byte that the edit does not concern stays.

Called by: the commands `add`, `remove`, `rename`, `move`, `set`, `unset` and `fmt`.
Never: reads a cluster, or writes a file that is not valid afterwards.
"""
