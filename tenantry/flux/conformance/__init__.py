"""Whether Flux's objects would be taken by an API server, said without one and in the author's words.

    walk          what an API server adds before it looks
    structure     types, keys, enumerations, patterns, bounds: JSON Schema
    rules         what one field means for another: CEL
    explanations  our own words for each of those rules

The schemas are derived from the pinned Flux (`tenantry.flux.schemas`). What a controller refuses later, such as a name that does
not exist, is none of this package's business.
"""

from tenantry.flux.conformance.check import check_part, check_spec
from tenantry.flux.conformance.structure import part_of_spec

__all__ = ["check_part", "check_spec", "part_of_spec"]
