"""Which files are included, what they may speak of, and what the main file allows them beyond a tenant's apps."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from tenantry.addresses import is_address
from tenantry.messages.placeholders import is_unfilled
from tenantry.messages.redact import shorten
from tenantry.model.scalars import (
    ClassNames,
    Name,
    Text,
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
GRANTABLE = Literal[
    "advanced", "interval", "limits", "namespaces", "network", "owners", "quota", "retryInterval", "timeout"
]
"""Settings of a tenant that the main file can leave to an included file, and `advanced`, which are fields of Flux's."""


class Include(OneOf):
    """Files with the apps of tenants, with clusters, or with what differs in an environment. A pattern alone is the short form of
    `{tenants: PATTERN}`.
    """

    one_of = ("tenants", "clusters", "environment")

    tenants: Text | None = None
    """A pattern for files with the apps of tenants, relative to the directory of this file."""
    clusters: Text | None = None
    """A pattern for files of the platform team with nothing but `clusters`, relative to the directory of this file."""
    environment: Name | None = None
    """The environment whose lines the `files` hold: in the form of this file, they say what differs in this environment alone, and
    what its own entry says. No other file may then override anything for this environment."""
    files: Text | None = None
    """A pattern for the files of `environment`, relative to the directory of this file. They have this file's trust."""
    each: dict[str, Any] | None = None
    """The entry of each row of a CSV file (`tenants: customers.csv`, `clusters: stores.csv`), whose first column is `name`.
    Columns are placeholders here. A column that does not stand here is a variable of the tenant or cluster. An empty cell says
    nothing."""
    of: Annotated[list[Text], Field(min_length=1)] | None = None
    """The tenants that these files may speak of. Default: each file may speak of the tenant that it is named after. With
    `class`, names may contain `*`."""
    class_: ClassNames | None = Field(None, alias="class")
    """The class of tenants that these files create, or a list of classes. Without it they may only speak of tenants that this file
    declares."""

    @model_validator(mode="before")
    @classmethod
    def _pattern_alone(cls, value: Any) -> Any:
        return {"tenants": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _files_of_an_environment(self) -> Self:
        if (self.files is None) != (self.environment is None):
            key, fix = ("files", "add 'files: PATTERN'") if self.files is None else ("environment", "write 'tenants:'")
            raise refusal("bad-include", f"'{key}:' is missing", fix=fix)
        return self

    @model_validator(mode="after")
    def _rows_are_of_csv_files(self) -> Self:
        is_table = (self.tenants or self.clusters or "").lower().endswith(".csv")
        if self.each is not None and not is_table:
            raise refusal("bad-include", "'each' is the entry of a row, but these are no CSV files", fix="remove it")
        if is_table and (self.of is not None or self.class_ is not None):
            key = "of" if self.of is not None else "class"
            fix = "remove it" if key == "of" else "write 'each: {class: ...}'"
            raise refusal("bad-include", f"'{key}' is for files of teams, and a CSV file is the platform's", fix=fix)
        return self

    @model_validator(mode="after")
    def _tenants_only_in_files_of_tenants(self) -> Self:
        key = "of" if self.of is not None else "class" if self.class_ is not None else ""
        if self.clusters is not None and key:
            raise refusal(
                "bad-include", f"'{key}' says which tenants files speak of, but these hold clusters", fix="remove it"
            )
        return self

    @model_validator(mode="after")
    def _stars_only_for_new_tenants(self) -> Self:
        for name in self.of or ():
            if "*" in name and not self.class_:
                raise refusal(
                    "bad-include",
                    f"'{shorten(name)}' is not the name of a tenant",
                    fix="list the tenants by name, or set 'class:'",
                )
        return self


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
    settings: list[GRANTABLE] | None = None
    """Settings of the tenant that the file may set itself; they replace those of this file, but `namespaces` only adds some. With
    `owners` it gives `view`, and `edit` if the tenant's own role is `edit` or `admin`. `advanced` are fields of Flux's that reach
    further than others: CEL expressions, proxies, submodules, names of references, STS. Default: none."""
