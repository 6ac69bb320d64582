"""How what an author wrote may be repeated in a message: on one line, not endless, and without secrets."""

from __future__ import annotations

from tenantry.secretforms import redacted

MAX_TEXT = 4000
"""Characters of a message, a note or a remedy; lists of what is known may be that long, names never are."""
MAX_KEY = 400
"""Characters of one key in the path of a problem: more than any key that Kubernetes takes."""


def shorten(value: str, limit: int = 80) -> str:
    """A value as it may be quoted in a message."""
    shown = redacted(value[: 4 * limit])
    shown = shown.encode("unicode_escape").decode() if not shown.isprintable() else shown
    return shown if len(shown) <= limit and len(value) <= 4 * limit else f"{shown[:limit]}..."


def presentable(text: str, limit: int = MAX_TEXT) -> str:
    """A whole message, or a part of one, of which nobody knows what it repeats."""
    shown = redacted(text[: 2 * limit])
    return shown if len(shown) <= limit and len(text) <= 2 * limit else f"{shown[:limit]}..."
