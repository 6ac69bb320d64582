"""Builds the path of a Kustomization as kustomize-controller does. Source: fluxcd/pkg/kustomize, kustomize_generator.go."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from tenantry.manifests import artifact, documents
from tenantry.manifests.model import NotRendered
from tenantry.manifests.programs import OFFLINE, run
from tenantry.messages.data import mappings_in

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_EMPTY = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
_BASES = ("resources", "bases", "components", "generators", "transformers", "validators")
_CONFIGURED = ("generators", "transformers", "validators")
"""Those of the bases that may be files with settings of their own."""
_FILES = ("crds", "configurations", "patchesStrategicMerge")
_PATHS = ("patches", "patchesJson6902", "replacements")


def build(root: Path, spec: Mapping[str, Any], kustomize: tuple[str, ...]) -> bytes:
    """What kustomize builds from a path of a source. Raises: NotRendered."""
    path = str(spec.get("path") or ".")
    with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
        copy = Path(temporary, "source")
        copy.mkdir()
        artifact.linked(root, copy)
        directory = _inside(copy, path)
        if not directory.is_dir():
            raise NotRendered(f"the source has no directory '{path}'")
        _write(directory, _completed(directory, spec))
        for file in _reachable(copy, directory, set()):
            _check_local(file)
        return built(directory, kustomize)


def built(directory: Path, kustomize: tuple[str, ...]) -> bytes:
    """Run kustomize, without plugins, without the network, and without files outside of its directories."""
    with tempfile.TemporaryDirectory(prefix="tenantry-") as home:
        variables = {**OFFLINE, "HOME": home, "TMPDIR": home, "PATH": home}
        command = [*kustomize, "--load-restrictor=LoadRestrictionsRootOnly", "--", str(directory)]
        try:
            return run(command, directory, variables)
        except NotRendered as failed:
            message = str(failed).replace(f"{directory.parent}/", "").replace(str(directory), ".")
            raise NotRendered(f"kustomize: {message}") from None


def _inside(root: Path, path: str) -> Path:
    parts = [part for part in PurePosixPath(path).parts if part not in ("/", ".")]
    if ".." in parts:
        raise NotRendered(f"path '{path}' leaves the source")
    return root.joinpath(*parts)


def _file(directory: Path) -> Path | None:
    return next((file for name in NAMES if (file := directory / name).is_file()), None)


def _completed(directory: Path, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The kustomization of a directory, with what the spec adds."""
    made = _found(directory) or _generated(directory)
    for key, own in (("targetNamespace", "namespace"), ("namePrefix", "namePrefix"), ("nameSuffix", "nameSuffix")):
        if spec.get(key):
            made[own] = spec[key]
    made["patches"] = [*(made.get("patches") or ()), *spec.get("patches", ())]
    missing_ok = spec.get("ignoreMissingComponents", False)
    components = [each for each in spec.get("components", ()) if not missing_ok or (directory / each).exists()]
    made["components"] = [*(made.get("components") or ()), *components]
    made["images"] = _with_images(made.get("images") or [], spec.get("images", ()))
    if spec.get("buildMetadata"):
        made["buildMetadata"] = spec["buildMetadata"]
    return {key: value for key, value in made.items() if value not in ([], None)}


def _found(directory: Path) -> dict[str, Any] | None:
    file = _file(directory)
    if file is None:
        return None
    found = documents.read(file.read_bytes()) or {}
    if not isinstance(found, dict):
        raise NotRendered(f"{file.name} is not a mapping")
    if not found.get("resources"):
        found["buildMetadata"] = ["originAnnotations"]  # otherwise kustomize refuses an empty file
    return found


def _generated(directory: Path) -> dict[str, Any]:
    resources = [f"./{each.relative_to(directory)}" for each in _manifests(directory)]
    return {**_EMPTY, **({"resources": resources} if resources else {"namespace": "_placeholder"})}


def _manifests(directory: Path) -> Iterator[Path]:
    """All YAML files below a directory; a directory with a kustomization stands for what is in it."""
    for path in sorted(directory.iterdir()):
        if path.is_dir():
            if _file(path):
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
    file = _file(directory) or directory / NAMES[0]
    file.unlink(missing_ok=True)  # it is a hard link into the cache
    file.write_text(documents.write(kustomization))


def _reachable(root: Path, directory: Path, seen: set[Path]) -> Iterator[Path]:
    """The kustomizations that a build reads, each once."""
    directory = directory.resolve()
    file = _file(directory)
    if file is None or directory in seen or not directory.is_relative_to(root.resolve()):
        return
    seen.add(directory)
    yield file
    content = documents.read(file.read_bytes())
    for key in _BASES:
        for each in (content.get(key) or ()) if isinstance(content, dict) else ():
            if isinstance(each, str) and "\n" not in each and (directory / each).is_dir():
                yield from _reachable(root, directory / each, seen)


def _check_local(file: Path) -> None:
    """Raises: NotRendered: the kustomization refers to a server. kustomize would fetch it, from wherever it runs."""
    content = documents.read(file.read_bytes())
    for each in _references(content) if isinstance(content, dict) else ():
        path = each.rsplit("=", 1)[-1]
        if "://" in path or not (file.parent / path).exists():
            where = file.parent.name
            raise NotRendered(
                f"'{each}' in {where}/{file.name} is not a file or directory of the source; remote bases are not fetched"
            )
    for key in _CONFIGURED if isinstance(content, dict) else ():
        for each in _texts(content.get(key)):
            if (file.parent / each).is_file():
                _check_configured(file.parent / each)


def _check_configured(file: Path) -> None:
    """Raises: NotRendered: a transformer or generator refers to a server."""
    for each in _values(documents.read_all(file.read_bytes())):
        if "://" in each and "\n" not in each:
            raise NotRendered(f"'{each}' in {file.parent.name}/{file.name} refers to a server, which is not asked")


def _values(data: Any) -> Iterator[str]:
    """All texts in plain data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for value in data.values():
            yield from _values(value)
    elif isinstance(data, list):
        for value in data:
            yield from _values(value)


def _references(content: dict[str, Any]) -> Iterator[str]:
    for key in (*_BASES, *_FILES):
        yield from _texts(content.get(key))
    for key in _PATHS:
        yield from _texts(each.get("path") for each in mappings_in(content.get(key)))
    yield from _texts([(content.get("openapi") or {}).get("path")] if isinstance(content.get("openapi"), dict) else ())
    for key in ("configMapGenerator", "secretGenerator"):
        for each in mappings_in(content.get(key)):
            yield from _texts([*(each.get("files") or ()), *(each.get("envs") or ()), each.get("env")])


def _texts(values: Any) -> Iterator[str]:
    """Those that are paths; texts of several lines stand for themselves."""
    yield from (each for each in values or () if isinstance(each, str) and "\n" not in each)
