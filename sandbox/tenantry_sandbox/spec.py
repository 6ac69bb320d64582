"""What a sandbox has to run for one environment of a fleet: its spec, and how it follows from the fleet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tenantry.charts import OBJECTS
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.kube.objects import labels_of
from tenantry.model import ConfigMap, SecretKey
from tenantry.plan.bootstrap import bootstrap
from tenantry.plan.objects.scope import SHARD_LABEL
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
    secret: SecretKey
    """On the management cluster."""
    bootstrap: tuple[Manifest, ...]
    """Objects that Flux needs on the remote; applied in this order."""


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

    @property
    def clusters(self) -> tuple[str, ...]:
        """Names of all clusters, the management cluster first."""
        return (self.management, *(remote.name for remote in self.remotes))


def spec_of(fleet: Fleet, plan: Plan, content: Path) -> SandboxSpec:
    """Describe the clusters of the plan's environment, and the content for its sources.

    Args:    content: a directory with the folders `git/<owner>/<repository>`, `charts/<chart>`, `oci/<owner>/<name>` and
             `buckets/<bucket>`, as far as there are any.
    Raises:  SandboxError: a cluster is reached in a way that a sandbox cannot offer.
    """
    remotes = (name for name in clusters_of(fleet, plan.environment) if name != plan.management)
    shards = dict.fromkeys(labels_of(planned.manifest).get(SHARD_LABEL) for planned in plan.objects)
    return SandboxSpec(
        environment=plan.environment,
        management=plan.management,
        bootstrap=bootstrap(fleet, plan.environment, plan.management),
        remotes=tuple(_remote(fleet, plan.environment, name) for name in remotes),
        content=content,
        charts=(OBJECTS, *sorted(path.parent for path in content.glob("charts/*/Chart.yaml"))),
        shards=tuple(filter(None, shards)),
    )


def _remote(fleet: Fleet, environment: str, name: str) -> RemoteSpec:
    kubeconfig = fleet.clusters[name].kubeconfig
    assert kubeconfig is not None  # a rule of the fleet
    secret = kubeconfig.resolved
    if isinstance(secret, ConfigMap):
        message = f"cluster '{name}' is reached with workload identity, which the sandbox does not have"
        raise SandboxError(
            message, "use an environment whose clusters have a kubeconfig Secret, or remove the cluster from this one"
        )
    return RemoteSpec(name, secret, bootstrap(fleet, environment, name))
