"""Checks whether an API server would take an object of one of Kubernetes' own kinds, as `objects` can hold it.

A remote cluster that refuses one object of a baseline takes nothing of it. Of kinds that a definition adds nothing is known here.
Source: `kubernetes.json`, which is derived from the OpenAPI documents of the API server that the tests run, and the source of its
validation, `k8s.io/kubernetes/pkg/apis`, for what these documents do not say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any

from tenantry.flux.conformance import misfits
from tenantry.flux.kinds import kubernetes
from tenantry.kube.acceptance import amount_problem
from tenantry.messages.data import mapping_at, mappings_in, scalars
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import missing_key, not_allowed, shown
from tenantry.messages.redact import shorten
from tenantry.model.scalars import data_key_problem

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

_PORTS = ("containerPort", "port", "targetPort")
_PORT_NAME = re.compile(r"(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*")
_AMOUNTS = ("default", "defaultRequest", "hard", "limits", "max", "min", "requests")
_LONGEST_NAME, _LAST_PORT = 15, 65_535
_SUBJECTS = ("Group", "ServiceAccount", "User")
_ROLES = ("ClusterRole", "Role")


def manifest_problems(manifest: Mapping[str, Any], at: Path) -> Iterator[Problem]:
    """What an API server would refuse. Args: manifest: without placeholders; at: where it is written."""
    if definition := kubernetes()["kinds"].get(f"{manifest['apiVersion']}/{manifest['kind']}"):
        found = list(misfits(_validator(definition).iter_errors(_without_null(manifest)), kubernetes(), at))
        yield from found or _beyond_types(manifest, at)


@cache
def _validator(definition: str) -> Draft202012Validator:
    # Most fleets have no such objects, and importing the library takes as long as the rest of a short command.
    import jsonschema_rs

    options = jsonschema_rs.RegexOptions()
    schema = {"$ref": f"#/$defs/{definition}", "$defs": kubernetes()["$defs"]}
    return jsonschema_rs.Draft202012Validator(schema, pattern_options=options)


def _without_null(value: Any) -> Any:
    """A copy without keys that are null, which an API server passes over."""
    if isinstance(value, Mapping):
        return {key: _without_null(part) for key, part in value.items() if part is not None}
    return [_without_null(part) for part in value] if isinstance(value, list) else value


def _beyond_types(manifest: Mapping[str, Any], at: Path) -> Iterator[Problem]:
    """What the types of fields do not say. The manifest has the right structure."""
    for key in ("binaryData", "data", "stringData"):
        for name in mapping_at(manifest, key):
            if why := data_key_problem(name):
                yield Problem((*at, key, name), "bad-key", f"key '{shorten(name)}' {why}", at_key=True)
    for index, rule in enumerate(mappings_in(manifest.get("rules")) if manifest["kind"] == "Role" else ()):
        for key in ("apiGroups", "resources"):
            if not rule.get(key):
                yield missing_key((*at, "rules", index), key)
    role = mapping_at(manifest, "roleRef").get("kind", "Role")
    if role not in _ROLES:
        yield not_allowed((*at, "roleRef", "kind"), role, _ROLES)
    for index, subject in enumerate(mappings_in(manifest.get("subjects"))):
        place = (*at, "subjects", index)
        if subject["kind"] not in _SUBJECTS:
            yield not_allowed((*place, "kind"), subject["kind"], _SUBJECTS)
        elif subject["kind"] == "ServiceAccount" and not (
            subject.get("namespace") or manifest["kind"] == "RoleBinding"
        ):
            yield missing_key(place, "namespace")
    for path, value in scalars(mapping_at(manifest, "spec"), (*at, "spec")):
        if path[-1] == "cidr" or path[-2] == "except":
            yield from _network(path, value)
        elif path[-1] in _PORTS and not _is_port(value):
            fix = "write a number without quotes, or a port's name"
            yield Problem(path, "bad-value", f"{shown(value)} is no port", fix=fix)
        elif path[-2] in _AMOUNTS and (problem := amount_problem(path, str(path[-1]), value)):
            yield problem


def _network(path: Path, text: str) -> Iterator[Problem]:
    try:
        ip_network(text, strict=False)
    except ValueError:
        why = "is no network"
    else:
        why = "" if "/" in text else "has no length of its prefix"
    if why:
        yield Problem(path, "bad-cidr", f"'{shorten(text)}' {why}", fix="write it as in '10.0.0.0/8'")


def _is_port(value: Any) -> bool:
    """A number, or the name of a container's port: its number in quotes is no name."""
    if isinstance(value, str):
        return _PORT_NAME.fullmatch(value) is not None and len(value) <= _LONGEST_NAME
    return not isinstance(value, int) or 0 < value <= _LAST_PORT
