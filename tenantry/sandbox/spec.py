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
from tenantry.sandbox.layout import SandboxError

Manifest: TypeAlias = Mapping[str, Any]
"""One Kubernetes object, as in a YAML document."""


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
    hub: str = ""
    """The management cluster with the kubeconfig Secret; "": the first."""


@dataclass(frozen=True, slots=True)
class HubSpec:
    """A management cluster."""

    name: str
    bootstrap: tuple[Manifest, ...]
    """Objects applied once Flux is installed, in this order."""
    remotes: tuple[RemoteSpec, ...]


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
    ports: tuple[int, ...]
    """Loopback ports that the environment's source URLs name; the content server listens on each."""
    git: Path
    """Directory whose `<owner>/<repository>` folders are served as `/git/<owner>/<repository>.git`."""
    charts: tuple[Path, ...]
    """Chart directories, served from `/charts`, and as `oci://.../charts/<chart>`."""
    oci: Path
    """Directory whose `<owner>/<name>` folders are served as `oci://.../oci/<owner>/<name>`."""
    buckets: Path
    """Directory whose `<bucket>` folders are served as buckets."""
    shards: tuple[str, ...] = ()
    """The shards of Flux's controllers, beside the controllers without one."""
    flags: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Further flags of Flux's controllers, by controller, such as for measurements. They replace the sandbox's own."""
    own: OwnRepository | None = None
    """Served beside those of `git`, unless one of them has the name."""
    others: Mapping[str, tuple[Manifest, ...]] = field(default_factory=dict)
    """Further management clusters, each with its `bootstrap`."""

    @property
    def hubs(self) -> tuple[HubSpec, ...]:
        """All management clusters."""
        found = {self.management: self.bootstrap, **self.others}
        theirs = {name: tuple(each for each in self.remotes if (each.hub or self.management) == name) for name in found}
        return tuple(HubSpec(name, manifests, theirs[name]) for name, manifests in found.items())

    @property
    def clusters(self) -> tuple[str, ...]:
        """Names of all clusters, the management clusters first."""
        return (self.management, *self.others, *(remote.name for remote in self.remotes))


CONTENT = Path(__file__).resolve().parent / "content"
"""The content for the sources of the repository's own tenants.yaml."""
_LOOPBACK = ("127.0.0.1", "localhost")
_SERVED = re.compile(r"/git/(?P<name>[^/]+/[^/]+)\.git")


def content_beside(file: Path) -> Path:
    """The content of a fleet that has its own: the directory `content` beside the file."""
    beside = file.parent / "content"
    return beside if beside.is_dir() else CONTENT


def spec_of(fleet: Fleet, plan: Plan, content: Path = CONTENT, file: Path | None = None) -> SandboxSpec:
    """Describe the clusters of the plan's environment, and serve the content where the plan's sources look for it.

    Args:    content: a directory with the folders `git/<owner>/<repository>`, `charts/<chart>`, `oci/<owner>/<name>` and
             `buckets/<bucket>`, as far as there are any.
             file: the fleet's own; the chart for baselines is served from the directories around it, if Flux fetches it by Git.
    Raises:  SandboxError: a cluster is reached in a way that a sandbox cannot offer.
    """
    charts = sorted(path.parent for path in content.glob("charts/*/Chart.yaml"))
    return SandboxSpec(
        environment=plan.environment,
        management=plan.management,
        bootstrap=bootstrap(fleet, plan.environment, plan.management),
        remotes=tuple(_remote(fleet, plan.environment, name) for name in remotes_of(fleet, plan.environment)),
        ports=loopback_ports(plan),
        git=content / "git",
        charts=(OBJECTS, *charts),
        oci=content / "oci",
        buckets=content / "buckets",
        shards=tuple(filter(None, used_shards(plan.objects))),
        own=_own(plan, file) if file else None,
    )


def loopback_ports(plan: Plan) -> tuple[int, ...]:
    """The loopback ports in the URLs of the plan's sources: the sandbox has to listen on them."""
    urls = (_address(object.manifest.get("spec", {})) for object in plan.objects)
    return tuple(sorted({url.port or 80 for url in urls if url.hostname in _LOOPBACK}))


def _address(spec: Mapping[str, Any]) -> SplitResult:
    """The URL that a source fetches from; a bucket's endpoint has no scheme, and other objects have no address."""
    return urlsplit(f"//{spec['endpoint']}" if "endpoint" in spec else spec.get("url", ""))


def _own(plan: Plan, file: Path) -> OwnRepository | None:
    """The repository around the file, if a chart in it is fetched by Git from the sandbox."""
    sources = {
        (planned.id.namespace, planned.id.name): _address(planned.manifest["spec"])
        for planned in plan.objects
        if planned.id.kind == "GitRepository"
    }
    for chart in (each for each in plan.objects if each.id.kind == "HelmChart"):
        spec = chart.manifest["spec"]
        url = sources.get((chart.id.namespace, spec["sourceRef"]["name"]))
        served = _SERVED.fullmatch(url.path) if url and url.hostname in _LOOPBACK else None
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
    manifests = bootstrap(fleet, environment, name)
    return RemoteSpec(name, secret.namespace, secret.name, secret.key, manifests)
