"""A planned object as a Pulumi resource. The components choose its parent; the plan decides its content."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TypeAlias

from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.stacks.targets import type_token

from .component import Parent
from .registering import Registration

_SECRETS = {"replaceOnChanges": ["type"], "deleteBeforeReplace": True, "deleteBeforeReplaceDefined": True}
"""The API server lets no Secret change its type, so one of another type takes its place."""

_EVERYTHING = ["*"]
"""The engine takes the former inputs of an object then."""

Registered: TypeAlias = dict[ObjectId, Registration]
"""The objects that have been registered so far, which is what a later one may depend on."""


def register(objects: Iterable[KubeObject], parent: Parent, registered: Registered) -> None:
    """Register objects below a component, in the order of the plan, and add them to `registered`.

    Each is registered with its manifest unchanged: the provider accepts a manifest for every kind, under a type token made of
    apiVersion and kind. Dependencies go from object to object. A dependency on a component would mean everything below it,
    and would grow with the fleet.
    """
    for planned in objects:
        before = parent.steps.before(planned.id)
        registered[planned.id] = parent.registrar.object(
            type_token(planned.id),
            planned.logical_name,
            planned.manifest,
            parent.registration,
            (*(registered[dependency] for dependency in planned.depends_on), *before),
            parent.steps.turns.of.get(planned.id),
            protect=planned.protect,
            retainOnDelete=planned.retained or None,
            ignoreChanges=_EVERYTHING if planned.id in parent.registrar.kept else [*map(_property, planned.rewritten)],
            customTimeouts=_patience(planned.ready_within),
            **(_SECRETS if planned.secret else {}),
        )
        parent.steps.took(planned.id, registered[planned.id])


def _property(path: Iterable[str]) -> str:
    """A path as Pulumi writes it: `["metadata"]["annotations"]["example.com/owner"]`."""
    return "".join(f"[{json.dumps(key)}]" for key in path)


def _patience(seconds: int | None) -> dict[str, str] | None:
    """How long to wait for an object that is created or changed. Deletion keeps the provider's own timeout, which an
    annotation would shorten too.
    """
    return {"create": f"{seconds}s", "update": f"{seconds}s"} if seconds else None
