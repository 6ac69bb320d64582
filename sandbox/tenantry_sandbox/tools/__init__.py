"""Builds and finds the programs that the sandbox needs and that cannot be installed as Python packages.

`tenantry sandbox tools` calls `build`, as `make tools` does; the sandbox calls `store`, which says where each is.
`catalog` lists them. It must not know fleets or clusters, and finding a program must not start a build.
"""
