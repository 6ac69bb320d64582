"""Builds the path of a Kustomization as kustomize-controller does, with its variables.

Source: fluxcd/pkg/kustomize, kustomize_generator.go.

The files and directories that kustomizations name are followed first, and copied: each is one of its source, or is refused with its
place. A base elsewhere, in a repository or on a server, meets an environment without git, without a home and without a network.
Plugins, functions and Helm charts are what kustomize itself refuses without options that enable them.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from tenantry.importing.documents import FIX, MOST_BYTES, Document, first_document, objects_in
from tenantry.kube.objects import labels_of
from tenantry.kube.yaml_text import documents
from tenantry.messages.data import mapping_at, texts_in
from tenantry.messages.errors import Refused
from tenantry.messages.text import format_path

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_MOST_FILES = 100_000
_MOST_BYTES = 2**30
_DEEPEST = 100
"""Directories in each other. Looking where a path leads takes the longer, the deeper it is."""
_BUILT_IN = ("targetNamespace", "namePrefix", "nameSuffix", "patches", "components", "ignoreMissingComponents")
"""The keys of a Kustomization that change what kustomize builds of the objects that import reads. None of them has an image."""
Build = Callable[[Path, Path, Mapping[str, Any]], bytes]
"""Builds a directory as a Kustomization's spec says; takes the root of the repository, the directory, the spec. Raises: Refused."""


def builder(command: Callable[[], Sequence[str]]) -> Build:
    """Builds each directory once. Args: command: gives one such as `kustomize build`, or raises Refused."""
    built: dict[str, bytes] = {}

    def built_once(root: Path, directory: Path, spec: Mapping[str, Any]) -> bytes:
        spec = {key: value for key, value in spec.items() if key in _BUILT_IN}
        key = f"{root} {directory} {spec!r}"
        if key not in built:
            built[key] = build(root, directory, command(), spec)
        return built[key]

    return built_once


def build(root: Path, directory: Path, command: Sequence[str], spec: Mapping[str, Any]) -> bytes:
    """What kustomize builds from a directory of a source. Only what kustomizations name is copied: a source can be large.

    Args:   spec: that of a Kustomization, whose parts are added as Flux does. Each object names the file it comes from.
    Raises: Refused.
    """
    root, directory = root.resolve(), directory.resolve()
    begins = [directory, *((directory / str(component)).resolve() for component in spec.get("components", ()))]
    if kustomization_in(directory) is None:
        begins += [path for path in _manifests(directory) if path.is_dir()]
    if away := next((path for path in begins if not path.is_relative_to(root)), None):
        raise Refused(f"'{os.path.relpath(away, directory)}' leaves the source", FIX)
    named = [*begins, *(target for begin in begins for target in references(root, begin))]
    with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
        copy = Path(temporary, "source").resolve()
        copy.mkdir()
        _copy(root, named, copy)
        inside = copy / directory.relative_to(root)
        file = kustomization_in(inside) or inside / NAMES[0]
        file.write_text(documents([{**_completed(inside, spec), "buildMetadata": ["originAnnotations"]}]))
        # Flux lets kustomize read all files of a source.
        options = ("--load-restrictor=LoadRestrictionsNone", "--", f"./{directory.relative_to(root)}")
        try:
            return run([*command, *options], copy, dict.fromkeys(("HOME", "TMPDIR", "PATH"), "/nonexistent"))
        except Refused as failed:
            message = failed.message.replace(f"{copy}/", "").replace(str(copy), ".")
            raise Refused(f"kustomize: {message}", FIX) from None


# --- what a kustomization names ---------------------------------------------------------------------------------------


def kustomization_in(directory: Path) -> Path | None:
    """The kustomization of a directory. A link is none, because Flux takes none from a source."""
    files = (directory / name for name in NAMES)
    return next((file for file in files if file.is_file() and not file.is_symlink()), None)


_KEYS = frozenset(
    {
        *("resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators"),
        *("patchesStrategicMerge", "path", "files", "envs", "env"),
    }
)
"""The keys of a kustomization below which paths stand."""


