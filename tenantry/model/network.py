"""The shape of `network:`: who may talk to a tenant's pods, and policies of Kubernetes' own form for what that leaves open.

Kubernetes takes policies that do nothing, such as egress rules of a policy for ingress; they are refused here.
"""

import ipaddress
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from tenantry.kube.names import dns_label_problem
from tenantry.messages.redact import shorten
from tenantry.model.scalars import LabelKey, LabelValue, Name, refusal
from tenantry.model.strict import Model


def _port(value: Any) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise refusal("bad-port", "this is not a valid port", fix="write a number, or the name of a container's port")
    if isinstance(value, int) and not 1 <= value <= 65535:
        raise refusal("bad-port", f"{value} is not a valid port", fix="write a number from 1 to 65535")
    if isinstance(value, str) and (len(value) > 15 or dns_label_problem(value)):
        raise refusal(
            "bad-port", f"'{shorten(value)}' is not a valid name of a port", fix="write a number without quotes"
        )
    return value


def _network_problem(value: str) -> str | None:
    try:
        found = ipaddress.ip_network(value, strict=False)
    except ValueError:
        return "is not a valid range of addresses"
    if "/" not in value:
        return "lacks its length after a '/'"
    if isinstance(found, ipaddress.IPv6Network) and found.network_address.ipv4_mapped:
        return "is a range of IPv4 in the form of IPv6"
    return None if ipaddress.ip_address(value.partition("/")[0]) == found.network_address else f"begins at '{found}'"


def _cidr(value: str) -> str:
    if why := _network_problem(value):
        raise refusal("bad-range", f"'{shorten(value)}' {why}", fix="write it as '10.0.0.0/8'")
    return value


def _not_our_own(value: str) -> str:
    if value == "isolated":
        raise refusal("bad-name", "'isolated' is the name of a policy that Tenantry makes", fix="rename it")
    return value


Cidr = Annotated[str, AfterValidator(_cidr)]
"""A range of addresses in CIDR notation: `10.0.0.0/8`, `fd00::/8`."""
PolicyName = Annotated[Name, AfterValidator(_not_our_own)]
"""A name other than `isolated`, which Tenantry uses for its own policy."""


class Requirement(Model):
    key: LabelKey
    """The label."""
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    """The condition on the label."""
    values: list[LabelValue] | None = None
    """The values for `In` and `NotIn`, which need at least one."""

    @model_validator(mode="after")
    def _values_where_they_count(self) -> Self:
        if (self.operator in ("In", "NotIn")) != bool(self.values):
            needs = "needs values" if not self.values else "takes no values"
            fix = "add 'values:'" if not self.values else "remove 'values'"
            raise refusal("bad-selector", f"operator {self.operator} {needs}", fix=fix)
        return self


class LabelSelector(Model):
    """An empty selector selects everything."""

    matchLabels: dict[LabelKey, LabelValue] | None = None
    """Labels that must be present with these values."""
    matchExpressions: list[Requirement] | None = None
    """Further conditions."""


class IPBlock(Model):
    cidr: Cidr
    """A range of addresses, for example `10.0.0.0/8`."""
    # The key is a word of Kubernetes, not of Python.
    except_: list[Cidr] | None = Field(None, alias="except")
    """Ranges to leave out, within `cidr`."""

    @model_validator(mode="after")
    def _leaves_out_a_part(self) -> Self:
        whole = ipaddress.ip_network(self.cidr)
        for each in self.except_ or ():
            part = ipaddress.ip_network(each)
            if part == whole or part.version != whole.version or not part.subnet_of(whole):  # type: ignore[arg-type]
                raise refusal("bad-range", f"'{each}' is not a part of '{self.cidr}'", fix="correct or remove it")
        return self


class Peer(Model):
    """Pods, selected by their own labels and by their namespace's (both must match), or addresses."""

    podSelector: LabelSelector | None = None
    """Selects pods in the namespaces that `namespaceSelector` selects. Without `namespaceSelector`: in the policy's
    own namespace."""
    namespaceSelector: LabelSelector | None = None
    """Selects namespaces."""
    ipBlock: IPBlock | None = None
    """Addresses outside the cluster."""

    @model_validator(mode="after")
    def _pods_or_addresses(self) -> Self:
        selects_pods = self.podSelector is not None or self.namespaceSelector is not None
        if selects_pods == (self.ipBlock is not None):
            raise refusal(
                "choose-one",
                "a peer needs either 'ipBlock:', or one or both of 'podSelector:' and 'namespaceSelector:'",
            )
        return self


