"""The values of Secrets. Only the stack's secret config knows them, never a plan.

Only this module turns values into a Secret's data.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tenantry.kube.objects import REGISTRY_KEY, KubeObject, SecretValues


@dataclass(frozen=True, slots=True)
class MissingValue:
    """A missing value that a plan needs: its path as in `SecretValues`, ending with the value's own key."""

    path: tuple[str, ...]


def wanted(objects: Iterable[KubeObject]) -> Iterator[SecretValues]:
    """What the Secrets among objects are filled with, each once, although several clusters may hold the same."""
    yield from dict.fromkeys(object.secret for object in objects if object.secret)


def missing(objects: Iterable[KubeObject], config: Mapping[str, Any]) -> list[MissingValue]:
    """The values that objects need and a config does not hold."""
    return [
        MissingValue((*secret.path, key))
        for secret in wanted(objects)
        for key in secret.keys
        if key not in values_of(secret, config)
    ]


def values_of(secret: SecretValues, config: Mapping[str, Any]) -> dict[str, str]:
    """A Secret's values in a config of nested mappings. Empty values and values that are not text count as missing."""
    found: Any = config
    for part in secret.path:
        found = found.get(part) if isinstance(found, Mapping) else None
    given = found if isinstance(found, Mapping) else {}
    return {key: given[key] for key in secret.keys if isinstance(given.get(key), str) and given[key]}


def data_of(secret: SecretValues, values: Mapping[str, str]) -> dict[str, str]:
    """`data` of the Secret, in base64 as the API wants it.

    Source: kubernetes.io, "Pull an Image from a Private Registry": the form of .dockerconfigjson.
    """
    if not secret.registry:
        return {key: _base64(values[key]) for key in secret.keys}
    login = {key: values[key] for key in ("username", "password")}
    login["auth"] = _base64(f"{values['username']}:{values['password']}")
    return {REGISTRY_KEY: _base64(json.dumps({"auths": {secret.registry: login}}))}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
