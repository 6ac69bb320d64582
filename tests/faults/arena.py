"""The repository's own fleet with one more tenant, the attacker: `mallory`, placed on the management cluster and on a remote."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.project import Project, make_project

TENANT = "mallory"
REPOSITORY = "mallory/manifests"
BAIT = "bait"
"""A folder of the repository that no app takes: a ConfigMap `intruder`, as manifests and as a chart."""


@dataclass(frozen=True, slots=True)
class Place:
    """A cluster as the attacker meets it.

    home: the namespace of its Flux objects on the management cluster; prefix: the first part of their names.
    """

    cluster: str
    home: str
    prefix: str

    @property
    def user(self) -> str:
        """Whom Flux acts as for the attacker."""
        return f"system:serviceaccount:{self.home}:{TENANT}"


HUB = Place("hub-dev", TENANT, "")
EDGE = Place("edge-1", "kamaji-edge", f"edge-1-{TENANT}-")
PLACES = (HUB, EDGE)


def make_arena(root: Path, manifests: Iterable[str], charts: Iterable[str]) -> Project:
    """A project with the attacker in a file of its own; its apps are harmless until something else is committed.

    manifests, charts: the names of its apps of either sort, each with a folder of that name in its repository.
    """
    project = make_project(root)
    project.edit("\nenvironments:\n", f"\n{DOOR}\nenvironments:\n")
    project.edit("\ntenants:\n", f"\ntenants:\n{FRAME}")
    own = own_file(project)
    own.parent.mkdir()
    own.write_text(_tenant(tuple(manifests), tuple(charts)))
    repository = project.content / "git" / REPOSITORY
    for name in manifests:
        write(repository, {f"{name}/kustomization.yaml": KUSTOMIZATION, f"{name}/app.yaml": harmless(name)})
    bait = {"Chart.yaml": CHART, "templates/app.yaml": harmless("intruder"), "kustomization.yaml": BAITED}
    write(repository, {f"{BAIT}/{path}": text for path, text in bait.items()})
    for name in charts:
        write(repository, {f"{name}/Chart.yaml": CHART, f"{name}/templates/app.yaml": harmless(name)})
    return project


def own_file(project: Project) -> Path:
    """The part of the fleet that the attacker may edit."""
    return project.root / "tenants.d" / f"{TENANT}.yaml"


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


KUSTOMIZATION = "resources: [app.yaml]\n"
BAITED = "resources: [templates/app.yaml]\n"
CHART = "{apiVersion: v2, name: app, version: 1.0.0}\n"


def harmless(name: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n"


def _tenant(manifests: tuple[str, ...], charts: tuple[str, ...]) -> str:
    apps = [f"      {name}: {{kustomize: {{source: manifests, path: ./{name}}}}}" for name in manifests]
    apps += [
        f"      {name}: {{helm: {{source: manifests, chart: ./{name}, reconcileStrategy: Revision}}}}"
        for name in charts
    ]
    return "\n".join([HEAD, *apps, ""])


_GRANTS = f"""\
    clusters: {{names: [hub-dev, edge-1]}}
    grants:
      sources: ["{{git}}/{TENANT}/*", "{{charts}}"]
      settings: [namespaces, owners]
"""
DOOR = """\
include: [tenants.d/*.yaml]
"""
"""The platform's side: each tenant may have a file."""
# Dozens of refused apps would otherwise be tried again before the last is tried first.
FRAME = f"""\
  {TENANT}:
    retryInterval: 20s
    podSecurity: restricted
{_GRANTS}"""

HEAD = f"""\
tenants:
  {TENANT}:
    sources:
      manifests: {{git: {{url: "{{git}}/{REPOSITORY}.git", ref: {{branch: main}}}}}}
    apps:"""