class Port(Model):
    protocol: Literal["TCP", "UDP", "SCTP"] = "TCP"
    """The protocol."""
    port: Annotated[int | str, PlainValidator(_port)] | None = None
    """A number, or the name of a container's port. Default: all ports."""
    endPort: Annotated[int, Field(le=65535)] | None = None
    """The last port of a range that begins with `port`."""

    @model_validator(mode="after")
    def _from_a_number_upwards(self) -> Self:
        if self.endPort is not None and not (isinstance(self.port, int) and self.port <= self.endPort):
            raise refusal("bad-port", "'endPort' needs a 'port' that is a number, and not a greater one")
        return self


class IngressRule(Model):
    """Without `from`, anyone may connect. Without `ports`, to any port."""

    from_: list[Peer] | None = Field(None, alias="from")
    """Who may connect. Default: anyone."""
    ports: list[Port] | None = None
    """The ports to connect to. Default: all."""


class EgressRule(Model):
    to: list[Peer] | None = None
    """Where pods may connect to. Default: anywhere."""
    ports: list[Port] | None = None
    """The ports to connect to. Default: all."""


class NetworkPolicy(Model):
    """The `spec` of a NetworkPolicy.

    Source: kubernetes.io, NetworkPolicy v1.
    """

    podSelector: LabelSelector = Field(default_factory=LabelSelector)
    """The pods that the policy applies to. Default: all pods of the namespace."""
    policyTypes: Annotated[list[Literal["Ingress", "Egress"]], Field(min_length=1)]
    """The directions that the policy restricts. It does not affect the other direction."""
    ingress: list[IngressRule] | None = None
    """Allowed incoming traffic. Default: none, if `policyTypes` contains `Ingress`."""
    egress: list[EgressRule] | None = None
    """Allowed outgoing traffic. Default: none, if `policyTypes` contains `Egress`."""

    @model_validator(mode="after")
    def _rules_that_count(self) -> Self:
        for key, kind in (("ingress", "Ingress"), ("egress", "Egress")):
            if getattr(self, key) is not None and kind not in self.policyTypes:
                fix = f"add {kind} to 'policyTypes', or remove '{key}'"
                raise refusal("no-effect", f"'{key}' has no effect, because 'policyTypes' lacks {kind}", fix=fix)
        return self

    @property
    def spec(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True, by_alias=True)


Base = Literal["isolated", "strict", "open"]
METADATA = ("169.254.169.254/32", "fd00:ec2::254/128")
"""Where clouds give credentials of the node to whoever asks. No policy of a strict tenant leads there."""


class Network(Model):
    """`base` applies to every pod, `policies` are added to it. A single word is a `base` without policies.

    `null` discards the setting of `defaults`, so that the tenant is `isolated`.
    """

    base: Base | None = None
    """`isolated` admits the tenant's own pods and those in namespaces without a tenant, and lets pods connect to anywhere. `strict`
    admits the tenant's own pods and those in `namespaces` of add-ons. Its pods reach the tenant's own, DNS at port 53, the API
    server at port 6443 of private addresses, and what `policies` add, but never a cloud's metadata service. `open` creates no
    policy. Default: `isolated`."""
    policies: dict[PolicyName, NetworkPolicy | None] | None = None
    """Further policies, by name. The object is named `tenantry-<name>`. `null` removes a policy of `defaults`."""

    @model_validator(mode="before")
    @classmethod
    def _a_word_is_a_base(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if value not in get_args(Base):
            fix = "write isolated, strict or open, or a mapping of base and policies"
            raise refusal("bad-value", f"'{shorten(value)}' is not a valid network setting", fix=fix)
        return {"base": value}

    @model_validator(mode="after")
    def _strict_never_reaches_metadata(self) -> Self:
        for name, policy in (self.policies or {}).items() if self.base == "strict" else ():
            for address in METADATA:
                if policy and any(_reaches(rule, address) for rule in policy.egress or ()):
                    cidr = "::/0" if ":" in address else "0.0.0.0/0"
                    rule = f'to: [{{ipBlock: {{cidr: "{cidr}", except: ["{address}"]}}}}]'
                    message = f"policy '{name}' leads to a cloud's metadata service ({address}), which 'strict' forbids"
                    fix = f"name where the pods may connect to, or write '{rule}'"
                    raise refusal("metadata-service", message, fix=fix)
        return self


def _reaches(rule: EgressRule, address: str) -> bool:
    """Whether a rule allows connections to an address. One without `to` allows all."""
    blocks = [peer.ipBlock for peer in rule.to or () if peer.ipBlock]
    return not rule.to or any(
        _holds(block.cidr, address) and not any(_holds(each, address) for each in block.except_ or ())
        for block in blocks
    )


def _holds(cidr: str, address: str) -> bool:
    whole, part = ipaddress.ip_network(cidr), ipaddress.ip_network(address)
    return whole.version == part.version and part.subnet_of(whole)  # type: ignore[arg-type]
