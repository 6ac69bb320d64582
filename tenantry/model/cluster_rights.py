"""Rights of a tenant outside of its namespaces."""

from typing import Annotated

from pydantic import Field

from tenantry.model.scalars import RoleName, Text
from tenantry.model.strict import Model, OneOf


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


class ClusterRights(OneOf):
    """A ClusterRole for the tenant on every cluster where it is placed, outside of namespaces too."""

    one_of = ("rules", "role")

    rules: Annotated[list[PolicyRule], Field(min_length=1)] | None = None
    """The rules of a ClusterRole that Tenantry makes."""
    role: RoleName | None = None
    """An existing ClusterRole."""
