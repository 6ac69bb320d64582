"""Writes examples/<example>/comparison.md from comparison.yaml: where an example has the capabilities of a published setup.

`make comparisons` calls it, `make check` checks that the pages are up to date, and tests check the data against the plans, files
and tests that it names. It must never state a line number itself: it looks the lines up by key.

    document   what comparison.yaml may say
    page       one page as Markdown
"""