def references(root: Path, directory: Path) -> Iterator[Path]:
    """The files and directories that the kustomizations name which a build of a directory reads, links resolved.

    Args:   root: the source, which holds the directory.
    Raises: Refused: a kustomization is malformed, or names something outside of the source.
    """
    pending, seen = [directory], set()
    while pending:
        directory = pending.pop()
        file = kustomization_in(directory)
        if file is None or directory in seen:
            continue
        seen.add(directory)
        name = str(file.relative_to(root))
        if name.count("/") > _DEEPEST:
            raise Refused(f"{name[:80]}...: more than {_DEEPEST} directories are nested", FIX)
        for at, text in texts_in(first_document(file)):
            key = next((part for part in reversed(at) if isinstance(part, str)), "")
            if (
                key not in _KEYS or "\n" in text or ": " in text or "\0" in text
            ):  # some can also be objects, written as text
                continue
            path = text.rsplit("=", 1)[-1] if key == "files" else text  # which can name a key before the path
            target = Path(os.path.realpath(directory / path))
            if not target.is_relative_to(root):
                raise Refused(f"{name}: {format_path(at)}: '{path}' leaves the source", FIX)
            # Like the other functions of os.path, and unlike those of pathlib, this one knows no names that are too long.
            if os.path.exists(target):  # noqa: PTH110
                yield target
                pending.append(target)


def directory_in(root: Path, path: str) -> Path:
    """A directory of a source, as Flux takes its path: a leading slash does not count, and `..` stops at the root.

    Raises: Refused: there is none.
    """
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == "..":
            parts = parts[:-1]
        elif part not in ("/", "."):
            parts.append(part)
    directory = root.joinpath(*parts)
    if not os.path.isdir(directory):  # noqa: PTH112 (it knows no names that are too long)
        raise Refused(f"the source has no directory '{path}'", FIX)
    return directory


# --- the copy that is built -------------------------------------------------------------------------------------------


def _copy(root: Path, chosen: Iterable[Path], into: Path) -> None:
    """Copy files and directories of a tree to the same places in another, without links and without Git's own."""
    sources = (file for path in chosen for file in (path, *path.rglob("*")))
    files = {file: str(file.relative_to(root)) for file in sources if stat.S_ISREG(file.lstat().st_mode)}
    inside = {file: path for file, path in files.items() if ".git" not in PurePosixPath(path).parts}
    if len(inside) > _MOST_FILES or sum(file.lstat().st_size for file in inside) > _MOST_BYTES:
        raise Refused(f"it contains more than {_MOST_FILES} files or {_MOST_BYTES // 2**20} MiB", FIX)
    for file, path in inside.items():
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, into / path)


