"""Writes docs/output-reference.md, the keys of every JSON document, from the models in tenantry/cli/documents.

Called by: `make reference`, and by `make check`, which finds a stale page.
Never: holds prose about a document. The texts are below the fields of the models.
"""
