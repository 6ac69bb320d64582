"""The types of single values in tenants.yaml: each refuses what Kubernetes, Flux or Go would refuse later.

A refusal is a `PydanticCustomError` whose type is the diagnostic's code, so `shape` needs no table of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from tenantry.kube import names
from tenantry.messages.placeholders import Scalar
from tenantry.messages.problems import type_name
from tenantry.messages.redact import shorten

# An API server that parses `1e99999999999` is busy for a minute.
_QUANTITY = re.compile(r"\+?([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})(([KMGTPE]i)|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?")
_BYTES = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?) ?([kKmMgGtTpP])i?[bB]?")
_VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DATA_KEY = re.compile(r"(?!\.{1,2}$|\.\.)[-._a-zA-Z0-9]{1,253}")
_HOST = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[0-9]{1,5})?")


def refusal(code: str, message: str, **context: Any) -> PydanticCustomError:
    """An error of a value; `fix` in the context becomes the finding's."""
    # Braces would be taken for a template by pydantic.
    return PydanticCustomError(code, "{text}", {"text": message, **context})


def checked(
    code: str, what: str, problem: Callable[[str], str | None], fix: Callable[[str], str] | str = ""
) -> AfterValidator:
    """A check whose message is the noun, the value, and what `problem` says of it. Args: fix: may depend on the value."""

    def check(value: str) -> str:
        if why := problem(value):
            help = fix if isinstance(fix, str) else fix(shorten(value))
            raise refusal(code, f"{what} '{shorten(value)}' {why}".lstrip(), fix=help)
        return value

    return AfterValidator(check)


def valid(code: str, what: str, form: Callable[[str], object], fix: Callable[[str], str] | str) -> AfterValidator:
    """A check of a value's form."""
    return checked(code, "", lambda value: None if form(value) else f"is not a valid {what}", fix)


def _matching(pattern: re.Pattern[str], why: str) -> Callable[[str], str | None]:
    return lambda value: None if pattern.fullmatch(value) else why


