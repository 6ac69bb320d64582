"""Finds installed programs that are used instead of built ones.

Pulumi is searched on PATH, with its language host in the same directory. kubectl and the programs of a Kubernetes control plane are
searched in $KUBEBUILDER_ASSETS, then on PATH. A program that was built here never counts as installed.
"""

import functools
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tenantry.tools import store
from tenantry.tools.catalog import (
    CONTROLPLANE,
    HELM,
    KUSTOMIZE,
    LANGUAGE_HOST,
    PROVIDER,
    PROVIDER_VERSION,
    PULUMI,
    Module,
)

MINOR = (1, 36)
"""The minor version of Kubernetes that is built here. For the others see kubernetes.io/releases/version-skew-policy."""

KUBERNETES = {
    "etcd": ((3, 6), None),
    "kube-apiserver": (MINOR, MINOR),
    "kube-controller-manager": (MINOR, MINOR),
    "kube-scheduler": (MINOR, MINOR),
    "kubectl": ((1, 35), (1, 37)),
}
"""The programs in the tool `controlplane`, with the oldest and the newest minor version that is accepted of each."""

# pulumi: the program keeps KUBECONFIG from the provider, which older versions do not know.
# helm and kustomize: the major versions that Flux contains; Helm 3 renders the same, but pulls no chart by its digest.
ACCEPTED = {PULUMI: ((3, 220), None), HELM: ((4, 0), None), KUSTOMIZE: ((5, 0), None), **KUBERNETES}

QUESTIONS = {
    PULUMI: ("version",),
    "kubectl": ("version", "--client"),
    HELM: ("version", "--short"),
    KUSTOMIZE: ("version",),
}
"""Arguments that print a program's version. The default is `--version`."""


@dataclass(frozen=True, slots=True)
class Program:
    """An installed program; version: "" if it does not report one; objection: why it is not used, "" if it is used."""

    name: str
    path: Path
    version: str
    objection: str

    def __str__(self) -> str:
        return f"{self.name} {self.version or 'of unknown version'} at {self.path}"


def find(name: str) -> Program | None:
    """The installed program that is used, otherwise the first one that is not used; None if none is installed."""
    found = [_program(name, path) for path in _candidates(name)] if name in ACCEPTED else []
    return next((each for each in found if not each.objection), next(iter(found), None))


def path_of(name: str) -> Path | None:
    """The path of the installed program that is used; None if none is used."""
    if name in (LANGUAGE_HOST, PROVIDER):
        pulumi = path_of(PULUMI)
        path = pulumi and (_plugin() if name == PROVIDER else pulumi.with_name(name))
        return path if path and path.is_file() else None
    program = find(name)
    return program.path if program and not program.objection else None


def replaces(module: Module) -> bool:
    """Whether everything that a module builds is installed."""
    programs = KUBERNETES if module.directory == CONTROLPLANE else [tool.name for tool in module.tools]
    return all(path_of(name) for name in programs)


def _candidates(name: str) -> Iterator[Path]:
    built = store.default().tools.resolve()
    assets = [os.environ.get("KUBEBUILDER_ASSETS")] if name in KUBERNETES else []
    for directory in filter(None, (*assets, *os.get_exec_path())):
        path = Path(directory) / name
        if os.access(path, os.X_OK) and path.is_file() and not path.resolve().is_relative_to(built):
            yield path
            if name == PULUMI:  # the user means the first one on PATH
                return


def _program(name: str, path: Path) -> Program:
    version = _version(path, QUESTIONS.get(name, ("--version",)), path.stat().st_mtime_ns)
    objection = _mismatch(version, *ACCEPTED[name])
    if name == PULUMI and not os.access(path.with_name(LANGUAGE_HOST), os.X_OK):
        objection = f"there is no {LANGUAGE_HOST} beside it"
    return Program(name, path, version, objection)


def _mismatch(version: str, oldest: tuple[int, int], newest: tuple[int, int] | None) -> str:
    numbers = tuple(int(number) for number in version.split(".")[:2] if number)
    if oldest <= numbers <= (newest or numbers):
        return ""
    first, last = (".".join(map(str, minor or ())) for minor in (oldest, newest))
    return f"{first} is needed" if first == last else f"{first} {f'to {last}' if last else 'or newer'} is needed"


@functools.cache
def _version(path: Path, question: tuple[str, ...], _modified: int) -> str:
    """The version that a program reports, such as 3.259.0; "" if it reports none. Cached, because running it is slow."""
    environment = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        answer = subprocess.run([path, *question], env=environment, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    version = re.search(r"\d+\.\d+(\.\d+)?", answer.stdout)
    return version[0] if version else ""


def _plugin() -> Path:
    """The provider in the user's own Pulumi home.

    Not in $PULUMI_HOME, which the sandbox and the tests set to a directory that they fill from here.
    """
    return Path.home() / ".pulumi" / "plugins" / f"resource-kubernetes-v{PROVIDER_VERSION}" / PROVIDER
