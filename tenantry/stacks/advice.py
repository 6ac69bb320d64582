"""Commands of Pulumi in a text, for one stack."""

from __future__ import annotations

import re
import shlex

_CONFIG = re.compile(r"\bpulumi config (set|rm)\b(?![^;`,\n]* --stack)")


def for_stack(text: str, stack: str) -> str:
    """The text with each `pulumi config` in it for a stack: without `--stack`, Pulumi changes the one that is selected."""
    return _CONFIG.sub(lambda found: f"{found[0]} --stack {shlex.quote(stack)}", text)
