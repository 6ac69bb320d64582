"""Text to data: YAML with the place of every value, and the files that a fleet includes.

Called by: `load` and `compare.revision`; `fleet` keeps the source to turn paths into places.
Never: knows which keys exist.
"""
