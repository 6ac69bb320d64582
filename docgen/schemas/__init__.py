"""Derives the data files with the schemas of Flux's kinds from the CustomResourceDefinitions of the pinned Flux.

`make schemas` calls it after a version of Flux was raised, and `make test` checks that the files are up to date.
It must never drop a constraint silently: a keyword that it does not know is an error.
"""