def _number_as_text(value: Any) -> Any:
    """Numbers are natural to write where Kubernetes wants text: `cpu: 4`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return repr(value)


def _scalar(value: Any) -> Scalar:
    """The value of a variable as it is; numbers only if Kubernetes keeps them, which has floats of 64 bits."""
    if not isinstance(value, str | int | float):
        fix = "remove the key, or give it a value" if value is None else "write a text, a number, true or false"
        raise refusal("wrong-type", f"expected a text, a number, true or false, found {type_name(value)}", fix=fix)
    if not isinstance(value, str) and not (math.isfinite(value) and abs(value) <= 2**53):
        raise refusal("wrong-type", "Kubernetes does not keep this number as it is", fix="put it in quotes")
    return value


PATH_FIX = "write a path from the source's root, such as './web'"


def _quantity_fix(value: str) -> str:
    if match := _BYTES.fullmatch(value):
        unit = match[2].upper()
        return f"write '{match[1]}{'k' if unit == 'K' else unit}' or '{match[1]}{unit}i'"
    return "write it as '4', '500m' or '8Gi'"


_FILE = re.compile(r"(?:^|/)(?:Kustomization|[^/]*\.ya?ml)/*$")


def directory_problem(value: str) -> str | None:
    """Why a value is not a directory inside a source, or None."""
    if _FILE.search(value):
        return "is a file, and Flux takes a directory"
    return "has a '*', and Flux takes one directory" if "*" in value else path_problem(value)


def path_problem(value: str) -> str | None:
    """Why a value is not a path inside a source, or None."""
    if value.startswith("/"):
        return "is absolute: paths start at the root of the source"
    if "\\" in value:
        return "has a backslash, which separates no directories"
    return "leaves the source" if ".." in value.split("/") else None


def text(
    pattern: str, max_length: int | None = None, *types: str, examples: tuple[str | int, ...] = ()
) -> WithJsonSchema:
    """What editors show: JSON Schema cannot run our checks, so each type repeats its form as a pattern.

    types: those allowed beside text, which `pattern` leaves alone. examples: usual values, which editors offer.
    """
    more: dict[str, Any] = {} if max_length is None else {"maxLength": max_length}
    more |= {"examples": list(examples)} if examples else {}
    return WithJsonSchema({"type": ["string", *types] if types else "string", "pattern": f"^{pattern}$", **more})


Name = Annotated[
    str,
    checked("bad-name", "name", names.dns_label_problem, "write a name such as 'team-1'"),
    text(names.DNS_LABEL, names.MAX_LABEL),
]
"""A DNS-1123 label: lower-case letters, digits and `-`. It is used in object names and label values."""

NameTemplate = Annotated[str, Field(min_length=1, max_length=253)]
"""A name that may contain placeholders. The plan checks what they become."""


class Refers(NamedTuple):
    """Marks the type of a name that refers to an entry of the file, of the tenant or of the platform. group: the entry's key.

    Every such field has the mark: by it `fleet.names` finds names that nobody declares, and `grants.grants` what an included file
    names.
    """

    group: Literal["apps", "clusters", "configs", "credentials", "environments", "sources", "tenants"]


AppName = Annotated[
    str,
    text(rf"({names.ADDON_PREFIX})?{names.DNS_LABEL}", len(names.ADDON_PREFIX) + names.MAX_LABEL),
    Refers("apps"),
]
"""The name of an app, or `platform/<add-on>`. A rule checks that it exists."""

OwnAppName = Annotated[Name, Refers("apps")]
"""The name of an app beside this one."""
CredentialsName = Annotated[Name, Refers("credentials")]
"""The name of declared credentials."""
SourceName = Annotated[Name, Refers("sources")]
"""The name of a declared source."""
EnvironmentName = Annotated[Name, Refers("environments")]
"""The name of a declared environment."""
TenantName = Annotated[Name, Refers("tenants")]
"""The name of a declared tenant."""
DeclaredCluster = Annotated[str, Refers("clusters")]
"""The name of a cluster of this file."""
DeclaredEnvironment = Annotated[str, Refers("environments")]
"""The name of an environment of this file."""

ObjectName = Annotated[
    str,
    checked("bad-name", "name", names.object_name_problem),
    text(rf"{names.DNS_LABEL}(\.{names.DNS_LABEL})*", names.MAX_OBJECT),
]
"""The name of an object that Tenantry does not create."""

Quantity = Annotated[
    str,
    BeforeValidator(_number_as_text),
    valid("bad-quantity", "quantity", _QUANTITY.fullmatch, _quantity_fix),
    text(_QUANTITY.pattern, None, "number", examples=("500m", 4, "8Gi")),
]
"""A Kubernetes resource quantity, for example `4`, `500m` or `8Gi`."""

_OF_QUOTA = "write a resource such as 'pods', 'requests.cpu' or 'limits.memory'"
_OF_LIMITS = "write a resource such as 'cpu' or 'memory'"
QuotaName = Annotated[
    str, checked("bad-resource", "resource", names.quota_name_problem, _OF_QUOTA), text(names.QUOTA_NAME)
]
"""The name of a resource in a quota, for example `requests.cpu` or `count/deployments.apps`."""

LimitName = Annotated[
    str, checked("bad-resource", "resource", names.limit_name_problem, _OF_LIMITS), text(names.LIMIT_NAME)
]
"""The name of a resource of containers, for example `cpu` or `example.com/gpu`."""

Text = Annotated[str, Field(min_length=1)]
"""A string that is not empty."""

RoleName = Annotated[
    Text,
    checked("bad-role", "role", names.role_name_problem),
    text(r"(?!\.{1,2}$)[^/%]+", examples=("view", "edit", "admin")),
]
"""The name of a ClusterRole. It becomes part of the name of a binding, and of a rendered file."""

LabelKey = Annotated[str, checked("bad-label", "label", names.label_key_problem), text(names.LABEL_KEY)]
"""A key of a label or annotation: `name` or `prefix/name`, with letters, digits, `-`, `_` and `.`."""
LabelValue = Annotated[
    str,
    checked("bad-label", "label value", names.label_value_problem),
    text(names.LABEL_VALUE, names.MAX_LABEL),
]
"""At most 63 letters, digits, `-`, `_` and `.`; may be empty. Quote values that look like a boolean or a number."""

SourcePath = Annotated[str, checked("bad-path", "path", path_problem, PATH_FIX), text(r"(?!/)(?!(.*/)?\.\.(/|$)).*")]
"""A path inside a source. Paths that leave the source are refused (see CVE-2022-24877)."""

DirectoryPath = Annotated[
    str,
    checked("bad-path", "path", directory_problem, PATH_FIX),
    text(r"(?!/)(?!(.*/)?\.\.(/|$))(?!(.*/)?(Kustomization|[^/]*\.ya?ml)/*$)[^*]*"),
]
"""A directory inside a source."""

data_key_problem = _matching(_DATA_KEY, "must be letters, digits, '-', '_' and '.', as in 'age.agekey'")
DataKey = Annotated[
    str,
    checked("bad-key", "key", data_key_problem),
    text(_DATA_KEY.pattern),
]
"""A key of a Secret or ConfigMap."""

RegistryHost = Annotated[
    str,
    valid("bad-host", "host", _HOST.fullmatch, "write HOST or HOST:PORT, without scheme and path"),
    text(_HOST.pattern),
]
"""The host of a registry, optionally with a port; without scheme and path."""


VariableName = Annotated[
    str,
    checked(
        "bad-variable", "variable", _matching(_VARIABLE, "must be letters, digits and '_', starting with a letter")
    ),
    text(_VARIABLE.pattern),
]
"""Letters, digits and `_`, starting with a letter."""


SHARE = r"(100|[1-9]?[0-9])%"
"""A share in percent, such as `10%`."""


def number_or_share(value: Any) -> Any:
    """The value, if it is a whole number or a share."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and re.fullmatch(SHARE, value):
        return value
    text = (
        f"'{shorten(str(value))}' is neither a number nor a share"
        if isinstance(value, int | str | float)
        else type_name(value)
    )
    raise refusal("bad-limit", text, fix="write a number such as 3, or a share such as 10%")


