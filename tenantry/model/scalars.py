"""The types of single values in tenants.yaml: each refuses what Kubernetes, Flux or Go would refuse later.

A refusal is a `PydanticCustomError` whose type is the diagnostic's code, so `shape` needs no table of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from tenantry.kube import names
from tenantry.messages.redact import shorten

_DURATION = re.compile(r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
_MAX_SECONDS = 366 * 24 * 3600
_QUANTITY = re.compile(r"\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(([KMGTPE]i)|[numkMGTPE]|[eE][+-]?[0-9]+)?")
_VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DATA_KEY = re.compile(r"(?!\.{1,2}$|\.\.)[-._a-zA-Z0-9]{1,253}")
_HOST = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[0-9]{1,5})?")
_IMAGE = re.compile(rf"({_HOST.pattern}/)?[-a-z0-9._/]{{2,255}}")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def refusal(code: str, message: str, **context: Any) -> PydanticCustomError:
    """An error of a value; `fix` in the context becomes the remedy."""
    # Braces would be taken for a template by pydantic.
    return PydanticCustomError(code, "{text}", {"text": message, **context})


def _checked(code: str, what: str, problem: Callable[[str], str | None]) -> AfterValidator:
    def check(value: str) -> str:
        if why := problem(value):
            raise refusal(code, f"{what} '{shorten(value)}' {why}")
        return value

    return AfterValidator(check)


def _matching(pattern: re.Pattern[str], why: str) -> Callable[[str], str | None]:
    return lambda value: None if pattern.fullmatch(value) else why


def _number_as_text(value: Any) -> Any:
    """Numbers are natural to write where Kubernetes wants text: `cpu: 4`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return repr(value)


def _whole_number_as_text(value: Any) -> Any:
    """As above, but 1.10 would become "1.1": text that looks like a decimal number has to be in quotes."""
    return value if isinstance(value, float) else _number_as_text(value)


def _duration_problem(value: str) -> str | None:
    if not _DURATION.fullmatch(value):
        return "is none: write it as in '30s', '5m' or '1h30m'"
    # The CRDs let more pass than Go's 64 bits of nanoseconds hold; one such object stops a Flux controller from listing any.
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in re.findall(r"([0-9.]+)(ms|s|m|h)", value))
    return None if seconds < _MAX_SECONDS else "is too long: a year is the most"


def path_problem(value: str) -> str | None:
    """Why a value is no path inside a source, or None."""
    if value.startswith("/"):
        return "is absolute: paths start at the root of the source"
    return "leaves the source" if ".." in value.split("/") else None


def _text(pattern: str, max_length: int | None = None, *types: str) -> WithJsonSchema:
    """What editors are told: JSON Schema can not run our checks, so each type repeats its form as a pattern.

    types: those allowed beside text, which `pattern` leaves alone.
    """
    limit = {} if max_length is None else {"maxLength": max_length}
    return WithJsonSchema({"type": ["string", *types] if types else "string", "pattern": f"^{pattern}$", **limit})


Name = Annotated[str, _checked("bad-name", "name", names.dns_label_problem), _text(names.DNS_LABEL, names.MAX_LABEL)]
"""A DNS-1123 label; it becomes part of object names and the value of labels."""

AppName = Annotated[str, _text(rf"({names.ADDON_PREFIX})?{names.DNS_LABEL}", len(names.ADDON_PREFIX) + names.MAX_LABEL)]
"""What an app depends on: an app beside it, or `platform/<add-on>`. That there is such a one is for the rules."""

ObjectName = Annotated[
    str,
    _checked("bad-name", "name", names.object_name_problem),
    _text(rf"{names.DNS_LABEL}(\.{names.DNS_LABEL})*", names.MAX_OBJECT),
]
"""The name of an object that somebody else makes."""

Duration = Annotated[str, _checked("bad-duration", "duration", _duration_problem), _text(_DURATION.pattern)]
"""Go's text form of a duration, as Flux's CRDs restrict it: units ms, s, m, h."""

ShortDuration = Annotated[
    Duration,
    _checked(
        "bad-duration", "duration", lambda value: "may not use hours here: write minutes" if "h" in value else None
    ),
    _text(_DURATION.pattern.replace("|h", "")),
]
"""Timeouts of sources; Flux's CRDs allow no hours there."""

Quantity = Annotated[
    str,
    BeforeValidator(_number_as_text),
    _checked("bad-quantity", "quantity", _matching(_QUANTITY, "is none: write it as in '4', '500m' or '8Gi'")),
    _text(_QUANTITY.pattern, None, "number"),
]
"""A Kubernetes resource quantity."""

ResourceName = Annotated[str, _checked("bad-resource", "resource", names.resource_name_problem), _text(names.LABEL_KEY)]
"""What a quota or a limit counts, such as `requests.cpu` or `count/deployments.apps`."""

Text = Annotated[str, Field(min_length=1)]
"""A string where an empty one would mean Flux's own choice, such as the newest version."""

RoleName = Annotated[Text, _checked("bad-role", "role", names.role_name_problem), _text(r"(?!\.{1,2}$)[^/%]+")]
"""A ClusterRole; its name becomes part of a binding's name, and so of the name of a rendered file."""

LabelKey = Annotated[str, _checked("bad-label", "label", names.label_key_problem), _text(names.LABEL_KEY)]
"""`name` or `prefix/name`; letters, digits, `-`, `_` and `.`, as Kubernetes wants keys of labels and annotations."""
LabelValue = Annotated[
    str,
    _checked("bad-label", "label value", names.label_value_problem),
    _text(names.LABEL_VALUE, names.MAX_LABEL),
]
"""At most 63 letters, digits, `-`, `_` and `.`, or nothing. What reads as a boolean or a number needs quotes."""

SourcePath = Annotated[str, _checked("bad-path", "path", path_problem), _text(r"(?!/)(?!(.*/)?\.\.(/|$)).*")]
"""A path inside a source; leaving it was a vulnerability of Flux once (CVE-2022-24877), so it is refused here already."""

DataKey = Annotated[
    str,
    _checked("bad-key", "key", _matching(_DATA_KEY, "must be letters, digits, '-', '_' and '.', as in 'age.agekey'")),
    _text(_DATA_KEY.pattern),
]
"""A key of a Secret or ConfigMap."""

RegistryHost = Annotated[
    str, _checked("bad-host", "host", _matching(_HOST, "is none: write HOST or HOST:PORT")), _text(_HOST.pattern)
]
"""A registry as the configuration of Docker names it: without a scheme and without a path."""


def _image_problem(value: str) -> str | None:
    """What image-reflector-controller would refuse; a placeholder may stand for any part but a tag or a digest."""
    parsed = _IMAGE.fullmatch(_PLACEHOLDER.sub("xx", value))
    return None if parsed else "is none: write [HOST[:PORT]/]PATH in lower case, without scheme, tag and digest"


ImageName = Annotated[str, _checked("bad-image", "image", _image_problem), _text(r"(?!.*(://|@|:[^/]*$))\S+")]
"""A repository of images, as in `ghcr.io/org/app`; placeholders may stand in it."""

VariableName = Annotated[
    str,
    _checked(
        "bad-variable", "variable", _matching(_VARIABLE, "must be letters, digits and '_', starting with a letter")
    ),
    _text(_VARIABLE.pattern),
]
"""Letters, digits and `_`, starting with a letter."""
VariableValue = Annotated[str, BeforeValidator(_whole_number_as_text), WithJsonSchema({"type": ["string", "integer"]})]
"""A string or a whole number. What looks like a decimal number needs quotes, or 1.10 would become 1.1."""
