"""Which files are included, what they may speak of, and what the main file allows them beyond a tenant's apps."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import model_validator

from tenantry.addresses import is_address
from tenantry.messages.placeholders import is_unfilled
from tenantry.model.scalars import (
    EnvironmentName,
    Text,
    text,
    valid,
)
from tenantry.model.selector import Selector
from tenantry.model.strict import Model, OneOf

_ADDRESS = r"""(\*|[^*\s?#"']+(/\*)?)"""

_SLASHES_OF_HOST = 3
"""In the address of a host that ends in a slash."""


def _is_pattern(value: str) -> bool:
    """Whether a value is a pattern; with placeholders, whether it could become one."""
    if not re.fullmatch(_ADDRESS, value) or value.count("[") != value.count("]"):
        return False
    if value.endswith("/") and value.count("/") > _SLASHES_OF_HOST:
        return False  # meant for all below it, which `/*` says
    if is_unfilled(value):
        return "://" in value or value.startswith("{")
    return value == "*" or is_address(value.removesuffix("/*"))


AddressPattern = Annotated[
    str,
    valid(
        "bad-address",
        "address",
        _is_pattern,
        "write 'https://HOST/PATH', 'https://HOST/PATH/*', or '*' for any address",
    ),
    text(_ADDRESS),
]
"""An address, or with `/*` at its end everything below it; `*` alone is any address. May contain placeholders."""
_NAMESPACES = r"[a-z0-9*]([-a-z0-9*]*[a-z0-9*])?"
NamespacePattern = Annotated[
    str,
    valid("bad-name", "namespace", re.compile(_NAMESPACES).fullmatch, "write a name; '*' stands for any characters"),
    text(_NAMESPACES),
]
"""The name of a namespace, in which `*` stands for any characters."""
GRANTABLE = Literal[
    "advanced", "interval", "limits", "namespaces", "network", "owners", "quota", "retryInterval", "timeout"
]
"""Settings of a tenant that the main file can leave to an included file, and `advanced`, which are fields of Flux's."""


class Include(OneOf):
    """Files of teams, or pieces of this file. A pattern alone is the short form of `{tenants: PATTERN}`."""

    one_of = ("tenants", "files")

    tenants: Text | None = None
    """A pattern for files with the apps of tenants, relative to the directory of this file. Each file is named after the tenant
    that it may speak of."""
    files: Text | None = None
    """A pattern for pieces of this file, relative to its directory: files with `tenants`, `clusters` and
    `templates` in this file's form and with its trust. Each entry is declared in one file; others may append
    `overrides` to it, in the order of `include`."""

    @model_validator(mode="before")
    @classmethod
    def _pattern_alone(cls, value: Any) -> Any:
        return {"tenants": value} if isinstance(value, str) else value


class Grants(Model):
    """What the included file of a tenant may do. An included file may always declare apps, sources, credentials, configs and
    alerts; these keys say how far those reach.
    """

    clusters: Selector | None = None
    """The clusters that the file's selectors can take. Default: those of the tenant's `clusters` in this file. `all` does not
    include management clusters: name them, or select them by labels."""
    environments: list[EnvironmentName] | None = None
    """The environments in which the tenant is placed, and those that extend them. Default: all."""
    sources: list[AddressPattern] | None = None
    """Addresses that sources may have. `https://git.example.com/rocky/*` allows everything below a path,
    `oci://` stands for registries, `s3://ENDPOINT/BUCKET` for buckets, and `*` for any address. Default: none."""
    alerts: list[AddressPattern] | None = None
    """Addresses that alerts may be sent to, in addition to those of `sources`. Default: none, so that the address comes from
    a Secret or from the provider's type."""
    settings: list[GRANTABLE] | None = None
    """Settings of the tenant that the file may set itself; they replace those of this file, but `namespaces` only adds some. With
    `owners` it gives `view`, and `edit` if the tenant's own role is `edit` or `admin`. `advanced` are fields of Flux's that reach
    further than others: CEL expressions, proxies, submodules, names of references, STS. Default: none."""
