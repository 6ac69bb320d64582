"""Writes docs/tenants-reference.md from the model: every key with its type, default, meaning and an example.

    sections   which parts of tenants.yaml there are, and where they stand
    kinds      what a value may be, in words
    flux       the keys that are Flux's own
    examples   a piece of tenants.yaml for each section, which the tests load
    page       all of it as Markdown

What the page says of a key is the text below its field in `tenantry.model`. Unlike the rest of `tools`, this package knows fleets.
"""
