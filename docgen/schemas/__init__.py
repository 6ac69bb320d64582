"""Derives the data files with the schemas of Flux's kinds from CustomResourceDefinitions.

`make schemas` derives those of the pinned Flux after its version was raised, and `make test` checks that they are up to date.
It must never drop a constraint silently: a keyword that it does not know is an error.
"""
