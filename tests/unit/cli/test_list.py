"""`tenantry list`: what a file declares, in each format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.terminal import plain, tenantry_in_terminal
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.texts import rocky

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current directory is not the repository's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENANTRY_FILE", str(ROOT / "tenants.yaml"))


TABLES = {
    "tenants": """\
NAME   ENVIRONMENTS  CLUSTERS  APPS         FILE
rocky  dev, prod     5         db, web
movy   dev, prod     5         web, worker
""",
    "apps": """\
TENANT    APP              CHART OR PATH     VERSION      CLUSTERS  WHERE
platform  cert-controller  cert-controller   1.0.0        3         dev, prod
rocky     db               ./db              branch main  5         dev, prod
rocky     web              ./web/{env}       branch main  2         dev
rocky     web              ./web/production  branch main  3         prod
movy      web              movy-web          1.x          3         dev, prod
movy      worker           ./worker          branch main  2         dev, prod
""",
    "clusters": """\
NAME       ENVIRONMENTS  REACHED BY  TENANTS  APPS  LABELS
hub-dev    dev           management  2        3     tier=hub
edge-1     dev           kamaji      2        4     tier=edge, region=eu-west
hub-prod   prod          management  2        3     tier=hub
eu-west-1  prod          kamaji      2        4     tier=edge, region=eu-west
us-east-1  prod          capi        2        4     tier=edge, region=us-east
""",
    "placements": """\
ENVIRONMENT  TENANT  CLUSTER    NAMESPACE  APPS
dev          rocky   hub-dev    rocky      db main, web main
dev          rocky   edge-1     rocky      db main, web main
dev          movy    hub-dev    movy       worker main
dev          movy    edge-1     movy       web 1.x
prod         rocky   hub-prod   rocky      db main, web main
prod         rocky   eu-west-1  rocky      db main, web main
prod         rocky   us-east-1  rocky      db main, web main
prod         movy    hub-prod   movy       worker main
prod         movy    eu-west-1  movy       web 1.x
prod         movy    us-east-1  movy       web 1.x
""",
}


@pytest.mark.parametrize("what", TABLES)
def test_a_table_of_each(capsys: Capture, what: str) -> None:
    code, out, err = tenantry(capsys, "list", what)
    assert (code, "".join(f"{line.rstrip()}\n" for line in out.splitlines()), err) == (0, TABLES[what], "")


def test_a_terminal_of_80_columns_cuts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("CI", "1")  # no progress on a slow machine
    _, shown = tenantry_in_terminal("list", "apps", columns=80)
    assert [line.rstrip() for line in plain(shown).splitlines()][:3] == [
        "TENANT    APP              CHART OR PATH     VERSION      CLUSTERS  WHERE",
        "platform  cert-controller  cert-controller   1.0.0        3         dev, prod",
        "rocky     db               ./db              branch main  5         dev, prod",
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("tenants",), ["rocky", "movy"]),
        (("apps", "-e", "dev"), ["platform/cert-controller", "rocky/db", "rocky/web", "movy/web", "movy/worker"]),
        (("clusters", "-e", "dev"), ["hub-dev", "edge-1"]),
        (
            ("placements", "-e", "dev"),
            ["dev/rocky/hub-dev", "dev/rocky/edge-1", "dev/movy/hub-dev", "dev/movy/edge-1"],
        ),
    ],
)
def test_an_environment_takes_what_is_in_it(capsys: Capture, arguments: tuple[str, ...], expected: list[str]) -> None:
    code, out, _ = tenantry(capsys, "list", *arguments, "--output", "json")
    keys = {"apps": ("tenant", "name"), "placements": ("environment", "tenant", "cluster")}.get(arguments[0], ("name",))
    assert (code, ["/".join(item[key] for key in keys) for item in json.loads(out)["items"]]) == (0, expected)


def test_an_unknown_environment_is_refused(capsys: Capture) -> None:
    # A path of the test's machine may look like a secret, and messages hide these.
    Path("tenants.yaml").write_bytes((ROOT / "tenants.yaml").read_bytes())
    message = "no environment 'prd' (declared: dev, prod)\n  fix: name 'prod'"
    code, out, err = tenantry(capsys, "list", "apps", "--environment", "prd", "--file", "tenants.yaml")
    assert (code, out, err) == (2, "", f"error: tenants.yaml declares {message}\n")


def test_included_tenants_name_their_file(capsys: Capture) -> None:
    frame, _, tenants = rocky("web: {kustomize: {source: manifests}}", "").partition("tenants:\n")
    granted = "rocky: {grants: {sources: ['*']}, clusters: {all: true}}"
    Path("tenants.yaml").write_text(f"{frame}include: [rocky.yaml]\ntenants: {{{granted}, movy: {{}}}}\n")
    Path("rocky.yaml").write_text(f"tenants:\n{tenants}")
    code, out, err = tenantry(capsys, "list", "tenants", "--file", "tenants.yaml")
    assert (code, [line.split() for line in out.splitlines()], err) == (
        0,
        [
            ["NAME", "ENVIRONMENTS", "CLUSTERS", "APPS", "FILE"],
            ["rocky", "dev", "1", "web", "rocky.yaml"],
            ["movy", "0"],
        ],
        "",
    )
