"""What every step relies on: metadata and the parts of Kubernetes' own kinds have the types that an API server enforces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tenantry.kube.objects import Manifest

_Check = Callable[[Any], bool]


def misshapen(manifest: Manifest) -> str:
    """The first part of an object with a wrong type, as a path with dots; "" if there is none."""
    return next((path for path, check, value in _parts(manifest) if value is not None and not check(value)), "")


def _parts(manifest: Manifest) -> Iterator[tuple[str, _Check, Any]]:
    metadata = manifest["metadata"]
    yield "metadata.labels", _texts, metadata.get("labels")
    yield "metadata.annotations", _texts, metadata.get("annotations")
    for key, check in {"spec": _mapping, **_OF_KINDS.get(str(manifest["kind"]), {})}.items():
        yield key, check, manifest.get(key)


def _mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _mappings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _role(value: Any) -> bool:
    return _texts(value) and isinstance(value.get("name"), str)


def _subjects(value: Any) -> bool:
    return isinstance(value, list) and all(_role(each) for each in value)


_OF_KINDS: dict[str, dict[str, _Check]] = {
    "ClusterRole": {"rules": _mappings},
    "ClusterRoleBinding": {"roleRef": _role, "subjects": _subjects},
    "ConfigMap": {"data": _texts},
    "RoleBinding": {"roleRef": _role, "subjects": _subjects},
    "ServiceAccount": {"imagePullSecrets": _subjects, "secrets": _mappings},
}
