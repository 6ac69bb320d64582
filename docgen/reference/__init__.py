"""Writes docs/tenants-reference.md from the model: every key with its type, default, meaning and an example.

`make reference` calls it, and `make check` checks that the page is up to date. It must never hold prose about a key: the page
takes that from the text below the key's field in `tenantry.model`.

    sections   which parts of tenants.yaml there are, and where they stand
    kinds      what a value may be, in words
    flux       the keys that are Flux's own
    examples   a piece of tenants.yaml for each section, which the tests load
    page       the whole page as Markdown
"""
