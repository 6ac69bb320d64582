"""Which files are included, what they may speak of, and what the main file allows them beyond a tenant's apps."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from tenantry.addresses import is_address
from tenantry.kube.names import KEY_PREFIX
from tenantry.messages.placeholders import is_unfilled
from tenantry.model.durations import Duration
from tenantry.model.scalars import (
    ConfigName,
    Name,
    OwnAppName,
    RoleName,
    SourceName,
    Text,
    VariableName,
    refusal,
    text,
    valid,
)
from tenantry.model.selector import Selector
from tenantry.model.strict import Model, OneOf

_ADDRESS = r"""(\*|[^*\s?#"']+(/\*)?)"""


def _is_pattern(value: str) -> bool:
    """Whether a value is a pattern; with placeholders, whether it could become one."""
    if not re.fullmatch(_ADDRESS, value) or value.count("[") != value.count("]"):
        return False
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
NamespacePattern = Annotated[
    str,
    valid(
        "bad-name",
        "namespace",
        re.compile(r"[a-z0-9*]([-a-z0-9*]*[a-z0-9*])?").fullmatch,
        "write a name; '*' stands for any characters",
    ),
    text(r"[a-z0-9*]([-a-z0-9*]*[a-z0-9*])?"),
]
"""The name of a namespace, in which `*` stands for any characters."""
KeyPrefix = Annotated[
    str,
    valid(
        "bad-prefix",
        "prefix",
        re.compile(KEY_PREFIX).fullmatch,
        "write it as 'team.example.com/'",
    ),
    text(KEY_PREFIX),
]
"""The part of the key of a label or annotation before the name, with the slash, for example `team.example.com/`."""
GRANTABLE = Literal[
    "interval",
    "limits",
    "namespaces",
    "network",
    "owners",
    "quota",
    "recurseSubmodules",
    "retryInterval",
    "role",
    "roleBindings",
    "timeout",
]
"""Settings of a tenant that the main file can leave to an included file."""


class Include(OneOf):
    """Files of teams, or pieces of this file. A pattern alone is the short form of `{tenants: PATTERN}`."""

    one_of = ("tenants", "files")

    tenants: Text | None = None
    """A pattern for files with the apps of tenants, relative to the directory of this file. Each file is named after the tenant
    that it may speak of."""
    files: Text | None = None
    """A pattern for pieces of this file, relative to its directory: files with `tenants`, `tenantClasses`, `clusters` and
    `clusterGroups` in this file's form and with its trust. Each entry is declared in one file."""

    @model_validator(mode="before")
    @classmethod
    def _pattern_alone(cls, value: Any) -> Any:
        return {"tenants": value} if isinstance(value, str) else value


class Share(Model):
    """Entries that this file declares for the tenant and that the included file may name. Credentials are never shared: a tenant
    that could name them could send them anywhere.
    """

    sources: list[SourceName] | None = None
    """Sources that its apps, receivers and Git sources may take. Flux fetches them with the credentials that they have."""
    configs: list[ConfigName] | None = None
    """Configs that its apps may name."""
    apps: list[OwnAppName] | None = None
    """Apps that its apps may depend on and that its alerts may tell of."""

    @model_validator(mode="before")
    @classmethod
    def _credentials_are_never_shared(cls, value: Any) -> Any:
        if isinstance(value, dict) and "credentials" in value:
            fix = "remove it, and move what the tenant may use to 'credentials:' in the tenant's own file"
            raise refusal("platforms-credentials", "credentials of this file cannot be shared", fix=fix)
        return value


_Number = Annotated[int, Field(ge=0)]


class GrantedLimits(Model):
    """How long something of a tenant may keep a controller of Flux busy, which serves all tenants, and how much a tenant may have.
    Limits are for what an included file says; this file may say more.
    """

    timeout: Duration | None = None
    """The longest duration of any kind except intervals: timeouts of apps, of single Helm actions, of sources. Default: `1h`."""
    interval: Duration | None = None
    """The longest interval. Default: `24h`."""
    retries: _Number | None = None
    """The most retries of a failed Helm action. Flux's `-1`, which is without end, is never allowed. Default: 20."""
    history: Annotated[int, Field(ge=1)] | None = None
    """The most revisions of a release that Helm keeps (`maxHistory`). Flux's `0`, which keeps all, is never allowed.
    Default: 20."""
    apps: _Number | None = None
    """The most apps. Default: 100."""
    sources: _Number | None = None
    """The most sources. Default: 100."""
    credentials: _Number | None = None
    """The most credentials. Default: 100."""
    configs: _Number | None = None
    """The most configs. Default: 100."""
    alerts: _Number | None = None
    """The most alerts. Default: 20."""
    receivers: _Number | None = None
    """The most receivers. Default: 20."""
    namespaces: _Number | None = None
    """The most namespaces beside those of this file, where `settings` has `namespaces`. Default: 20."""


class Grants(Model):
    """What the included file of a tenant may do. An included file may always declare apps, sources, credentials, configs and
    alerts; these keys say how far those reach.
    """

    clusters: Selector | None = None
    """The clusters that the file's selectors can take. Default: those of the tenant's `clusters` in this file. `all` does not
    include management clusters: name them, or select them by labels."""
    environments: list[Name] | None = None
    """The environments in which the tenant is placed, and those that extend them. Default: all."""
    sources: list[AddressPattern] | None = None
    """Addresses that sources may have. `https://git.example.com/rocky/*` allows everything below a path,
    `oci://` stands for registries, `s3://ENDPOINT/BUCKET` for buckets, and `*` for any address. Default: none."""
    alerts: list[AddressPattern] | None = None
    """Addresses that alerts may be sent to, in addition to those of `sources`. Default: none, so that the address comes from
    a Secret or from the provider's type."""
    push: list[AddressPattern] | None = None
    """Addresses of Git repositories that image automation may push to. `sources` alone allows to read. Default: none."""
    share: Share | None = None
    """Entries of this file that the file may name. Default: none, so that it names its own alone."""
    settings: list[GRANTABLE] | None = None
    """Settings of the tenant that the file may set itself; they replace those of this file, but `namespaces` only adds some.
    `recurseSubmodules` is a setting of the file's Git sources: a repository with submodules makes Flux connect to any address that
    it names. Default: none."""
    variables: list[VariableName] | None = None
    """Variables of the tenant that the file may set. What they become part of is checked as if the file had written it.
    Default: none."""
    roles: list[RoleName] | None = None
    """The ClusterRoles that a granted `role`, `owners` or `roleBindings` may name. Default: `view`."""
    labels: list[KeyPrefix] | None = None
    """Prefixes of the labels of namespaces that the file may set. Default: none."""
    annotations: list[KeyPrefix] | None = None
    """Prefixes of the annotations of namespaces that the file may set. Default: none."""
    shortestInterval: Duration | None = None
    """The shortest `interval` and `retryInterval` anything of the tenant may have. Default: `30s`."""
    limits: GrantedLimits | None = None
    """How long timeouts and intervals may be, and how many apps, sources and other parts the file may declare."""
