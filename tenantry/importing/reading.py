"""Where objects are read: the files of a directory, what kustomize builds of it, and live clusters, but no Secrets there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tenantry.cluster.requests import every
from tenantry.flux.schemas import kinds, schema_of
from tenantry.importing.applied import Build, read_origin
from tenantry.importing.checkouts import Checkout
from tenantry.importing.documents import MOST_BYTES, Placed, cleaned, objects_in
from tenantry.importing.kustomize import NAMES
from tenantry.importing.programs import NotBuilt
from tenantry.kube.objects import Manifest, is_of_flux, labels_of
from tenantry.messages.errors import Refused
from tenantry.plan.objects.scope import MANAGED_BY, TENANT_LABEL

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


MOST_FILES = 50_000
Costs = Callable[[str, str, str], None]
"""Is told what cannot be read: the place, the reason, what to do."""
_FIX = "correct it, and import again; what is there is not in the file"
_NO_REPOSITORY = (
    "a source is a Git repository, or the directory itself outside of one: run `git init` in the directory that"
    " holds both"
)


def objects_below(directory: Path, checkout: Checkout, build: Build, costs: Costs) -> Iterator[Placed]:
    """The objects in all YAML files below a directory. A directory with a kustomization stands for what that builds.

    A file or a directory that cannot be read costs that file or directory.

    Args:   checkout: the source that the directory is part of.
    Raises: Refused: the directory itself cannot be read.
    """
    for count, path in enumerate(_sources(directory)):
        if count >= MOST_FILES:
            raise Refused(f"{directory}: there are more than {MOST_FILES} files", "name a directory below it")
        try:
            built = build(checkout.root, path.resolve(), {}) if path.is_dir() else None
        except NotBuilt as failed:
            away = str(failed).endswith("leaves the source") and not (checkout.root / ".git").exists()
            costs(str(path), f"it cannot be built: {failed}", _NO_REPOSITORY if away else _FIX)
            continue
        try:
            yield from list(_objects_at(path, built, checkout.root))
        except Refused as refused:
            costs(str(path), refused.message, refused.fix)


def _objects_at(path: Path, built: bytes | None, root: Path) -> Iterator[Placed]:
    """Args: built: what kustomize prints of a directory; None: the path is a file."""
    if built is None:
        yield from objects_in(_content(path, root), str(path))
        return
    # The lines of what kustomize prints say nothing to the author of its input.
    for each in objects_in(built, f"kustomize build {path}"):
        yield read_origin(each._replace(origin=str(path)), str(path))


def _sources(directory: Path) -> Iterator[Path]:
    """Files to read and directories to build. Links are followed to files alone, so that no circle is walked."""
    try:
        if any((directory / each).is_file() for each in NAMES):
            yield directory
            return
        for path in sorted(directory.iterdir()):
            if path.name.startswith("."):
                continue
            if path.is_dir() and not path.is_symlink():
                yield from _sources(path)
            elif path.suffix in (".yaml", ".yml") and path.is_file():
                yield path
    except OSError as error:
        raise Refused(f"{error.filename}: {error.strerror}", "name a readable directory") from None


def _content(path: Path, root: Path) -> bytes:
    """Raises: Refused: a file is a link out of the source, or cannot be read."""
    if not path.resolve().is_relative_to(root):
        raise Refused("the link leaves the source", "remove the link, or name another source")
    try:
        with path.open("rb") as opened:
            return opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise Refused(f"{error.strerror}", "name a readable directory") from None


ORIGIN = "live"
_RBAC = "rbac.authorization.k8s.io/v1"
_IN_NAMESPACES = (
    *(("v1", "ServiceAccount"), ("v1", "ResourceQuota"), ("v1", "LimitRange"), (_RBAC, "RoleBinding"), (_RBAC, "Role")),
    ("networking.k8s.io/v1", "NetworkPolicy"),
)
_FLUXS = "app.kubernetes.io/part-of=flux"
"""The label of Flux's controllers: their flags say as whom they act."""
_IF_OURS = ((_RBAC, "ClusterRole"), (_RBAC, "ClusterRoleBinding"), ("v1", "ConfigMap"))
"""Kinds of which a cluster has many that are nobody's."""


def objects_on(client: Client) -> Iterator[Placed]:
    """Flux's objects, and what lies in the namespaces that hold some. Raises: as `cluster.requests.every`."""
    flux = [each for kind in kinds() for each in every(client, schema_of(kind).api_version, kind)]
    inside = {str(each["metadata"].get("namespace")) for each in flux}
    spaces = [each for each in every(client, "v1", "Namespace") if _counts(each, inside)]
    names = {str(space["metadata"]["name"]) for space in spaces}
    yield from (_placed(each) for each in (*spaces, *flux))
    for api_version, kind in _IN_NAMESPACES:
        for each in every(client, api_version, kind):
            if str(each["metadata"].get("namespace")) in names and not _is_kubernetes_own(each):
                yield _placed(each)
    yield from (_placed(each) for each in every(client, "apps/v1", "Deployment", selector=_FLUXS))
    ours = ",".join(f"{key}={value}" for key, value in MANAGED_BY.items())
    for api_version, kind in _IF_OURS:
        yield from (_placed(each) for each in every(client, api_version, kind, selector=ours))


def _placed(manifest: Manifest) -> Placed:
    return Placed(cleaned(manifest), ORIGIN)


def _counts(namespace: Manifest, inside: set[str]) -> bool:
    """Whether a namespace can be a tenant's: Flux's own holds what Flux was installed with."""
    name = str(namespace["metadata"]["name"])
    if name in ("default", "flux-system") or name.startswith("kube-"):
        return False
    return name in inside or TENANT_LABEL in labels_of(namespace)


def _is_kubernetes_own(manifest: Manifest) -> bool:
    return not is_of_flux(str(manifest["apiVersion"])) and manifest["metadata"]["name"] == "default"
