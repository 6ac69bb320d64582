"""What a placeholder such as `{env}` looks like in a text. What its name may be, and what it stands for, is `fleet.template`'s."""

from __future__ import annotations

import re
from typing import Any

# `${NAME}` belongs to Flux, which substitutes it after building.
_PLACEHOLDER = re.compile(r"(?<!\$)\{[^{}]*\}")


def is_unfilled(value: Any) -> bool:
    """Whether a value as written is text with a placeholder."""
    return isinstance(value, str) and _PLACEHOLDER.search(value) is not None