def _completed(directory: Path, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The kustomization of a directory, with what the spec adds."""
    file = kustomization_in(directory)
    header = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    resources = [f"./{manifest.relative_to(directory)}" for manifest in (() if file else _manifests(directory))]
    generated = {**header, **({"resources": resources} if resources else {"namespace": "_placeholder"})}
    content: Any = (first_document(file) or {}) if file else generated
    if not isinstance(content, dict):
        raise Refused(f"{NAMES[0]} is not a mapping", FIX)
    for key, own in (("targetNamespace", "namespace"), ("namePrefix", "namePrefix"), ("nameSuffix", "nameSuffix")):
        if spec.get(key):
            content[own] = spec[key]
    for key in ("patches", "components"):
        if not isinstance(content.get(key) or [], list):
            raise Refused(f"the kustomization of the path: {key} is not a list", FIX)
    missing_ok = spec.get("ignoreMissingComponents", False)
    components = [
        component for component in spec.get("components", ()) if not missing_ok or (directory / component).exists()
    ]
    content["patches"] = [*(content.get("patches") or ()), *spec.get("patches", ())]
    content["components"] = [*(content.get("components") or ()), *components]
    return {key: value for key, value in content.items() if value not in ([], None)}


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


# --- the program ------------------------------------------------------------------------------------------------------

SECONDS = 60
OUTPUT = 32 * 2**20
"""The most bytes that a program may write to its output or to a file."""
_MEMORY = 4 * 2**20
"""Kilobytes of data a process may hold. Go begins to save memory far below."""
_LIMITED = (
    f"ulimit -d {_MEMORY} 2>/dev/null; ulimit -v {4 * _MEMORY} 2>/dev/null; ulimit -c 0;"
    ' ulimit -f "$1" || exit 126; shift; exec "$@"'
)
"""A shell sets the limits, because Python cannot set them safely for a child while it has several threads. Of addresses Go takes
much more than it uses.
"""
_MESSAGE = 2_000
_OFFLINE = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
"""A proxy that does not exist: what is built needs no network."""


def run(
    command: Sequence[str],
    directory: Path,
    variables: Mapping[str, str],
    *,
    seconds: float = SECONDS,
    most: int = OUTPUT,
) -> bytes:
    """What a program prints, without a network, within bounds of time, memory and output, and without the secrets of the
    environment. Raises: Refused: it failed, with its own message.
    """
    inherited = {"PATH": os.environ.get("PATH", os.defpath)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(
            ["/bin/sh", "-c", _LIMITED, "sh", str(most // 512), *command],
            cwd=directory,
            env={**inherited, "LC_ALL": "C", "GOMEMLIMIT": "1GiB", **_OFFLINE, **variables},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        code = _exit_code(child, seconds)
        if code == 0:
            out.seek(0)
            return out.read()
        err.seek(0)
        text = err.read(4 * _MESSAGE).decode(errors="replace").strip()
    name = Path(command[0]).name
    if code is None:
        raise Refused(f"{name} took longer than {seconds:.0f} s", FIX)
    if code in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ) or "file too large" in text:
        raise Refused(f"{name} wrote more than {most // 2**20} MiB", FIX)
    raise Refused(text[:_MESSAGE] or f"{name} ended with exit code {code}", FIX)


def _exit_code(child: subprocess.Popen[bytes], seconds: float) -> int | None:
    """None: the time is over. Nothing of the program is left in any case."""
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


# --- variables, replaced as Flux replaces them. Source: fluxcd/pkg/envsubst ---------------------------------------------

_DISABLED = "kustomize.toolkit.fluxcd.io/substitute"
_BETWEEN = re.compile(r"^---\n", re.MULTILINE)
_USE = re.compile(
    r"\$(?P<escaped>\$)|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<operator>:?[-=])(?P<default>[^}]*))?\}"
)


def substituted(built: str, values: Mapping[str, str], name: str, *, always: bool = False) -> Iterator[Document]:
    """The objects of a build, with the values of its variables.

    Args:   name: what messages call the build. always: whether variables are replaced also where there are no values.
    Raises: Refused: a variable has no value, which Flux refuses.
    """
    values = {variable: value.replace("\n", "") for variable, value in values.items()}
    for text in _BETWEEN.split(built):
        is_filled = "$" in text and (values or always)
        if is_filled and _DISABLED in text:
            marks = [
                (labels_of(manifest), mapping_at(manifest["metadata"], "annotations"))
                for manifest, _ in _objects(text, name)
            ]
            is_filled = not any("disabled" in (labels.get(_DISABLED), notes.get(_DISABLED)) for labels, notes in marks)
        yield from _objects(_replaced(text, values) if is_filled else text, name)


def unset(built: str, values: Mapping[str, Any]) -> dict[str, bool]:
    """The variables in a build that have none of these values, and whether each has a default wherever it is used."""
    names: dict[str, bool] = {}
    for use in _USE.finditer(built, 0, built.rfind("}") + 1):
        if not use["escaped"] and use["name"] not in values:
            names[use["name"]] = names.get(use["name"], True) and use["default"] is not None
    return names


@functools.lru_cache(maxsize=4_000)
def _objects(text: str, name: str) -> tuple[Document, ...]:
    """Read once what is the same on many clusters."""
    return tuple(objects_in(text.encode(), name))


def _replaced(text: str, values: Mapping[str, str]) -> str:
    room = MOST_BYTES

    def bounded(use: re.Match[str]) -> str:
        nonlocal room
        value = filled(use)
        room -= len(value)
        if room < 0:
            raise Refused(f"its variables become more than {MOST_BYTES // 2**20} MiB", FIX)
        return value

    def filled(use: re.Match[str]) -> str:
        if use["escaped"]:
            return "$"
        name, default = use["name"], use["default"]
        if name in values and (values[name] or ":" not in (use["operator"] or "")):
            return values[name]
        if default is not None:
            return default
        raise Refused(f"variable '{name}' has no value; Flux refuses it", FIX)

    # Behind the last brace nothing ends, and looking for an end from each `${` would take hours.
    end = text.rfind("}") + 1
    return _USE.sub(bounded, text[:end]) + text[end:].replace("$$", "$")
