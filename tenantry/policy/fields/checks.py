"""What single values may be, whatever the field they stand in."""

from __future__ import annotations

import re
from typing import Any

from tenantry.policy.durations import seconds
from tenantry.policy.fields.table import Check, Filled, JudgedBy
from tenantry.policy.resource import mapping

OWN_NAME = JudgedBy("tenants_name_only_what_is_theirs")
KUBECONFIG = JudgedBy("tenants_use_the_kubeconfigs_of_their_clusters")
ADDRESS = JudgedBy("tenants_reach_granted_addresses")
INTERVAL = JudgedBy("tenants_intervals_are_long_enough")
IDENTITY = JudgedBy("tenants_use_no_shared_identity")
SUBMODULES = JudgedBy("tenants_submodules_are_granted")
TOLD = JudgedBy("tenants_alerts_say_whose_they_are")
BINDING = JudgedBy("tenants_bindings_keep_to_the_frame")

LONGEST = "24h"
"""The longest timeout, unless the main file itself writes a longer one. A controller has few workers for all tenants."""
MOST_RETRIES = 100
"""The most retries, likewise. A negative number stands for retries without an end."""

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


def timeout(value: Any, of: Filled) -> str:
    """How long something may take: as long as the main file says, else as `LONGEST`."""
    if not isinstance(value, str) or not _DURATION.fullmatch(value):
        return "holds no duration"
    granted = str(mapping(of.place.frame.grants.get("limits")).get("timeout") or LONGEST)
    longest = max(granted, LONGEST, key=seconds)
    if value in of.place.frame.written("timeout") or seconds(value) <= seconds(longest):
        return ""
    return f"holds a worker of Flux for '{value}', longer than {longest},"


def retries(value: Any, of: Filled) -> str:
    """How often something is tried again: as the main file says, else at most `MOST_RETRIES`."""
    if not is_number(value):
        return "holds no number"
    most = max(MOST_RETRIES, int(mapping(of.place.frame.grants.get("limits")).get("retries") or 0))
    if str(int(value)) in of.place.frame.written("retries") or 0 <= value <= most:
        return ""
    return f"has more than {most} retries" if value > 0 else "has retries without an end"


def is_number(value: Any) -> bool:
    """Whether the engine would pass the value as a number, which is a float there."""
    return isinstance(value, int | float) and not isinstance(value, bool)
