"""The shape of what a tenant is given: people and their roles, limits, pod security, objects, rights outside of its namespaces."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import ConfigDict, Field, model_validator

from tenantry.messages.placeholders import names_in
from tenantry.messages.redact import shorten
from tenantry.model.flux import Metadata
from tenantry.model.scalars import (
    LabelKey,
    LabelValue,
    LimitName,
    Name,
    ObjectName,
    Quantity,
    QuotaName,
    RoleName,
    Text,
    checked,
    refusal,
)
from tenantry.model.strict import Model, OneOf

_API = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?$"


class ObjectManifest(Model):
    """A manifest of any kind. All texts can hold placeholders: those of apps, `{namespace}` and, under `objects`, `{account}`,
    which is the name of the User whom Flux impersonates for the tenant there.
    """

    model_config = ConfigDict(extra="allow")

    apiVersion: Annotated[str, Field(pattern=_API)]
    """Group and version, such as `external-secrets.io/v1`."""
    kind: Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]*$")]
    """The kind."""
    metadata: Metadata | None = None
    """Name, labels and annotations."""


def as_written(objects: Mapping[str, ObjectManifest | None]) -> dict[str, dict[str, Any]]:
    """The manifests by name, without those that `null` removes."""
    return {name: manifest.model_dump(exclude_none=True) for name, manifest in objects.items() if manifest is not None}


# --- people and their roles ---------------------------------------------------------------------------------------


SubjectName = Annotated[
    Text,
    # One of Kubernetes' own would be a way around the checks of service accounts, or mean everybody.
    checked(
        "system-subject",
        "",
        lambda name: (
            "is reserved by Kubernetes, not a user or group of a tenant" if name.startswith("system:") else None
        ),
        "name people by their identity provider's names, and service accounts by 'serviceAccount:'",
    ),
]
"""The name of a user or group, as the cluster's authentication reports it."""


class AccountRef(Model):
    """A service account on the cluster of the binding."""

    name: ObjectName
    """The service account. Tenantry does not create it."""
    namespace: Name | None = None
    """A key of the tenant's `namespaces`, or a name. Default: the main namespace."""


class TenantOwner(OneOf):
    """Somebody, and the role in the tenant's namespaces."""

    one_of = ("group", "user", "serviceAccount")

    group: SubjectName | None = None
    """All members of a group."""
    user: SubjectName | None = None
    """One user."""
    serviceAccount: AccountRef | None = None
    """A service account on the cluster of the binding."""

    role: RoleName = "view"
    """The ClusterRole in the tenant's namespaces."""


# Kubernetes makes this one in every namespace.
_NO_DEFAULT = checked(
    "default-account",
    "",
    lambda name: "is the account that Kubernetes gives to pods that name none" if name == "default" else None,
    "choose another name: such pods would have the tenant's rights",
)


class ServiceAccount(Model):
    """The service account that Flux impersonates for the tenant, and that the tenant's pods can use."""

    name: Annotated[Name, _NO_DEFAULT] | None = None
    """Its name in the tenant's namespaces. Default: the tenant's name."""
    annotations: dict[LabelKey, str] = {}
    """Annotations, such as those by which a cloud gives it an identity."""
    imagePullSecrets: list[ObjectName] = []
    """Secrets in the same namespace with which its pods pull images, such as those that `objects` make."""


# --- who may talk to pods ---------------------------------------------------------------------------------------------

Network = Literal["isolated", "strict", "open"]
"""Who may connect to a tenant's pods, and where these may connect to."""


# --- what pods may take and do --------------------------------------------------------------------------------------


class Limits(Model):
    """A LimitRange for containers."""

    default: dict[LimitName, Quantity | None] | None = None
    """The limit of a container that sets none."""
    defaultRequest: dict[LimitName, Quantity | None] | None = None
    """The request of a container that sets none."""
    max: dict[LimitName, Quantity | None] | None = None
    """The largest limit a container may set."""
    min: dict[LimitName, Quantity | None] | None = None
    """The smallest request a container may set."""


PodSecurityLevel = Literal["privileged", "baseline", "restricted"]
_MODES = ("enforce", "audit", "warn")


