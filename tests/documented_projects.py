"""The projects that pages of the documentation start with: `<!-- starts: PROJECT -->`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.blocks import ROOT


def _repository(root: Path) -> None:
    for name in ("tenants.yaml", "Pulumi.yaml", "Pulumi.dev.yaml", "Pulumi.prod.yaml"):
        shutil.copy(ROOT / name, root)
    (root / ".ci").symlink_to(ROOT / ".ci")


def _doubtful(root: Path) -> None:
    text = _minimal(root)
    (root / "tenants.yaml").write_text(
        text.replace("path: ./db}", "path: ./db, postBuild: {substitute: {BUILD: 0x1F}}}")
    )


def _minimal(root: Path) -> str:
    text = (ROOT / "examples" / "minimal" / "tenants.yaml").read_text(encoding="utf-8")
    (root / "tenants.yaml").write_text(text, encoding="utf-8")
    return text


def _recipes(root: Path) -> None:
    shutil.copy(ROOT / "tests" / "golden" / "tasks" / "fleet.yaml", root / "tenants.yaml")


def _self_service(root: Path) -> None:
    """The first two blocks of the page, and what they leave out."""
    page = (ROOT / "docs" / "self-service.md").read_text(encoding="utf-8")
    main, own = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[:2]
    (root / "tenants.d").mkdir()
    (root / "schemas").mkdir()
    (root / "tenants.d" / "rocky.yaml").write_text(own, encoding="utf-8")
    (root / "tenants.yaml").write_text(main + CLUSTERS, encoding="utf-8")


CLUSTERS = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters:
  hub: {environments: [dev]}
  edge-1: {environments: [dev], labels: {tier: edge}, kubeconfig: {capi: {cluster: edge-1, namespace: capi}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.3.0}}}
"""


def _edit_for_review(root: Path) -> None:
    file = root / "tenants.yaml"
    for old, new in EDITS:
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))


EDITS = (
    ("    role: edit\n", "    role: cluster-admin\n    clusterAdmin: true\n"),
    ("clusters: {names: [hub-dev, hub-prod]}", "clusters: {names: [hub-prod]}"),
    ("version: 1.x", "version: 2.x"),
    (
        "  # Deploys new versions",
        "      queue:\n        clusters: {names: [edge-1]}\n        kustomize: {source: manifests, path: ./queue}\n\n"
        "  # Deploys new versions",
    ),
)


def _manifests(root: Path) -> None:
    """What `flux create ... --export` writes, without a password in the values of a chart."""
    shutil.copytree(ROOT / "tests" / "unit" / "importing" / "corpora" / "flux-create" / "input", root / "manifests")
    apps = root / "manifests" / "apps.yaml"
    apps.write_text(apps.read_text().replace("      password: drowned\n", ""))


PROJECTS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "repository": (_repository, bool),
    "review": (_repository, _edit_for_review),
    "recipes": (_recipes, bool),
    "doubtful": (_doubtful, bool),
    "self-service": (_self_service, bool),
    "manifests": (_manifests, bool),
    "empty": (bool, bool),
}
"""What a page can start with: what is committed, as origin/main too, and what is changed after that."""
