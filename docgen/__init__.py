"""Generates the files of this repository that follow from others: the references of tenants.yaml and of the commands, and
the schemas of Flux's kinds.

Developers run it through `make reference` and `make schemas`; tests and `make check` check that the files are
up to date. It must never run as part of the product: nothing imports it, and it is not needed to plan, check or deploy a fleet.
"""
