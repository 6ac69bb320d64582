"""What single values may be, whatever the field they stand in."""

from __future__ import annotations

import re
from typing import Any

from tenantry.policy.fields.table import Check, Filled, JudgedBy

OWN_NAME = JudgedBy("tenants_name_only_what_is_theirs")
KUBECONFIG = JudgedBy("tenants_use_the_kubeconfigs_of_their_clusters")
ADDRESS = JudgedBy("tenants_reach_granted_addresses")
INTERVAL = JudgedBy("tenants_intervals_are_long_enough")
IDENTITY = JudgedBy("tenants_use_no_shared_identity")
SUBMODULES = JudgedBy("tenants_submodules_are_granted")
TOLD = JudgedBy("tenants_alerts_say_whose_they_are")
BINDING = JudgedBy("tenants_bindings_keep_to_the_frame")

_DURATION = re.compile(r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+")
_REMOTE = re.compile(r":|//|\?|@|\.git(/|$)|(^|/)_git/|^github\.com(/|$)")
"""What kustomize takes for the address of a repository."""


def anything(_: Any, __: Filled) -> str:
    """The author's own content, which Flux hands on to what runs with the tenant's rights."""
    return ""


def text(value: Any, _: Filled) -> str:
    return "" if isinstance(value, str) else "holds no text"


def switch(value: Any, _: Filled) -> str:
    return "" if isinstance(value, bool) else "holds neither true nor false"


def number(value: Any, _: Filled) -> str:
    """A number; how large retries and histories may be is judged by `tenants-timeouts-and-retries-have-an-end`."""
    return "" if is_number(value) else "holds no number"


def quantity(value: Any, _: Filled) -> str:
    return "" if isinstance(value, str) or is_number(value) else "holds no quantity"


def word(*words: str) -> Check:
    """One of some words."""
    return lambda value, _: "" if value in words else f"holds none of {', '.join(words)}"


def in_source(value: Any, _: Filled) -> str:
    """A path inside the source."""
    if not isinstance(value, str):
        return "holds no path"
    if value.startswith("/") or ".." in value.split("/"):
        return "leaves its source"
    return ""


def component(value: Any, of: Filled) -> str:
    """A path relative to the `path` of a Kustomization, inside the source: `../shared` often is."""
    if not isinstance(value, str):
        return "holds no path"
    if _REMOTE.search(value):
        return "names a repository of its own"
    below = str(of.resource.spec.get("path") or ".")
    depth = 0
    for part in () if value.startswith("/") else (*below.split("/"), *value.split("/")):
        depth += {"": 0, ".": 0, "..": -1}.get(part, 1)
        if depth < 0:
            return "leaves its source"
    return "leaves its source" if value.startswith("/") else ""


def duration(value: Any, _: Filled) -> str:
    """A duration; how long it may be is judged by `tenants-timeouts-and-retries-have-an-end`."""
    return "" if isinstance(value, str) and _DURATION.fullmatch(value) else "holds no duration"


def is_number(value: Any) -> bool:
    """Whether the engine would pass the value as a number, which is a float there."""
    return isinstance(value, int | float) and not isinstance(value, bool)
