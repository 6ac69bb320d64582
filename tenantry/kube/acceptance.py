"""What an API server refuses of an object because of its size, or because its values contradict each other.

Names and the types of values are checked where they are written. Here is what shows only when the object is complete.
Source: k8s.io/kubernetes `pkg/apis/core/validation`; etcd's `--max-request-bytes`. Tried on an API server of Kubernetes 1.36.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from tenantry.kube.values import number_of
from tenantry.messages.data import mapping_at, written
from tenantry.messages.errors import Path, Problem

MOST_DATA = 1024**2
"""The most bytes of the values in a ConfigMap."""
MOST_ANNOTATIONS = 256 * 1024
"""The most bytes of all annotations of an object, with their keys."""
MOST_STORED = 1_400_000
"""The most bytes of an object: etcd takes 1.5 MiB, and controllers add a status."""
MOST_KEYS = 20_000
"""The most keys in an object. API servers list each of them as a field of its own, which takes a minute for 100,000."""
MOST_LABELS = 250
"""The most labels of an object. Kubernetes has no bound, and compares all of them for each selector."""
_LISTED = 10
"""The bytes that a key in the list of fields has beside its name: `"f:name":{},`."""
_SMALL = 25_000
"""An object of so few bytes, as `written` gives them, exceeds nothing: JSON takes at most six for one, and a key has seven."""

_BOUNDS = (
    ("min", "defaultRequest"),
    ("defaultRequest", "default"),
    ("default", "max"),
    ("min", "default"),
    ("min", "max"),
)
"""Settings of a LimitRange of which the first may not be greater."""
_WHOLE = (
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
)
"""Resources that are counted."""
_COUNTED = (*_WHOLE, "services.nodeports", "services.loadbalancers")


def refusals(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """Everything about an object that an API server would refuse, or with which no pod could run.

    The paths are those of a tenant's settings; () is the whole object.
    """
    yield from too_large(manifest)
    if manifest["kind"] == "ResourceQuota":
        yield from _of_quota(manifest["spec"]["hard"])
    elif manifest["kind"] == "LimitRange":
        for limits in manifest["spec"]["limits"]:
            yield from _of_limits(limits)


def too_large(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """What about an object is larger than an API server takes, or makes it slow for all."""
    common = mapping_at(manifest, "spec", "commonMetadata").get("labels", ())
    if (labels := max(len(manifest["metadata"].get("labels", ())), len(common))) > MOST_LABELS:
        message = f"{_name(manifest)} has {labels:,} labels, and at most {MOST_LABELS} are taken"
        yield Problem(("labels",), "too-large", message, fix="remove some, or write them as annotations")
    if len(written(dict(manifest))) < _SMALL:  # as nearly all
        return
    text = json.dumps(manifest, ensure_ascii=False)
    kind, metadata = manifest["kind"], manifest["metadata"]
    name = _name(manifest)
    annotations = {key: _bytes(key) + _bytes(value) for key, value in metadata.get("annotations", {}).items()}
    annotated = sum(annotations.values())
    data = sum(map(_bytes, manifest.get("data", {}).values())) if kind == "ConfigMap" else 0
    keys, length = _keys(manifest)
    stored = _bytes(text) + length + keys * _LISTED
    if data > MOST_DATA:
        message = f"{name} would hold {data:,} bytes, and Kubernetes takes at most {MOST_DATA:,}"
        yield Problem(("data",), "too-large", message, fix="divide it, or put the content into a source")
    elif annotated > MOST_ANNOTATIONS:
        largest = max(annotations, key=lambda key: annotations[key])
        message = (
            f"the annotations of {name} have {annotated:,} bytes, and Kubernetes takes at most {MOST_ANNOTATIONS:,}"
        )
        yield Problem(("annotations", largest), "too-large", message, fix="shorten them, or remove some")
    elif keys > MOST_KEYS:
        message = (
            f"{name} has {keys:,} keys, and an API server would be busy with more than {MOST_KEYS:,} for a long time"
        )
        yield Problem((), "too-large", message, fix="put the content into a source, or write it as one text")
    elif stored > MOST_STORED:
        message = f"{name} would take {stored:,} bytes, and an API server stores at most {MOST_STORED:,}"
        yield Problem((), "too-large", message, fix="put a part of it into a source, or into configs")


def _name(manifest: Mapping[str, Any]) -> str:
    metadata = manifest["metadata"]
    return f"{manifest['kind']} {'/'.join(filter(None, (metadata.get('namespace'), metadata['name'])))}"


def _bytes(text: str) -> int:
    return len(text.encode())


def _keys(value: Any) -> tuple[int, int]:
    """The number of keys in some data, and of their characters."""
    number = length = 0
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            number += len(part)
            length += sum(map(len, part))
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return number, length


_BYTES = ("ephemeral-storage", "memory", "storage")
_FEWEST_BYTES, _MOST_PROCESSORS = 1024, 1_000_000


def amount_problem(at: Path, resource: str, quantity: Any) -> Problem | None:
    """A quantity that is one, and whose unit is that of another resource: no pod can run with `memory: 512m`."""
    number, name = number_of(quantity), resource.removeprefix("requests.").removeprefix("limits.")
    if number is not None and name in _BYTES and 0 < number < _FEWEST_BYTES:
        message = f"'{quantity}' of '{resource}' is {number.normalize():f} bytes"
        digits = str(quantity).rstrip("mun")
        fix = f"write '{digits}Mi' or '{digits}Gi'" if digits.isdecimal() else "write it as '512Mi' or '8Gi'"
        return Problem(at, "bad-quantity", message, fix=fix)
    if number is not None and name == "cpu" and number > _MOST_PROCESSORS:
        message = f"'{quantity}' of '{resource}' is {number.normalize():f} processors"
        return Problem(at, "bad-quantity", message, fix="write it as '4', or '500m' for half of one")
    return None


def _of_quota(hard: Mapping[str, Any]) -> Iterator[Problem]:
    for resource, quantity in hard.items():
        if problem := amount_problem(("quota", resource), resource, quantity):
            yield problem
        number = number_of(quantity)
        counted = resource in _COUNTED or resource.startswith("count/")
        if counted and number is not None and number != number.to_integral_value():
            message = f"quota '{quantity}' of '{resource}' is not a whole number"
            yield Problem(("quota", resource), "bad-quantity", message, fix="write a whole number")


def _of_limits(limits: Mapping[str, Any]) -> Iterator[Problem]:
    """Kubernetes takes the default of a limit from `max`, and that of a request from the limit."""
    given = {key: dict(limits.get(key) or {}) for key in ("min", "defaultRequest", "default", "max")}
    for key, amounts in given.items():
        problems = (amount_problem(("limits", key, resource), resource, amounts[resource]) for resource in amounts)
        yield from filter(None, problems)
    for low, high in _BOUNDS:
        for resource, quantity in given[low].items():
            lower, upper = _number(quantity), _number(given[high].get(resource))
            if lower is not None and upper is not None and lower > upper:
                message = (
                    f"'{low}' of {resource} is '{quantity}', which is more than '{high}' ('{given[high][resource]}')"
                )
                yield Problem(("limits", low, resource), "bad-limits", message, fix=f"lower it, or raise '{high}'")


def _number(quantity: Any) -> Decimal | None:
    return None if quantity is None else number_of(quantity)
