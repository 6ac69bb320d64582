"""Builds the path of a Kustomization as kustomize-controller does. Source: fluxcd/pkg/kustomize, kustomize_generator.go.

The files and directories that kustomizations name are followed first: each is one of its source, or is refused with its place. So
a base elsewhere, in a repository or on a server, is refused before kustomize would fetch it. What it reads in other ways, such as
from generators within generators, meets an environment without git, without a home and without a network. Plugins, functions and
Helm charts are what kustomize itself refuses without options that enable them.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from tenantry.importing import yaml_text
from tenantry.importing.programs import NotBuilt, run

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_CONFIGURED = ("generators", "transformers", "validators", "patchesStrategicMerge")
"""The lists whose entries can also be objects, written as text."""
_PATHS = (*("resources", "bases", "components", "crds", "configurations"), *_CONFIGURED)
_MAPPINGS = ("patches", "patchesJson6902", "replacements")
"""The lists whose entries have a `path`."""
_GENERATORS = ("configMapGenerator", "secretGenerator")
_ALONE = dict.fromkeys(("HOME", "TMPDIR", "PATH"), "/nonexistent")
"""The environment of kustomize: it finds no other program, no plugins, and no settings of its user."""
_MOST_FILES = 100_000
_MOST_BYTES = 2**30
_TOO_LARGE = f"it contains more than {_MOST_FILES} files or {_MOST_BYTES // 2**20} MiB"
_DEEPEST = 100
"""Directories in each other. Looking where a path leads takes the longer, the deeper it is."""


class Reference(NamedTuple):
    """place: `apps/kustomization.yaml: resources[0]`; text: what stands there; target: where that leads, links resolved."""

    place: str
    text: str
    target: Path


def kustomization_in(directory: Path) -> Path | None:
    """The kustomization of a directory. A link is none, because Flux takes none from a source."""
    files = (directory / name for name in NAMES)
    return next((file for file in files if file.is_file() and not file.is_symlink()), None)


def references(root: Path, directory: Path) -> Iterator[Reference]:
    """What the kustomizations name that a build of a directory reads.

    Args:   root: the source, which holds the directory.
    Raises: NotBuilt: a kustomization is malformed, or names something outside of the source.
    """
    root = root.resolve()
    open, seen = [directory.resolve()], set()
    while open:
        directory = open.pop()
        file = kustomization_in(directory)
        if file is None or directory in seen:
            continue
        seen.add(directory)
        name = str(file.relative_to(root))
        if name.count("/") > _DEEPEST:
            raise NotBuilt(f"{name[:80]}...: more than {_DEEPEST} directories are nested")
        for path, text in _texts(yaml_text.read_file(file), name):
            place = f"{name}: {path}"
            target = _leads_to(directory / text, place)
            if not target.is_relative_to(root):
                raise NotBuilt(f"{place}: '{text}' leaves the source")
            yield Reference(place, text, target)
            if os.path.isdir(target):  # noqa: PTH112
                open.append(target)


def check(root: Path, directory: Path) -> None:
    """Raises: NotBuilt: as `references`, or a kustomization names what the source does not have."""
    for reference in references(root, directory):
        if not os.path.exists(reference.target):  # noqa: PTH110
            raise NotBuilt(
                f"{reference.place}: '{reference.text}' is not a file or directory of the source; links and remote bases are not"
                " followed"
            )


def _leads_to(path: Path, place: str) -> Path:
    """Where a path leads, with its links resolved, whether something is there or not.

    Like the other functions of os.path, and unlike those of pathlib, this one knows no names that are too long.
    """
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # a null byte
        raise NotBuilt(f"{place} is not a path") from None


def _texts(content: Any, name: str) -> Iterator[tuple[str, str]]:
    """Where each path stands, and the path."""
    if not isinstance(content, dict):
        return
    for key in _PATHS:
        for place, text in _listed(content, key, name):
            if isinstance(text, str) and not (key in _CONFIGURED and _is_object(text)):
                yield place, text
    for key in _MAPPINGS:
        for place, entry in _listed(content, key, name):
            if isinstance(entry, dict) and isinstance(entry.get("path"), str):
                yield f"{place}.path", entry["path"]
    schema = content.get("openapi")
    if isinstance(schema, dict) and isinstance(schema.get("path"), str):
        yield "openapi.path", schema["path"]
    for key in _GENERATORS:
        for place, entry in _listed(content, key, name):
            yield from _of_generator(entry, place, name)


def _of_generator(entry: Any, place: str, name: str) -> Iterator[tuple[str, str]]:
    """`files` can name a key before the path."""
    if not isinstance(entry, dict):
        return
    for key in ("files", "envs"):
        for inner, text in _listed(entry, key, name):
            if isinstance(text, str):
                yield f"{place}.{inner}", text.rsplit("=", 1)[-1] if key == "files" else text
    if isinstance(entry.get("env"), str):
        yield f"{place}.env", entry["env"]


def _listed(content: dict[str, Any], key: str, name: str) -> Iterator[tuple[str, Any]]:
    entries = content.get(key)
    if entries is not None and not isinstance(entries, list):
        raise NotBuilt(f"{name}: {key} is not a list")
    yield from ((f"{key}[{number}]", entry) for number, entry in enumerate(entries or ()))


def _is_object(text: str) -> bool:
    return "\n" in text or ": " in text or text.startswith("{")


_ORIGINS = "originAnnotations"
"""What lets kustomize say where each object comes from."""
_EMPTY = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}


def build(root: Path, directory: Path, kustomize: tuple[str, ...], spec: Mapping[str, Any]) -> bytes:
    """What kustomize builds from a directory of a large source, of which only what is named is copied.

    Args:   spec: that of a Kustomization, whose parts are added as Flux does. Each object names the file it comes from.
    Raises: NotBuilt.
    """
    root, directory = root.resolve(), directory.resolve()
    # One that leaves the source is refused below, with its place.
    begins = [each for each in _read_for(directory, spec) if each.is_relative_to(root)]
    named = [*begins, *(reference.target for each in begins for reference in references(root, each))]
    with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
        copy = Path(temporary, "source")
        copy.mkdir()
        _copy(root, named, copy)
        inside = copy / directory.relative_to(root)
        _write(inside, {**_completed(inside, spec), "buildMetadata": [_ORIGINS]})
        return _built(copy, inside, kustomize)


def _read_for(directory: Path, spec: Mapping[str, Any]) -> Iterator[Path]:
    """The directories whose kustomizations a build of a Kustomization's path begins with."""
    yield directory
    yield from (_leads_to(directory / str(each), "spec.components") for each in spec.get("components", ()))
    if kustomization_in(directory) is None:
        yield from (each for each in _manifests(directory) if each.is_dir())


