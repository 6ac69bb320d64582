"""The published JSON Schema of included files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, get_args

import pytest
import yaml
from jsonschema import Draft202012Validator

from tenantry.cli.app import run
from tenantry.grants.frames import BLOCKS, OVERRIDES, PARTS, SELECTOR
from tenantry.grants.model import GRANTABLE
from tenantry.load import load_fleet
from tenantry.model.document import Tenant
from tenantry.model.walk import fields_of
from tenantry.source.include import read_all
from tests.table import table

NEVER = [key for key in fields_of(Tenant) if key not in (*PARTS, SELECTOR, OVERRIDES, *BLOCKS, *get_args(GRANTABLE))]
"""What no included file may say, whatever the main file grants."""
ROOT = Path(__file__).resolve().parents[3]
PUBLISHED = ROOT / "tenants-included.schema.json"
MAIN_FILES = [
    *sorted(ROOT.glob("tests/golden/*/tenants.yaml")),
    *sorted(ROOT.glob("tests/unit/fleet/rules/cases/*/good.yaml")),
]
INCLUDING = [file for file in MAIN_FILES if read_all(file).fills]
Misfits: TypeAlias = Callable[[Any], set[str]]


def misfits_of(schema: dict[str, Any]) -> Misfits:
    """Where data does not fit a schema, by a validator that none of our own code uses."""
    validator = Draft202012Validator(schema)
    return lambda data: {".".join(map(str, error.absolute_path)) for error in validator.iter_errors(data)}


@pytest.fixture(scope="session")
def misfits() -> Misfits:
    return misfits_of(json.loads(PUBLISHED.read_text(encoding="utf-8")))


def of(tenant: str, text: str) -> Any:
    return {"tenants": {tenant: yaml.safe_load(text)}}


def test_the_published_schema_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "--included"]) == 0
    published = PUBLISHED.read_text(encoding="utf-8")
    assert capsys.readouterr().out == published, "stale: run `make document-schema`, and read the difference"


@table("file", INCLUDING, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_sound_included_file_fits_the_schema(file: Path, misfits: Misfits) -> None:
    fleet = load_fleet(file)
    for fill in fleet.source.fills.values():
        assert misfits(fill.file.data) == set()


def test_many_sound_files_are_checked() -> None:
    assert len(INCLUDING) > 5


@table(
    ("text", "expected"),
    [
        *((f"{key}: null", {"tenants.rocky"}) for key in NEVER),
        ("podSecurity: privileged", {"tenants.rocky"}),
        ("namespaces: {jobs: {podSecurity: privileged}}", {"tenants.rocky.namespaces.jobs"}),
        ("namespaces: {jobs: {state: offboarding}}", {"tenants.rocky.namespaces.jobs"}),
        ("namespaces: {jobs: {quota: {pods: 1}, network: open}}", set()),
        ("namespaces: {jobs: {labels: {c: d}}}", {"tenants.rocky.namespaces.jobs"}),
        ("{owners: [{user: eve, role: edit}], interval: 5m, quota: {pods: 1}}", set()),
        ("role: view", {"tenants.rocky"}),
        ("owners: [{user: eve, role: cluster-admin}]", {"tenants.rocky.owners"}),
        ("clusters: {names: [hub]}", set()),
        (
            "overrides: [{when: {environments: [dev]}, apps: {a: {dependsOn: []}}, sources: {}, kustomize: {}, quota: {}}]",
            set(),
        ),
        ("overrides: [{quota: {pods: 1}}]", {"tenants.rocky.overrides.0"}),
        ("overrides: [{when: {environments: [dev]}, role: view}]", {"tenants.rocky.overrides.0"}),
        ("overrides: [{when: {clusters: {all: true}}, state: offboarding}]", {"tenants.rocky.overrides.0"}),
    ],
)
def test_what_belongs_to_the_platform_does_not_fit(text: str, expected: set[str], misfits: Misfits) -> None:
    # An alternative, such as one with `null`, fails as a whole and is named by its parent.
    assert expected == misfits(of("rocky", text))


@pytest.mark.parametrize("key", ["apiVersion", "include", "environments", "clusters", "platform", "defaults"])
def test_an_included_file_holds_tenants_and_nothing_else(key: str, misfits: Misfits) -> None:
    assert misfits({"tenants": {}, key: None}) == {""}
    assert misfits({}) == {""}


def test_it_is_sound_itself() -> None:
    Draft202012Validator.check_schema(json.loads(PUBLISHED.read_text(encoding="utf-8")))
