"""Follows Kustomizations inside of the repository that is read, and reads what they apply as Flux would apply it.

What is read this way gets the labels that Flux gives it, so that a repository and the cluster that it is applied to are imported
alike. A Kustomization whose objects tenants.yaml has no keys for, or which are all in a tenant's own namespace, stays an app: its
objects are not read. So does one of which a part is not known here, such as variables from a Secret.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from tenantry.flux.schemas import kinds
from tenantry.importing.documents import FIX, Document
from tenantry.importing.kustomize import Build, directory_in, substituted, unset
from tenantry.importing.resources import FLUX, SETTINGS, Applier, Key, Unread, applier_of, key_of
from tenantry.kube.objects import Manifest, is_of_flux, labels_of, marked
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted
from tenantry.plan.objects.scope import TENANT_LABEL

MOST = 5_000
"""Kustomizations that are followed in an environment."""
MOST_OBJECTS = 200_000
_SOURCES = "source.toolkit.fluxcd.io"
_VARIABLE = re.compile(r"(?<!\$)\$\{[A-Za-z_]")
_NOT_APPLIED = (
    ("kustomize.toolkit.fluxcd.io/reconcile", "disabled"),
    ("kustomize.toolkit.fluxcd.io/ssa", "ignore"),
    ("fluxcd.controlplane.io/reconcile", "disabled"),
)
_ORIGIN = "config.kubernetes.io/origin"


# --- the repository ---------------------------------------------------------------------------------------------------


class Repository(NamedTuple):
    """root: its directory, links resolved; relative: whether messages name its paths from the working directory."""

    root: Path
    relative: bool

    def shown(self, path: Path) -> str:
        """What messages call a path."""
        return os.path.relpath(path) if self.relative else str(path)


def repository_around(directory: Path) -> Repository:
    """The Git repository that a directory is part of, else the directory itself."""
    inside = directory.resolve()
    root = next((parent for parent in (inside, *inside.parents) if (parent / ".git").exists()), inside)
    return Repository(root, not directory.is_absolute())


def _parts(path: Any) -> tuple[str, ...]:
    """The parts of a path as Flux takes it: a leading slash or dot does not count."""
    return tuple(part for part in PurePosixPath(str(path or "")).parts if part not in ("/", ".", ".."))


def _source_of(kustomization: Manifest) -> Key:
    reference = mapping_at(kustomization, "spec", "sourceRef")
    namespace = str(reference.get("namespace") or kustomization["metadata"].get("namespace") or "")
    return Key(_SOURCES, str(reference.get("kind")), namespace, str(reference.get("name")))


# --- what Kustomizations apply ----------------------------------------------------------------------------------------


class Follower:
    """Reads one environment. `documents` are those of the inputs first, then what their Kustomizations apply.

    repositories: the directories that are read, each with the repository around it.
    """

    def __init__(
        self, environment: str, inputs: Iterable[Document], repositories: Mapping[Path, Repository], build: Build
    ) -> None:
        self.environment = environment
        self.unread: list[Unread] = []
        self._followed: list[Key] = []
        self._repositories = repositories
        self._build = build
        self._known: dict[Key, Document] = {}
        self._doubled: list[Document] = []
        self._own: set[Key] = set()
        self._seen: set[Key] = set()
        self._kept: dict[Key, list[Document]] = {}
        for document in inputs:
            if self._known.setdefault(key_of(document.manifest), document) != document:
                self._doubled.append(document)

    @property
    def documents(self) -> list[Document]:
        return [*self._known.values(), *self._doubled]

    def follow(self) -> None:
        """Read what Kustomizations apply, and what the Kustomizations among that apply, until nothing is new.

        Raises: Refused: there is too much.
        """
        bootstraps = [key for key in self._new() if self._is_bootstrap(key)]
        self._read([key for key in bootstraps if self._repository_of(key)])
        self._drop_variables(bootstraps)
        while ready := [key for key in self._new() if self._repository_of(key)]:
            # Their variables can come from what others apply.
            filled = [key for key in ready if all(holder for _, holder in self._holders(key))]
            self._read(filled or ready)
        self._read_settings()

    def _new(self) -> list[Key]:
        """The Kustomizations that were not looked at yet, and that Flux applies to the cluster."""
        keys = [key for key in self._known if key.kind == "Kustomization" and key not in self._seen]
        specs = {key: mapping_at(self._known[key].manifest, "spec") for key in keys if is_of_flux(f"{key.group}/v1")}
        return [
            key
            for key, spec in specs.items()
            if spec and not spec.get("kubeConfig") and spec.get("suspend") is not True
        ]

    def _is_bootstrap(self, key: Key) -> bool:
        """Whether a Kustomization applies a directory that is read. Its source is then the repository around that."""
        manifest = self._known[key].manifest
        source, parts = _source_of(manifest), _parts(manifest["spec"].get("path"))
        # The app of a tenant may have a path such as `./staging`.
        if (len(parts) < 2 and key.namespace != FLUX) or not (parts or source.name == FLUX):
            return False
        around = self._root_of(parts)
        if around is None or not any(path.is_relative_to(around.root.joinpath(*parts)) for path in self._repositories):
            return False
        self._own.add(source)
        return True

    def _repository_of(self, key: Key) -> Repository | None:
        """The repository that a Kustomization applies a directory of; None: it is not at hand."""
        manifest = self._known[key].manifest
        source, parts = _source_of(manifest), _parts(manifest["spec"].get("path"))
        # The source of a bootstrap that another directory applies, or that is not in Git.
        is_elsewhere = source.namespace == FLUX and (source not in self._known or source.name == FLUX) and parts
        address = self._address(source)
        if source in self._own or is_elsewhere or (address and address in map(self._address, self._own)):
            first = next(iter(self._repositories.values())) if source in self._own else None
            return self._root_of(parts) or first
        return None

    def _root_of(self, parts: tuple[str, ...]) -> Repository | None:
        """The repository with a path, or the directory in one where a whole repository lies; None: none has the path."""
        for directory, repository in self._repositories.items():
            for around in reversed((directory, *directory.parents)):
                # Unlike pathlib, this knows no names that are too long.
                if around.is_relative_to(repository.root) and os.path.isdir(around.joinpath(*parts)):  # noqa: PTH112
                    return repository._replace(root=around)
        return None

    def _address(self, source: Key) -> dict[str, Any]:
        """The address and the revision of a source; empty if it has no address."""
        spec = mapping_at(self._known[source].manifest, "spec") if source in self._known else {}
        return {"url": spec["url"], "ref": spec.get("ref") or {"branch": "master"}} if spec.get("url") else {}

    def _drop_variables(self, bootstraps: Iterable[Key]) -> None:
        """Leave out objects of the inputs that hold variables, if what sets them could not be built."""
        for key in bootstraps:
            if not mapping_at(self._known[key].manifest, "spec").get("postBuild") or key in (
                *self._followed,
                *self._kept,
            ):
                continue
            texts = {other: json.dumps(known.manifest, default=str) for other, known in self._known.items()}
            dropped = [other for other, text in texts.items() if _VARIABLE.search(text) and other != key]
            for other in dropped:
                del self._known[other]
            if dropped:
                what = f"{counted(len(dropped), 'object')} with variables such as {dropped[0]} are not known without it"
                self._cannot_read(f"{key} ({self._known[key].origin})", what, "make it build, and import again")

    def _cannot_read(self, place: str, reason: str, fix: str) -> None:
        self.unread.append(Unread(self.environment, place, reason, fix))

    def _read(self, keys: list[Key]) -> None:
        """Build several Kustomizations at once, and take what they apply in their order."""
        if len(self._seen) + len(keys) > MOST:
            raise Refused(f"there are more than {MOST} Kustomizations to follow", "import the clusters one by one")
        self._seen |= set(keys)
        with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
            for key, applied in zip(keys, pool.map(self._applied, keys), strict=True):
                if isinstance(applied, Refused):
                    self._cannot_read(f"{key} ({self._known[key].origin})", applied.message, applied.fix)
                elif _leads_on(key, applied):
                    self._take(key, applied)
                else:
                    self._kept[key] = applied

    def _applied(self, key: Key) -> list[Document] | Refused:
        """What a Kustomization applies. Whatever a repository contains costs what applies it."""
        manifest = self._known[key].manifest
        spec, repository = manifest["spec"], self._repository_of(key)
        assert repository
        try:
            directory = directory_in(repository.root, str(spec.get("path") or "."))
            if directory.resolve() != directory:
                return Refused(f"path '{spec.get('path')}' is a link, which Flux does not take", FIX)
            shown = repository.shown(directory)
            built = self._build(repository.root, directory, spec).decode(errors="replace")
            values = self._values(key, built)
            always = mapping_at(spec, "postBuild").get("substituteStrategy") == "Always"
            objects = substituted(built, values, f"kustomize build {shown}", always=always)
            common = {key: mapping_at(spec, "commonMetadata", key) for key in ("labels", "annotations")}
            documents = [with_origin(document, shown) for document in objects if not _is_excluded(document.manifest)]
            return [document._replace(manifest=marked(document.manifest, **common)) for document in documents]
        except Refused as refused:
            return refused
        except Exception as unexpected:
            return Refused(f"its content has a form that is not known here ({type(unexpected).__name__})", FIX)

    def _holders(self, key: Key) -> list[tuple[Key, Document | None]]:
        """The objects with the variables of a Kustomization, in their order; None: it is not known."""
        manifest = self._known[key].manifest
        references = mappings_in(mapping_at(manifest, "spec", "postBuild").get("substituteFrom"))
        keys = [
            Key("", str(reference.get("kind")), key.namespace, str(reference.get("name"))) for reference in references
        ]
        return [(holder, self._known.get(holder)) for holder in keys]

    def _values(self, key: Key, built: str) -> dict[str, str]:
        """The values of the variables of a Kustomization. Raises: Refused: one that the build uses is not known here."""
        values: dict[str, str | Key] = {}
        unread: Key | None = None
        for name, holder in self._holders(key):
            if holder is None:  # it may hold any variable, and then wins over those before it
                values, unread = {}, name
            else:
                data = mapping_at(holder.manifest, "data")
                values |= data if name.kind == "ConfigMap" else dict.fromkeys(data, name)
        post_build = mapping_at(self._known[key].manifest, "spec", "postBuild")
        values |= {name: str(value) for name, value in mapping_at(post_build, "substitute").items()}
        texts = {name: value for name, value in values.items() if isinstance(value, str)}
        if values or unread or post_build.get("substituteStrategy") == "Always":
            for variable, has_default in unset(built, texts).items():
                if isinstance(source := values.get(variable, unread), Key):
                    text = f"its variables can come from {source.kind} {source.name}, which is not read"
                    fix = "import it, too; without it, the Kustomization stays what applies its objects"
                    raise Refused(text, fix)
                # Flux 2.9 refuses one without a default, so no Kustomization that works has it; older ones take an empty text.
                texts |= {} if has_default else {variable: ""}
        return texts

    def _read_settings(self) -> None:
        """Read Kustomizations that apply nothing but namespaces of apps, and what stands in these beside the apps."""
        flux = (manifest for manifest, _ in self._known.values() if is_of_flux(str(manifest["apiVersion"])))
        namespaces = {manifest["metadata"].get("namespace") for manifest in flux} - {FLUX}
        for key, applied in list(self._kept.items()):
            keys = [key_of(document.manifest) for document in applied]
            names = {inner.name if inner.kind == "Namespace" else inner.namespace for inner in keys}
            if keys and names <= namespaces and all(inner.kind in SETTINGS for inner in keys):
                self._take(key, self._kept.pop(key))

    def _take(self, key: Key, applied: Iterable[Document]) -> None:
        """Take objects as those that a Kustomization applies. One of an input that it is made of gives way to it."""
        self._followed.append(key)
        applier = Applier("Kustomization", key.namespace, key.name)
        for manifest, origin in applied:
            id = key_of(manifest)
            known = self._known.get(id)
            if known is not None and (before := applier_of(labels_of(known.manifest), "Kustomization")):
                if before != applier and marked(manifest, labels=before.labels) != known.manifest:
                    reason = f"{key} applies it too, with other fields than those of {known.origin}"
                    fix = "remove it from one of the two: Flux applies them in turn"
                    self._cannot_read(f"{id} ({origin})", reason, fix)
                continue
            # The file itself tells the line, a build tells none.
            line = known.origin if known and known.origin.startswith(origin) else origin
            self._known[id] = Document(marked(manifest, labels=applier.labels), line)
        if len(self._known) > MOST_OBJECTS:
            raise Refused(f"there are more than {MOST_OBJECTS} objects", "import the clusters one by one")


def _leads_on(key: Key, applied: Iterable[Document]) -> bool:
    """Whether a Kustomization applies what tenants.yaml can say, and not only within a tenant's own namespace."""
    for manifest, _ in applied:
        is_inside = manifest["metadata"].get("namespace") == key.namespace != FLUX
        is_flux = manifest["kind"] in kinds() and is_of_flux(str(manifest["apiVersion"]))
        leads_away = is_flux and (not is_inside or mapping_at(manifest, "spec").get("kubeConfig"))
        if leads_away or TENANT_LABEL in labels_of(manifest):
            return True
    return False


def _is_excluded(manifest: Manifest) -> bool:
    """Whether Flux does not apply an object of a repository: labels and annotations can say so."""
    marks = {**labels_of(manifest), **mapping_at(manifest["metadata"], "annotations")}
    return any(str(marks.get(key)).lower() == value for key, value in _NOT_APPLIED)


def with_origin(document: Document, directory: str) -> Document:
    """An object that kustomize built of a directory, with the file that it says the object comes from."""
    metadata = dict(document.manifest["metadata"])
    annotations = dict(metadata.pop("annotations", None) or {})
    fields = dict(line.partition(": ")[::2] for line in str(annotations.pop(_ORIGIN, "")).splitlines())
    path = fields.get("path", "") if "repo" not in fields else ""
    manifest = {**document.manifest, "metadata": {**metadata, **({"annotations": annotations} if annotations else {})}}
    return Document(manifest, os.path.normpath(os.path.join(directory, path)))  # noqa: PTH118
