"""The shape of `network:`: who may talk to a tenant's pods, and policies of Kubernetes' own form for what that leaves open.

Kubernetes takes policies that do nothing, such as egress rules of a policy for ingress; they are refused here.
"""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from tenantry.kube.names import dns_label_problem
from tenantry.messages.redact import shorten
from tenantry.model.scalars import LabelKey, LabelValue, Name, refusal
from tenantry.model.strict import Model


def _port(value: Any) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise refusal("bad-port", "a port is a number, or the name of a container's port")
    if isinstance(value, int) and not 1 <= value <= 65535:
        raise refusal("bad-port", f"{value} is no port: they are between 1 and 65535")
    if isinstance(value, str) and (len(value) > 15 or dns_label_problem(value)):
        raise refusal("bad-port", f"'{shorten(value)}' is no name of a port", fix="write a number without quotes")
    return value


def _network_problem(value: str) -> str | None:
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        return "is no range of addresses"
    return None if "/" in value else "has no '/' and length"


def _cidr(value: str) -> str:
    if why := _network_problem(value):
        raise refusal("bad-range", f"'{shorten(value)}' {why}", fix="write it as in '10.0.0.0/8'")
    return value


def _not_our_own(value: str) -> str:
    if value == "isolated":
        raise refusal("bad-name", "'isolated' is the name of the fleet's own policy", fix="rename it")
    return value


Cidr = Annotated[str, AfterValidator(_cidr)]
"""A range of addresses, with its length: `10.0.0.0/8`, `fd00::/8`."""
PolicyName = Annotated[Name, AfterValidator(_not_our_own)]
"""A name other than `isolated`, which is that of the fleet's own policy."""


class Requirement(Model):
    key: LabelKey
    """A label."""
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    """What has to hold of the label."""
    values: list[LabelValue] | None = None
    """For `In` and `NotIn`, which need some."""

    @model_validator(mode="after")
    def _values_where_they_count(self) -> Self:
        if (self.operator in ("In", "NotIn")) != bool(self.values):
            needs = "needs values" if not self.values else "takes no values"
            raise refusal("bad-selector", f"operator {self.operator} {needs}")
        return self


class LabelSelector(Model):
    """Without anything it selects all."""

    matchLabels: dict[LabelKey, LabelValue] | None = None
    """Labels that have to be there, with these values."""
    matchExpressions: list[Requirement] | None = None
    """What else has to hold."""


class IPBlock(Model):
    cidr: Cidr
    """A range of addresses, as in `10.0.0.0/8`."""
    # The key is a word of Kubernetes, not of Python.
    except_: list[Cidr] | None = Field(None, alias="except")
    """Parts of it that are not meant."""


class Peer(Model):
    """Pods here, pods elsewhere (both selectors have to match), or addresses."""

    podSelector: LabelSelector | None = None
    """Which pods: of the namespaces that `namespaceSelector` selects, without it of the policy's own."""
    namespaceSelector: LabelSelector | None = None
    """Which namespaces."""
    ipBlock: IPBlock | None = None
    """Addresses outside the cluster."""

    @model_validator(mode="after")
    def _pods_or_addresses(self) -> Self:
        selects_pods = self.podSelector is not None or self.namespaceSelector is not None
        if selects_pods == (self.ipBlock is not None):
            raise refusal("choose-one", "a peer is either podSelector and namespaceSelector (one or both), or ipBlock")
        return self


class Port(Model):
    protocol: Literal["TCP", "UDP", "SCTP"] = "TCP"
    """Of the connection."""
    port: Annotated[int | str, PlainValidator(_port)] | None = None
    """A number, or the name of a container's port. Without it: all."""
    endPort: Annotated[int, Field(le=65535)] | None = None
    """The last of a range that begins with `port`."""

    @model_validator(mode="after")
    def _from_a_number_upwards(self) -> Self:
        if self.endPort is not None and not (isinstance(self.port, int) and self.port <= self.endPort):
            raise refusal("bad-port", "'endPort' needs a 'port' that is a number and not above it")
        return self


class IngressRule(Model):
    """Without `from` everybody, without `ports` everywhere."""

    from_: list[Peer] | None = Field(None, alias="from")
    """Who may connect. Without it: everybody."""
    ports: list[Port] | None = None
    """To which ports. Without it: all."""


class EgressRule(Model):
    to: list[Peer] | None = None
    """Where pods may connect to. Without it: anywhere."""
    ports: list[Port] | None = None
    """To which ports. Without it: all."""


class NetworkPolicy(Model):
    """The `spec` of a NetworkPolicy. Source: kubernetes.io, NetworkPolicy v1."""

    podSelector: LabelSelector = LabelSelector()
    """The pods it is about. Without it: all of the namespace."""
    policyTypes: Annotated[list[Literal["Ingress", "Egress"]], Field(min_length=1)]
    """Which direction it is about; the other stays as it is."""
    ingress: list[IngressRule] | None = None
    """What is let in. Without it: nothing, if `policyTypes` holds `Ingress`."""
    egress: list[EgressRule] | None = None
    """What is let out. Without it: nothing, if `policyTypes` holds `Egress`."""

    @model_validator(mode="after")
    def _rules_that_count(self) -> Self:
        for key, kind in (("ingress", "Ingress"), ("egress", "Egress")):
            if getattr(self, key) is not None and kind not in self.policyTypes:
                fix = f"add {kind} to 'policyTypes', or remove '{key}'"
                raise refusal("no-effect", f"'{key}' has no effect, as 'policyTypes' does not hold {kind}", fix=fix)
        return self

    @property
    def spec(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True, by_alias=True)


Base = Literal["isolated", "open"]


class Network(Model):
    """base: what holds for everybody; policies: what holds besides, by name. One word is a base without policies.

    None takes away what `defaults:` say, and leaves a tenant isolated.
    """

    base: Base | None = None
    """`isolated` lets in the tenant's own pods and those of namespaces that are no tenant's; `open` makes no policy.
    Without it: `isolated`."""
    policies: dict[PolicyName, NetworkPolicy | None] | None = None
    """Further policies, by name; the object is called `tenantry-<name>`. `null` drops one of the defaults."""

    @model_validator(mode="before")
    @classmethod
    def _a_word_is_a_base(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if value not in ("isolated", "open"):
            fix = "write isolated, open, or a mapping of base and policies"
            raise refusal("bad-value", f"'{shorten(value)}' is no kind of network", fix=fix)
        return {"base": value}
