"""What a sandbox has to run, independent of how the fleet describes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

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

    @property
    def clusters(self) -> tuple[str, ...]:
        """Names of all clusters, the management cluster first."""
        return (self.management, *(remote.name for remote in self.remotes))
