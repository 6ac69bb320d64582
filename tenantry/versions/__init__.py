"""Versions and ranges as Flux reads them, and which versions a pinned one can be raised to.

Never: asks a source for its versions; `manifests` does.
"""
