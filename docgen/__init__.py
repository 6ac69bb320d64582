"""Generates the files of this repository that follow from others: the reference of tenants.yaml, the schemas of Flux's kinds, and
the examples' comparisons with what they follow.

Developers run it through `make reference` and `make schemas`; tests and `make check` check that the files are
up to date. It must never run as part of the product: nothing imports it, and it is not needed to plan, check or deploy a fleet.
"""
