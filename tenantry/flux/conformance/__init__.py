"""Checks offline whether an API server would accept Flux's objects, and reports problems in the author's terms.

    structure  types, keys, enumerations, patterns, bounds: JSON Schema
    check      defaults that an API server fills in first; how fields relate to each other: CEL, with our text for each rule

The schemas are derived from the pinned Flux (`tenantry.flux.schemas`). This package does not find what a controller rejects
later, such as a reference to an object that does not exist.
"""

from tenantry.flux.conformance.check import check_part, check_spec, completed
from tenantry.flux.conformance.structure import part_of_spec

__all__ = ["check_part", "check_spec", "completed", "part_of_spec"]
