"""The shape of manifests under `objects` whose kind every file needs: an API server would refuse another one, and with it, on a
remote cluster, all that the baseline has.

Source: Kubernetes 1.36, `core/v1`, `networking.k8s.io/v1` and `rbac.authorization.k8s.io/v1`. Other kinds are not looked into.
"""

import re
from ipaddress import ip_network
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from tenantry.messages.problems import shown
from tenantry.model.scalars import DataKey, Quantity, Text, checked, refusal
from tenantry.model.strict import Model
from tenantry.model.tenancy import ObjectManifest, PolicyRule

_LONGEST_NAME, _LAST_PORT = 15, 65_535


class _Manifest(ObjectManifest):
    model_config = ConfigDict(extra="forbid")


class _ConfigMap(_Manifest):
    data: dict[DataKey, str] = {}
    binaryData: dict[DataKey, str] = {}
    immutable: bool | None = None


class _Role(_Manifest):
    rules: list[PolicyRule] = []


class _RoleReference(Model):
    apiGroup: str = ""
    kind: Literal["ClusterRole", "Role"]
    name: Text


class _Subject(Model):
    apiGroup: str = ""
    kind: Literal["Group", "ServiceAccount", "User"]
    name: Text
    namespace: str | None = None

    @model_validator(mode="after")
    def _accounts_have_a_namespace(self) -> Self:
        if self.kind == "ServiceAccount" and not self.namespace:
            fix = "add 'namespace:'; the account of '{account}' is a User"
            raise refusal(
                "missing-key", f"names service account '{self.name}' without its namespace", fix=fix, of_entry=True
            )
        return self


class _RoleBinding(_Manifest):
    roleRef: _RoleReference
    subjects: list[_Subject] = []


def _network_problem(text: str) -> str | None:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return "is no network"
    return None if "/" in text else "has no length of its prefix"


_Cidr = Annotated[str, checked("bad-cidr", "", _network_problem, "write it as in '10.0.0.0/8'")]


class _Requirement(Model):
    key: Text
    operator: Literal["DoesNotExist", "Exists", "In", "NotIn"]
    values: list[str] = []


class _Selector(Model):
    matchLabels: dict[str, str] = {}
    matchExpressions: list[_Requirement] = []


class _Block(Model):
    cidr: _Cidr
    except_: list[_Cidr] = Field([], alias="except")


class _Peer(Model):
    podSelector: _Selector | None = None
    namespaceSelector: _Selector | None = None
    ipBlock: _Block | None = None


def _port(value: Any) -> Any:
    """A number, or the name of a container's port: its number in quotes is no name."""
    if (
        isinstance(value, str)
        and re.fullmatch(r"(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*", value)
        and len(value) <= _LONGEST_NAME
    ):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _LAST_PORT:
        return value
    raise refusal("bad-value", f"{shown(value)} is no port", fix="write a number without quotes, or a port's name")


class _Port(Model):
    protocol: Literal["SCTP", "TCP", "UDP"] = "TCP"
    port: Annotated[Any, BeforeValidator(_port)] = None
    endPort: int | None = None


class _Ingress(Model):
    from_: list[_Peer] = Field([], alias="from")
    ports: list[_Port] = []


class _Egress(Model):
    to: list[_Peer] = []
    ports: list[_Port] = []


class _Policy(Model):
    podSelector: _Selector = _Selector()
    policyTypes: list[Literal["Egress", "Ingress"]] = []
    ingress: list[_Ingress] = []
    egress: list[_Egress] = []


class _NetworkPolicy(_Manifest):
    spec: _Policy = _Policy()


class _Limits(Model):
    hard: dict[Text, Quantity] = {}
    scopes: list[str] = []
    scopeSelector: dict[str, Any] | None = None


class _ResourceQuota(_Manifest):
    spec: _Limits = _Limits()


SHAPES: dict[tuple[str, str], type[ObjectManifest]] = {
    ("v1", "ConfigMap"): _ConfigMap,
    ("v1", "ResourceQuota"): _ResourceQuota,
    ("networking.k8s.io/v1", "NetworkPolicy"): _NetworkPolicy,
    ("rbac.authorization.k8s.io/v1", "Role"): _Role,
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): _RoleBinding,
}
"""By the version and kind."""
