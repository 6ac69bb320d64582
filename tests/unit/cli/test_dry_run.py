"""`--dry-run | git apply` writes the bytes that the edit writes, or nothing."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.table import table
from tests.unit.cli.test_cli import Capture, tenantry

FLEET = (Path(__file__).resolve().parents[3] / "tenants.yaml").read_text()
FILE = Path("tenants.yaml")
EDITS = [
    "set tenants.rocky.quota.pods 60",
    "set tenants.movy.quota null",
    "add cluster z environments=dev variables.domain=z.example.com 'kubeconfig.secret={name: z, namespace: clusters, key: a}'",
    "add cluster z environments=dev variables.domain=z.example.com kubeconfig.capi.cluster=z kubeconfig.capi.namespace=capi",
    "add source rocky/tools git.url=ssh://git@git.example.com/tools git.ref.branch=main",
    "add tenant nora clusters.all=true",
    "remove app rocky/web --cascade",
]
LAYOUTS = {
    "windows": FLEET.replace("\n", "\r\n"),
    "unended": FLEET.removesuffix("\n"),
    "secret": FLEET.replace(
        "clusters:\n",
        "clusters:\n  y: {environments: [dev], variables: {domain: y}, kubeconfig: {secret: {name: 'y', key: a, namespace: b}}}\n",
        1,
    ),
}


pytestmark = pytest.mark.usefixtures("plans_once")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)


def files() -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in Path().rglob("*.yaml")}


@table(
    ("edit", "layout"),
    [
        *((edit, "secret") for edit in EDITS),
        *((edit, layout) for edit in EDITS[:3] for layout in ("windows", "unended")),
    ],
)
def test_what_a_dry_run_prints_is_applied_as_the_edit(capsys: Capture, edit: str, layout: str) -> None:
    for name in files():
        Path(name).unlink()
    FILE.write_bytes(LAYOUTS[layout].encode())
    code, patch, _ = tenantry(capsys, *shlex.split(edit), "--dry-run")
    assert code == 0
    if patch:
        subprocess.run(["git", "apply", "-"], input=patch.encode(), check=True)
    applied = files()
    for name in applied:
        Path(name).unlink()
    FILE.write_bytes(LAYOUTS[layout].encode())
    assert tenantry(capsys, *shlex.split(edit))[0] == 0
    assert applied == files()


@table(
    "value",
    [
        "{password: correcthorse}",
        "{secret: correcthorse}",
        "{a: s7Jq2mXv9LtB4cKd8RwZ1pYn6Hf3GaQe5Uo0}",
    ],
)
def test_a_diff_that_hides_something_is_not_applied(capsys: Capture, value: str) -> None:
    FILE.write_text(FLEET)
    code, patch, err = tenantry(capsys, "set", "tenants.movy.apps.web.helm.values.auth", value, "--dry-run")
    assert (code, "this diff cannot be applied" in err, "correcthorse" in patch) == (0, True, False)
    assert subprocess.run(["git", "apply", "-"], input=patch.encode(), check=False, capture_output=True).returncode
    assert FILE.read_text() == FLEET
