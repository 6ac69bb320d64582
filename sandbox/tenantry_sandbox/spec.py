"""What a sandbox has to run for one environment of a fleet: its spec, and how it follows from the fleet."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import SplitResult, urlsplit

from tenantry.charts import OBJECTS
from tenantry.fleet.fleet import Fleet, remotes_of
from tenantry.model import ConfigMap
from tenantry.plan.bootstrap import bootstrap
from tenantry.plan.objects.scope import used_shards
from tenantry.plan.plan import Plan
from tenantry_sandbox.layout import SandboxError

Manifest: TypeAlias = Mapping[str, Any]
"""One Kubernetes object, as in a YAML document."""
HOST = "sandbox.test"
"""The host at which sources find the content of whatever sandbox they are in. No such host exists anywhere (RFC 6761)."""


@dataclass(frozen=True, slots=True)
class RemoteSpec:
    """A cluster that Flux reaches from the management cluster through a kubeconfig Secret."""

    name: str
    namespace: str
    """Namespace of the kubeconfig Secret on the management cluster."""
    secret: str
    key: str
    """The Secret's key that holds the kubeconfig, such as `admin.conf`."""
    bootstrap: tuple[Manifest, ...]
    """Objects that Flux needs on the remote; applied in this order."""


@dataclass(frozen=True, slots=True)
class OwnRepository:
    """The repository that the fleet's file is in, as far as Flux fetches something from it."""

    name: str
    """`<owner>/<repository>`, served as `/git/<owner>/<repository>.git`."""
    root: Path
    """The directory that the repository stands for."""
    path: str
    """What is served of it: a directory below the root."""


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """Everything that runs for one environment."""

    environment: str
    management: str
    bootstrap: tuple[Manifest, ...]
    """Objects applied on the management cluster once Flux is installed, in this order."""
    remotes: tuple[RemoteSpec, ...]
    content: Path
    """Directory with `git/<owner>/<repository>`, `oci/<owner>/<name>` and `buckets/<bucket>`, as far as there are any."""
    charts: tuple[Path, ...]
    """Chart directories."""
    shards: tuple[str, ...] = ()
    """The shards of Flux's controllers, beside the controllers without one."""
    flags: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Further flags of Flux's controllers, by controller, such as for measurements. They replace the sandbox's own."""
    own: OwnRepository | None = None
    """Served beside those of `content`, unless one of them has the name."""

    @property
    def clusters(self) -> tuple[str, ...]:
        """Names of all clusters, the management cluster first."""
        return (self.management, *(remote.name for remote in self.remotes))


_SERVED = re.compile(r"/git/(?P<name>[^/]+/[^/]+)\.git")


def spec_of(fleet: Fleet, plan: Plan, file: Path, content: Path | None = None) -> SandboxSpec:
    """Describe the clusters of the plan's environment, and the content for its sources.

    Args:    file: the fleet's; the chart for baselines is served from the directories around it, if Flux fetches it by Git.
             content: a directory with the folders `git/<owner>/<repository>`, `charts/<chart>`, `oci/<owner>/<name>` and
             `buckets/<bucket>`, as far as there are any; default: `content` beside the file.
    Raises:  SandboxError: a cluster is reached in a way that a sandbox cannot offer.
    """
    content = content or file.parent / "content"
    return SandboxSpec(
        environment=plan.environment,
        management=plan.management,
        bootstrap=bootstrap(fleet, plan.environment, plan.management),
        remotes=tuple(_remote(fleet, plan.environment, name) for name in remotes_of(fleet, plan.environment)),
        content=content,
        charts=(OBJECTS, *sorted(path.parent for path in content.glob("charts/*/Chart.yaml"))),
        shards=tuple(filter(None, used_shards(plan.objects))),
        own=_own(plan, file),
    )


def _own(plan: Plan, file: Path) -> OwnRepository | None:
    """The repository around the file, if a chart in it is fetched by Git from the sandbox."""
    sources: dict[tuple[str, str], SplitResult] = {
        (planned.id.namespace, planned.id.name): urlsplit(planned.manifest["spec"]["url"])
        for planned in plan.objects
        if planned.id.kind == "GitRepository"
    }
    for chart in (planned for planned in plan.objects if planned.id.kind == "HelmChart"):
        spec = chart.manifest["spec"]
        url = sources.get((chart.id.namespace, spec["sourceRef"]["name"]))
        served = _SERVED.fullmatch(url.path) if url and url.hostname == HOST else None
        around = (parent for parent in file.absolute().parents if (parent / spec["chart"] / "Chart.yaml").is_file())
        if served and (root := next(around, None)):
            return OwnRepository(served["name"], root, str(spec["chart"]))
    return None


def _remote(fleet: Fleet, environment: str, name: str) -> RemoteSpec:
    kubeconfig = fleet.clusters[name].kubeconfig
    assert kubeconfig is not None  # a rule of the fleet
    secret = kubeconfig.resolved
    if isinstance(secret, ConfigMap):
        message = f"cluster '{name}' is reached with workload identity, which the sandbox does not have"
        raise SandboxError(
            message, "use an environment whose clusters have a kubeconfig Secret, or remove the cluster from this one"
        )
    return RemoteSpec(name, secret.namespace, secret.name, secret.key, bootstrap(fleet, environment, name))
