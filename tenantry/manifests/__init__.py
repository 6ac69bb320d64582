"""What changed apps apply before and after: their sources are fetched and rendered as Flux does, and the results are compared.

Called by: `cli.diff`, for `tenantry diff --manifests`; `cli.importing`, to build trees.
Never: contacts a cluster, runs what a source contains, or writes outside of its cache and temporary directories.
"""
