"""The shape of what a tenant's namespaces are given: people and their roles, limits, pod security."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from tenantry.model.network import Network
from tenantry.model.strict import Model, exactly_one
from tenantry.scalars import (
    LabelKey,
    LabelValue,
    Name,
    ObjectName,
    Quantity,
    ResourceName,
    RoleName,
    Text,
    refusal,
    shorten,
)

# --- people and their roles ---------------------------------------------------------------------------------------


def _outside_the_system(value: str) -> str:
    """A user or group of Kubernetes' own would be a way around the checks of service accounts, or mean everybody."""
    if value.startswith("system:"):
        raise refusal(
            "system-subject",
            f"'{shorten(value)}' is Kubernetes' own, not a user or group of a tenant",
            fix="name people by their identity provider's names, and service accounts by 'serviceAccount:'",
        )
    return value


SubjectName = Annotated[Text, AfterValidator(_outside_the_system)]
"""A user or a group as the cluster's authentication calls it."""


class AccountRef(Model):
    """A service account on the cluster of the binding."""

    name: ObjectName
    namespace: Name | None = None
    """A key of the tenant's `namespaces`, or a name; None: the tenant's main namespace."""


class Subject(Model):
    group: SubjectName | None = None
    user: SubjectName | None = None
    serviceAccount: AccountRef | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        exactly_one(self, "group", "user", "serviceAccount")
        return self


class TenantOwner(Subject):
    role: RoleName = "view"


class ExtraBinding(Model):
    """A ClusterRole for some subjects, in the tenant's namespaces only."""

    role: RoleName
    subjects: Annotated[list[Subject], Field(min_length=1)]


# --- what pods may take and do --------------------------------------------------------------------------------------


class Limits(Model):
    """A LimitRange for containers."""

    default: dict[ResourceName, Quantity | None] | None = None
    defaultRequest: dict[ResourceName, Quantity | None] | None = None
    max: dict[ResourceName, Quantity | None] | None = None
    min: dict[ResourceName, Quantity | None] | None = None


PodSecurityLevel = Literal["privileged", "baseline", "restricted"]
_MODES = ("enforce", "audit", "warn")


class PodSecurity(Model):
    """Which of the Pod Security Standards holds; written as one level, it holds in all modes.

    `enforce` sees pods only: a Deployment that could never start one passes it, but not `warn` and `audit`.
    """

    enforce: PodSecurityLevel | None = None
    audit: PodSecurityLevel | None = None
    warn: PodSecurityLevel | None = None
    version: Annotated[str, Field(pattern=r"^(latest|v1\.[0-9]+)$")] | None = None
    """The Kubernetes version whose standards are meant; None: the cluster's own."""

    @model_validator(mode="before")
    @classmethod
    def _one_level_for_all_modes(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        levels = get_args(PodSecurityLevel)
        if value not in levels:
            fix = f"write {', '.join(levels)}, or a mapping of {', '.join(_MODES)} and version"
            raise refusal("bad-value", f"'{shorten(value)}' is no level of pod security", fix=fix)
        return dict.fromkeys(_MODES, value)

    @model_validator(mode="after")
    def _some_mode(self) -> Self:
        if not any(getattr(self, mode) for mode in _MODES):
            raise refusal("missing-key", f"one of {', '.join(_MODES)} is needed", fix="add 'enforce:'")
        return self

    @property
    def labels(self) -> dict[str, str]:
        """The labels by which a namespace tells the admission controller.

        Source: kubernetes.io, "Enforce Pod Security Standards with Namespace Labels".
        """
        levels = {mode: level for mode in _MODES if (level := getattr(self, mode))}
        versions = {f"{mode}-version": self.version for mode in levels} if self.version else {}
        return {f"pod-security.kubernetes.io/{key}": value for key, value in (levels | versions).items()}


# --- namespaces beside the main one ---------------------------------------------------------------------------------


class ExtraNamespace(Model):
    """What differs from the tenant's own settings in one namespace."""

    name: str = "{namespace}-{key}"
    """Template of its name; takes the main namespace and the entry's key besides what that one's template takes."""
    quota: dict[ResourceName, Quantity | None] | None = None
    limits: Limits | None = None
    labels: dict[LabelKey, LabelValue | None] | None = None
    annotations: dict[LabelKey, str | None] | None = None
    podSecurity: PodSecurity | None = None
    network: Network | None = None

    @model_validator(mode="after")
    def _named_after_the_main_one(self) -> Self:
        """Else environments that share a cluster, or all tenants with such an entry, would meet in it."""
        if "{namespace}" not in self.name:
            raise refusal("bad-template", f"name '{shorten(self.name)}' does not hold '{{namespace}}'")
        return self
