"""What a fleet declares and where each part of it goes, as lists. They plan no objects.

An item is plain data, as it is in the JSON of `tenantry list`. `taken` knows the planned versions.
"""

from tenantry.listing.lists import LISTS, Filter, Item, listing

__all__ = ["LISTS", "Filter", "Item", "listing"]
