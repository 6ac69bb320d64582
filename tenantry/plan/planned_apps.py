"""Planned apps, and the result of planning all apps of one scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tenantry.kube.names import app_name
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import Problems
from tenantry.plan.installs import Installs


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedApp:
    """One app on one cluster: the Kustomization or HelmRelease that stands for it on the management cluster.

    release: where Helm keeps it, as (cluster, namespace, name); None for a Kustomization. at: its place in the document.
    installs: what no other app on the cluster may install.
    shortened: the names of the object and the release that were too long, each with the whole name.
    after: what it waits for, by the names in `dependsOn`.
    """

    tenant: str
    cluster: str
    name: str
    id: ObjectId
    at: tuple[str, ...]
    release: tuple[str, str, str] | None = None
    installs: Installs | None = None
    shortened: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, ObjectId] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """What users call it: `rocky/web`, or `platform/dns` for an add-on."""
        return app_name(self.tenant, self.name)


@dataclass(slots=True)
class AppSet:
    """The result for one scope; `objects` in the order of their dependencies.

    awaited: those that Pulumi has to wait for. sources: those that are used, by name.
    """

    objects: dict[ObjectId, KubeObject] = field(default_factory=dict)
    apps: list[PlannedApp] = field(default_factory=list)
    awaited: set[ObjectId] = field(default_factory=set)
    findings: Problems = field(default_factory=Problems)
    sources: dict[str, KubeObject] = field(default_factory=dict)