class PodSecurity(Model):
    """The Pod Security Standard. A single level applies to all modes.

    `enforce` checks pods only: a Deployment whose pods would be refused passes `enforce`, but not `warn` and `audit`.
    """

    enforce: PodSecurityLevel = "baseline"
    """Pods that violate this level are refused."""
    audit: PodSecurityLevel | None = None
    """Violations of this level are written to the audit log."""
    warn: PodSecurityLevel | None = None
    """Violations of this level cause a warning."""
    version: Annotated[str, Field(pattern=r"^(latest|v1\.[0-9]+)$")] | None = None
    """The Kubernetes version of the standards. Default: the cluster's."""

    @model_validator(mode="before")
    @classmethod
    def _one_level_for_all_modes(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        levels = get_args(PodSecurityLevel)
        if value not in levels:
            fix = f"write {', '.join(levels[:-1])} or {levels[-1]}, or a mapping of {', '.join(_MODES)} and version"
            fix = f"write '{value.lower()}'" if value.lower() in levels else fix
            raise refusal("bad-value", f"'{shorten(value)}' is not a valid pod security level", fix=fix)
        return dict.fromkeys(_MODES, value)

    @property
    def labels(self) -> dict[str, str]:
        """The labels by which a namespace tells the admission controller.

        Source: kubernetes.io, "Enforce Pod Security Standards with Namespace Labels".
        """
        levels = {mode: level for mode in _MODES if (level := getattr(self, mode))}
        versions = {f"{mode}-version": self.version for mode in levels} if self.version else {}
        return {f"pod-security.kubernetes.io/{key}": value for key, value in (levels | versions).items()}


# --- namespaces beside the main one ---------------------------------------------------------------------------------


OF_TENANTS = ("name", "quota", "limits", "network", "serviceAccount", "state")
"""Keys of a tenant's namespaces, which those of an add-on lack."""


class ExtraNamespace(Model):
    """What differs from the tenant's settings in one namespace. A namespace of an add-on has `labels`, `annotations`, `podSecurity`
    and `objects` alone; it is created before the add-on, and removed after it.
    """

    name: str = "{namespace}-{key}"
    """Template for the namespace's name. It can use `{namespace}` (the main namespace) and `{key}` (the entry's key),
    and what the environment's template can use."""
    quota: dict[QuotaName, Quantity | None] | None = None
    """Merged with the tenant's. Applies to this namespace alone."""
    limits: Limits | None = None
    """Merged with the tenant's."""
    labels: dict[LabelKey, LabelValue | None] | None = None
    """Merged with the tenant's."""
    annotations: dict[LabelKey, str | None] | None = None
    """Merged with the tenant's."""
    podSecurity: PodSecurity | None = None
    """In place of the tenant's."""
    network: Network | None = None
    """In place of the tenant's."""
    objects: dict[Name, ObjectManifest | None] | None = None
    """Merged with the tenant's. `null` removes one."""
    serviceAccount: bool = False
    """Whether the namespace has a service account of its own, with the name of the tenant's and the same rights, for Flux objects
    that the tenant creates there itself."""
    state: Literal["active", "removing", "offboarding"] = "active"
    """`removing`: a later run may remove the entry, even if the environment is protected; the namespace stays with its data.
    `offboarding`: the namespace goes with its data. Until that run its apps keep running."""

    @model_validator(mode="after")
    def _named_after_the_main_one(self) -> Self:
        """Else environments that share a cluster, or all tenants with such an entry, would meet in it."""
        if "namespace" not in names_in(self.name):
            raise refusal(
                "bad-template",
                f"name '{shorten(self.name)}' does not contain '{{namespace}}'",
                fix="write it as '{namespace}-{key}'",
            )
        return self


class PolicyRule(Model):
    """A rule of a ClusterRole, in Kubernetes' own words."""

    apiGroups: list[str]
    """API groups; `""` is Kubernetes' core."""
    resources: Annotated[list[Text], Field(min_length=1)]
    """Resources, such as `persistentvolumes`."""
    verbs: Annotated[list[Text], Field(min_length=1)]
    """Verbs, such as `get`."""
    resourceNames: list[Text] | None = None
    """The only objects that the rule is for. Default: all."""


OWN_ROLES = ("admin", "cluster-admin", "edit", "view")
"""Kubernetes' own roles for users. Source: kubernetes.io, "Using RBAC Authorization", user-facing roles."""


class AddonAccount(Model):
    """The account as which Flux applies an add-on instead of as the platform's, which may do everything."""

    existing: ObjectName
    """An account that exists, beside the add-on's Flux objects, with the rights that it has. Tenantry neither makes nor changes it.
    In `flux-system`, `kustomize-controller` and `helm-controller` are those of Flux itself."""


class ClusterRights(OneOf):
    """A ClusterRole for the tenant on every cluster where it is placed, outside of namespaces too."""

    one_of = ("rules", "role")

    rules: Annotated[list[PolicyRule], Field(min_length=1)] | None = None
    """The rules of a ClusterRole that Tenantry makes."""
    role: RoleName | None = None
    """An existing ClusterRole."""
