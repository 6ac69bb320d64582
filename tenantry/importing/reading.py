"""Reads one environment: files, what kustomize builds and what Kustomizations apply, or a live cluster without Secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tenantry.cluster.requests import every
from tenantry.flux.schemas import kinds, schema_of
from tenantry.importing.documents import FIX, MOST_BYTES, Document, cleaned, objects_in
from tenantry.importing.follow import Follower, Repository, repository_around, with_origin
from tenantry.importing.kustomize import NAMES, Build
from tenantry.importing.resources import FLUX, Reading, Unread
from tenantry.kube.objects import Manifest, is_of_flux, labels_of
from tenantry.messages.errors import Refused
from tenantry.plan.objects.scope import TENANT_LABEL

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

MOST_FILES = 50_000
_GROUPS = (".fluxcd.io", ".fluxcd.controlplane.io")


def read_environment(
    environment: str, directories: Sequence[Path], others: Iterable[Document], build: Build
) -> Reading:
    """The objects of an environment, without those that Flux itself consists of.

    Args:   others: objects that were read from elsewhere, such as a live cluster, whose Kustomizations have applied everything.
    Raises: Refused: a directory cannot be read, or holds too much.
    """
    documents, unread = list(others), []

    def skip(place: str, reason: str, fix: str) -> None:
        unread.append(Unread(environment, place, reason.removeprefix(f"{place}: "), fix))

    repositories = {directory: repository_around(directory) for directory in directories}
    for directory, repository in repositories.items():
        documents += objects_below(directory, repository, build, skip)
    resolved = {directory.resolve(): repository for directory, repository in repositories.items()}
    follower = Follower(environment, documents, resolved, build)
    if not any(document.origin == LIVE for document in documents):
        follower.follow()
    kept = [document for document in follower.documents if not _is_fluxs_own(document.manifest)]
    return Reading(kept, [*unread, *follower.unread])


def _is_fluxs_own(manifest: Manifest) -> bool:
    """Whether Flux's bootstrap, its operator or `flux install` made an object. It stays with Flux."""
    kind, name, namespace = manifest["kind"], manifest["metadata"]["name"], manifest["metadata"].get("namespace")
    if kind == "CustomResourceDefinition":
        return str(name).endswith(_GROUPS)
    if (namespace, name) == (FLUX, "flux-operator"):
        return True
    if is_of_flux(str(manifest["apiVersion"])):
        return (kind, namespace, name) == ("Kustomization", FLUX, FLUX)
    if (kind, name) == ("Namespace", FLUX) or kind in ("FluxInstance", "FluxReport"):
        return True
    return labels_of(manifest).get("app.kubernetes.io/part-of") == "flux"


# --- directories ------------------------------------------------------------------------------------------------------

Skip = Callable[[str, str, str], None]
"""Takes what cannot be read: the place, the reason, what to do."""


def objects_below(directory: Path, repository: Repository, build: Build, skip: Skip) -> Iterator[Document]:
    """The objects in all YAML files below a directory. A directory with a kustomization stands for what that builds.

    A file or a directory that cannot be read costs that file or directory.

    Raises: Refused: the directory itself cannot be read.
    """
    for count, path in enumerate(_sources(directory)):
        if count >= MOST_FILES:
            raise Refused(f"{directory}: there are more than {MOST_FILES} files", "name a directory below it")
        try:
            if path.is_dir():
                built = build(repository.root, path.resolve(), {})
                documents = [
                    with_origin(document, str(path)) for document in objects_in(built, f"kustomize build {path}")
                ]
            else:
                documents = list(objects_in(_content(path, repository.root), str(path)))
        except Refused as refused:
            skip(str(path), refused.message, refused.fix)
        else:
            yield from documents


def _sources(directory: Path) -> Iterator[Path]:
    """Files to read and directories to build. Links are followed to files alone, so that no circle is walked."""
    try:
        if any((directory / name).is_file() for name in NAMES):
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
        raise Refused(f"{error.strerror}", FIX) from None


# --- a live cluster ---------------------------------------------------------------------------------------------------

LIVE = "live"
"""The origin of what was read from a cluster."""
_RBAC = "rbac.authorization.k8s.io/v1"
_IN_NAMESPACES = (
    *(("v1", "ServiceAccount"), ("v1", "ResourceQuota"), ("v1", "LimitRange"), (_RBAC, "RoleBinding"), (_RBAC, "Role")),
    ("networking.k8s.io/v1", "NetworkPolicy"),
)


def objects_on(client: Client) -> Iterator[Document]:
    """Flux's objects, and what lies in the namespaces that hold some. Raises: as `cluster.requests.every`."""
    flux = [manifest for kind in kinds() for manifest in every(client, schema_of(kind).api_version, kind)]
    inside = {str(manifest["metadata"].get("namespace")) for manifest in flux}
    spaces = [
        manifest
        for manifest in every(client, "v1", "Namespace")
        if manifest["metadata"]["name"] in inside or TENANT_LABEL in labels_of(manifest)
    ]
    # Those cannot be a tenant's; Flux's own holds what Flux was installed with.
    names = {str(manifest["metadata"]["name"]) for manifest in spaces} - {"default", FLUX}
    names = {name for name in names if not name.startswith("kube-")}
    spaces = [manifest for manifest in spaces if manifest["metadata"]["name"] in names]
    manifests = [*spaces, *flux]
    for api_version, kind in _IN_NAMESPACES:
        for manifest in every(client, api_version, kind):
            is_kubernetes_own = manifest["metadata"]["name"] == "default"
            if str(manifest["metadata"].get("namespace")) in names and not is_kubernetes_own:
                manifests.append(manifest)
    return (Document(cleaned(manifest), LIVE) for manifest in manifests)