def _built(root: Path, directory: Path, kustomize: tuple[str, ...]) -> bytes:
    """What kustomize builds from a directory of a source. Flux lets it read all files of a source, so it may here."""
    check(root, directory)
    options = ("--load-restrictor=LoadRestrictionsNone", "--", f"./{directory.relative_to(root)}")
    try:
        return run([*kustomize, *options], root, _ALONE)
    except NotBuilt as failed:
        message = str(failed).replace(f"{root.resolve()}/", "").replace(str(root.resolve()), ".")
        raise NotBuilt(f"kustomize: {message}") from None


def directory_in(root: Path, path: str) -> Path:
    """A directory of a source, as Flux takes its path: a leading slash does not count, and `..` stops at the root.

    Raises: NotBuilt: there is none.
    """
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == "..":
            parts = parts[:-1]
        elif part not in ("/", "."):
            parts.append(part)
    directory = root.joinpath(*parts)
    if not os.path.isdir(directory):  # noqa: PTH112 (it knows no names that are too long)
        raise NotBuilt(f"the source has no directory '{path}'")
    return directory


def _copy(root: Path, chosen: Iterable[Path], into: Path) -> None:
    """Copy files and directories of a tree to the same places in another, without links and without Git's own."""
    files = {str(file.relative_to(root)): file for path in chosen for file in _files(path)}
    taken = 0
    for count, (path, file) in enumerate(files.items()):
        about = file.lstat()
        if ".git" in PurePosixPath(path).parts or not stat.S_ISREG(about.st_mode):
            continue
        taken += about.st_size
        if count > _MOST_FILES or taken > _MOST_BYTES:
            raise NotBuilt(_TOO_LARGE)
        target = into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for parent, directories, names in os.walk(path):
        directories[:] = [directory for directory in directories if directory != ".git"]
        yield from (Path(parent) / name for name in names)


def _completed(directory: Path, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The kustomization of a directory, with what the spec adds."""
    made = _found(directory) or _generated(directory)
    for key, own in (("targetNamespace", "namespace"), ("namePrefix", "namePrefix"), ("nameSuffix", "nameSuffix")):
        if spec.get(key):
            made[own] = spec[key]
    for key in ("patches", "components", "images"):
        if not isinstance(made.get(key) or [], list):
            raise NotBuilt(f"the kustomization of the path: {key} is not a list")
    made["patches"] = [*(made.get("patches") or ()), *spec.get("patches", ())]
    missing_ok = spec.get("ignoreMissingComponents", False)
    components = [each for each in spec.get("components", ()) if not missing_ok or (directory / each).exists()]
    made["components"] = [*(made.get("components") or ()), *components]
    made["images"] = _with_images(made.get("images") or [], spec.get("images", ()))
    return {key: value for key, value in made.items() if value not in ([], None)}


def _found(directory: Path) -> dict[str, Any] | None:
    file = kustomization_in(directory)
    if file is None:
        return None
    found = yaml_text.read_file(file) or {}
    if not isinstance(found, dict):
        raise NotBuilt(f"{file.name} is not a mapping")
    if not found.get("resources"):
        found["buildMetadata"] = [_ORIGINS]  # otherwise kustomize refuses an empty file
    return found


def _generated(directory: Path) -> dict[str, Any]:
    resources = [f"./{manifest.relative_to(directory)}" for manifest in _manifests(directory)]
    return {**_EMPTY, **({"resources": resources} if resources else {"namespace": "_placeholder"})}


def _manifests(directory: Path) -> Iterator[Path]:
    """All YAML files below a directory; a directory with a kustomization stands for what is in it."""
    for path in sorted(directory.iterdir()):
        if path.is_dir():
            if kustomization_in(path):
                yield path
            else:
                yield from _manifests(path)
        elif path.suffix in (".yaml", ".yml"):
            yield path


def _with_images(there: list[Any], added: Any) -> list[Any]:
    """Images by name: the spec's fields replace those of the file; a tag and a digest replace each other."""
    images = {each["name"]: dict(each) for each in there if isinstance(each, dict) and "name" in each}
    for image in added:
        entry = images.setdefault(image["name"], {"name": image["name"]})
        if "newTag" in image or "digest" in image:
            entry.pop("newTag", None)
            entry.pop("digest", None)
        entry.update(image)
    return list(images.values())


def _write(directory: Path, kustomization: dict[str, Any]) -> None:
    file = kustomization_in(directory) or directory / NAMES[0]
    file.write_text(yaml_text.write(kustomization))