NumberOrShare = Annotated[
    int | str,
    BeforeValidator(number_or_share),
    WithJsonSchema({"type": ["integer", "string"], "minimum": 0, "pattern": f"^{SHARE}$"}),
]
"""A whole number, or a share in percent such as `10%`."""


def share_of(limit: int | str, total: int) -> int:
    """How many a `NumberOrShare` means of so many: a share is rounded down."""
    return limit if isinstance(limit, int) else total * int(limit.removesuffix("%")) // 100


SubstituteValue = Annotated[
    str,
    # 1.10 would become "1.1": text that looks like a decimal number has to be in quotes.
    BeforeValidator(lambda value: value if isinstance(value, float) else _number_as_text(value)),
    WithJsonSchema({"type": ["string", "integer"]}),
]
"""A string or a whole number. Quote values that look like a decimal number: 1.10 would become 1.1."""
VariableValue = Annotated[Scalar, PlainValidator(_scalar), WithJsonSchema({"type": ["string", "number", "boolean"]})]
"""A text, a number or `true` and `false`."""


def _as_list(value: Any) -> Any:
    if not isinstance(value, str | list):
        text = f"expected the name of a template or a list of names, found {type_name(value)}"
        raise refusal("wrong-type", text, fix="write a name, as in 'from: small'")
    return [value] if isinstance(value, str) else value


TemplateNames = Annotated[
    list[Name],
    Field(min_length=1),
    BeforeValidator(_as_list, json_schema_input_type=Name | Annotated[list[Name], Field(min_length=1)]),
]
"""The name of a template, or a list of such names."""
