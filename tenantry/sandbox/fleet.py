"""Derives from a fleet what the sandbox has to run for one of its environments."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from tenantry.charts import OBJECTS
from tenantry.fleet.fleet import Fleet, remotes_of
from tenantry.model import ConfigMap
from tenantry.plan.bootstrap import bootstrap
from tenantry.plan.flux_shards import flux_shards
from tenantry.plan.plan import Plan
from tenantry.sandbox.errors import SandboxError
from tenantry.sandbox.spec import OwnRepository, RemoteSpec, SandboxSpec

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
        shards=flux_shards(fleet, plan.environment, plan.objects),
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
        (each.id.namespace, each.id.name): _address(each.manifest["spec"])
        for each in plan.objects
        if each.id.kind == "GitRepository"
    }
    for chart in (each for each in plan.objects if each.id.kind == "HelmChart"):
        spec = chart.manifest["spec"]
        url = sources.get((chart.id.namespace, spec["sourceRef"]["name"]))
        served = _SERVED.fullmatch(url.path) if url and url.hostname in _LOOPBACK else None
        around = (each for each in file.absolute().parents if (each / spec["chart"] / "Chart.yaml").is_file())
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
