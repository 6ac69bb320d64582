"""For each kind that a tenant's objects may have: the fields that a tenant may fill, each with its check.

    table       what a table is, and how an object is compared with one
    checks      what single values may be
    flux        the tables of Flux's kinds
    kubernetes  the tables of Kubernetes' own
    metadata    labels and annotations

A field that stands in no table is a violation, and so is an object of any other kind that the main file does not declare
itself. So what a new version of Flux brings is refused until somebody decides what a tenant may do with it.
"""
