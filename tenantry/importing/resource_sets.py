"""What a ResourceSet of the Flux Operator applies, as far as its inputs stand in it: each of its resources for each of its inputs.

A template that does more than to insert an input, or inputs that a provider gives at run time, are not known here. Source:
fluxcd.controlplane.io, ResourceSet; controlplaneio-fluxcd/flux-operator, internal/builder/resourceset.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.importing.programs import NotBuilt
from tenantry.importing.yaml_text import MOST_BYTES, objects_of, read_all, write
from tenantry.kube.objects import Manifest, group_of
from tenantry.messages.data import mapping_at, mappings_in, value_at

COPIED = "fluxcd.controlplane.io/copyFrom"
"""The annotation of an object whose data is that of another."""
_GROUP = "fluxcd.controlplane.io"
_TEMPLATE = re.compile(r"<<-?\s*(.*?)\s*-?>>", re.DOTALL)
_INPUT = re.compile(r"inputs\.([A-Za-z_][\w.]*)(?:\s*\|\s*(quote))?")
_MOST = 20_000
"""Objects of one ResourceSet."""


def is_resource_set(manifest: Manifest) -> bool:
    """Whether an object is a ResourceSet of the Flux Operator."""
    return manifest["kind"] == "ResourceSet" and group_of(str(manifest["apiVersion"])) == _GROUP


def resolved(manifest: Manifest) -> Iterator[Mapping[str, Any]]:
    """What a ResourceSet applies. Raises: NotBuilt: that is not known here."""
    spec = mapping_at(manifest, "spec")
    for key in ("inputsFrom", "steps"):
        if spec.get(key):
            raise NotBuilt(f"spec.{key} is not resolved here")
    templates = [write(each) for each in mappings_in(spec.get("resources"))]
    if isinstance(spec.get("resourcesTemplate"), str):
        templates.append(spec["resourcesTemplate"])
    inputs = mappings_in(spec.get("inputs")) or [{}]
    if len(templates) * len(inputs) > _MOST:
        raise NotBuilt(f"it has more than {_MOST} objects")
    seen: set[str] = set()
    room = MOST_BYTES
    for one in inputs:
        for template in templates:
            text = _filled(template, one, room)
            room -= len(text)
            for each in objects_of(read_all(text)):
                if (same := json.dumps(each, sort_keys=True, default=str)) not in seen:
                    seen.add(same)
                    yield each


def _filled(template: str, inputs: Mapping[str, Any], room: int) -> str:
    """Args: room: how many characters the result may have."""
    room -= len(template)

    def value(found: re.Match[str]) -> str:
        nonlocal room
        use = _INPUT.fullmatch(found[1])
        filled = value_at(inputs, tuple(use[1].split("."))) if use else None
        if use is None or not isinstance(filled, str | int | float):
            raise NotBuilt(f"its template '{found[0]}' is not resolved here")
        text = str(filled).lower() if isinstance(filled, bool) else str(filled)
        room -= len(text)
        if room < 0:
            raise NotBuilt(f"its objects become more than {MOST_BYTES // 2**20} MiB")
        return json.dumps(text) if use[2] else text

    return _TEMPLATE.sub(value, template)
