"""The published JSON Schema of included files, and that of one tenant's file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, get_args

import pytest
import yaml
from click.shell_completion import ShellComplete
from jsonschema import Draft202012Validator
from jsonschema_rs import meta

from tenantry.cli.app import app, run
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.included_schema import included_schema_of
from tenantry.fleet.model_paths import fields_of
from tenantry.grants.frames import BLOCKS, OVERRIDES, PARTS, SELECTOR
from tenantry.grants.model import GRANTABLE
from tenantry.load import load_fleet
from tenantry.model.document import Tenant
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

FLEET = """\
apiVersion: tenantry/v1
include: [teams/*.yaml]
environments:
  dev: {management: hub}
clusters:
  hub: {environments: [dev]}
  edge: {environments: [dev], labels: {tier: edge}, kubeconfig: {capi: {cluster: edge, namespace: capi}}}
platform: {chart: {helm: {url: https://charts.example.com, version: 0.1.0}}}
defaults: {clusters: {all: true}, grants: {sources: ["https://git.example.com/{tenant}/*"]}}
tenants:
  rocky: {}
  movy:
    grants:
      clusters: {names: [hub]}
      alerts: ["https://hooks.example.com/movy"]
      settings: [owners, namespaces, quota, interval]
  tiny:
    sources: {base: {git: {url: https://git.example.com/b, ref: {branch: main}}}}
    grants: {settings: [advanced]}
  dark: {role: view, grants: {clusters: {all: true, exclude: [edge]}, settings: [owners], sources: []}}
  tina: {}
"""


def misfits_of(schema: dict[str, Any]) -> Misfits:
    """Where data does not fit a schema, by a validator that none of our own code uses."""
    validator = Draft202012Validator(schema)
    return lambda data: {".".join(map(str, error.absolute_path)) for error in validator.iter_errors(data)}


@pytest.fixture(scope="session")
def misfits() -> Misfits:
    return misfits_of(json.loads(PUBLISHED.read_text(encoding="utf-8")))


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    root = tmp_path_factory.mktemp("fleet")
    (root / "teams").mkdir()
    (root / "tenants.yaml").write_text(FLEET)
    for tenant in ("rocky", "movy", "dark", "tiny"):
        (root / f"teams/{tenant}.yaml").write_text(f"tenants:\n  {tenant}: {{}}\n")
    return load_fleet(root / "tenants.yaml")


@pytest.fixture(scope="session")
def schemas(fleet: Fleet) -> dict[str, dict[str, Any]]:
    return {tenant: included_schema_of(fleet, tenant) for tenant in fleet.source.fills}


@pytest.fixture
def _there(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(fleet.source.file).parent)


def of(tenant: str, text: str) -> Any:
    return {"tenants": {tenant: yaml.safe_load(text)}}


# --- of all included files --------------------------------------------------------------------------------------


def test_the_published_schema_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "--included"]) == 0
    published = PUBLISHED.read_text(encoding="utf-8")
    assert capsys.readouterr().out == published, "stale: run `make document-schema`, and read the difference"


def test_it_holds_no_definition_that_nothing_uses_and_none_of_the_platforms() -> None:
    schema = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    named = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema)))
    assert named == set(schema["$defs"])
    assert named & {"Cluster", "Environment", "Platform", "Grants", "Frame", "Include", "PodSecurity", "Addon"} == set()


@table("file", INCLUDING, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_sound_included_file_fits_the_schema_of_all_and_that_of_its_tenants(file: Path, misfits: Misfits) -> None:
    fleet = load_fleet(file)
    for tenant, fill in fleet.source.fills.items():
        assert misfits(fill.file.data) == set()
        own = {"tenants": {tenant: fill.file.data["tenants"][tenant]}}
        assert misfits_of(included_schema_of(fleet, tenant))(own) == set()


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


# --- of one tenant's file ---------------------------------------------------------------------------------------


@table(
    ("tenant", "text", "fits"),
    [
        ("rocky", "{sources: {}, credentials: {}, configs: {}, apps: {}, alerts: {}, receivers: {}}", True),
        ("rocky", "clusters: {all: true}", True),
        ("rocky", "clusters: {names: [edge]}", True),
        ("rocky", "clusters: {names: [hub]}", False),
        ("rocky", "apps: {web: {clusters: {names: [hub]}, kustomize: {source: a}}}", False),
        ("rocky", "clusters: {all: true, exclude: [hub]}", True),
        ("rocky", "overrides: [{when: {clusters: {names: [hub]}}, helm: {timeout: 1m}}]", True),
        ("rocky", "overrides: [{when: {clusters: {all: true}}, quota: {pods: 1}}]", False),
        ("movy", "overrides: [{when: {clusters: {all: true}}, quota: {pods: 1}}]", True),
        ("rocky", "quota: {pods: 1}", False),
        ("rocky", "labels: {a.b/c: d}", False),
        ("rocky", "namespaces: {}", False),
        ("movy", "clusters: {names: [hub]}", True),
        ("movy", "clusters: {names: [edge]}", False),
        ("movy", "{quota: {pods: 1}, interval: 5m}", True),
        ("movy", "role: view", False),
        ("movy", "timeout: 5m", False),
        ("movy", "owners: [{user: eve, role: edit}]", True),
        ("movy", "owners: [{user: eve}]", True),
        ("movy", "owners: [{user: eve, role: admin}]", False),
        ("movy", "namespaces: {jobs: {name: 'x-{namespace}', quota: {pods: 1}}}", True),
        (
            "movy",
            "sources: {m: {git: {url: 'https://git.example.com/m', ref: {branch: main}, recurseSubmodules: true}}}",
            False,
        ),
        (
            "tiny",
            "sources: {m: {git: {url: 'https://git.example.com/m', ref: {branch: main}, recurseSubmodules: true}}}",
            True,
        ),
        ("dark", "owners: [{user: eve}]", True),
        ("dark", "owners: [{user: eve, role: edit}]", False),
        ("movy", "namespaces: {jobs: {network: open}}", False),
        ("dark", "clusters: {names: [hub]}", False),
        ("dark", "role: view", False),
        ("dark", "apps: {}", True),
    ],
)
def test_only_what_is_granted_fits(tenant: str, text: str, schemas: dict[str, dict[str, Any]], *, fits: bool) -> None:
    assert fits == (misfits_of(schemas[tenant])(of(tenant, text)) == set())


def test_it_is_sound_itself(schemas: dict[str, dict[str, Any]]) -> None:
    Draft202012Validator.check_schema(json.loads(PUBLISHED.read_text(encoding="utf-8")))
    for tenant, schema in schemas.items():
        assert meta.is_valid(schema), tenant


def test_ungranted_settings_are_absent_so_that_no_editor_offers_them(schemas: dict[str, dict[str, Any]]) -> None:
    keys = {tenant: list(schema["$defs"]["Tenant"]["properties"]) for tenant, schema in schemas.items()}
    assert set(keys["rocky"]) == {
        *(
            "clusters",
            "credentials",
            "configs",
            "sources",
            "apps",
            "alerts",
            "receivers",
            "kustomize",
            "helm",
            "overrides",
        )
    }
    granted = {"owners", "namespaces", "quota", "interval"}
    assert granted == set(keys["movy"]) - set(keys["rocky"])
    in_overrides = {each: set(schemas[each]["$defs"]["TenantOverride"]["properties"]) for each in ("rocky", "movy")}
    assert in_overrides["rocky"] == {"when", "sources", "apps", "kustomize", "helm"}
    assert in_overrides["movy"] - in_overrides["rocky"] == granted - {"namespaces"}


def test_it_is_about_this_tenant_alone_and_tells_its_addresses(schemas: dict[str, dict[str, Any]]) -> None:
    schema = schemas["movy"]
    assert misfits_of(schema)(of("rocky", "{}")) == {"tenants"}
    described = {key: part["description"] for key, part in schema["$defs"]["Tenant"]["properties"].items()}
    assert described["sources"].endswith("\n\nGranted addresses: https://git.example.com/{tenant}/*.")
    assert described["alerts"].endswith(
        "\nGranted addresses, in addition to those of sources: https://hooks.example.com/movy."
    )
    none = schemas["dark"]["$defs"]["Tenant"]["properties"]["sources"]["description"]
    assert none.endswith("\n\nGranted addresses: none.")


@pytest.mark.usefixtures("_there")
def test_the_command_prints_the_schema_of_a_tenant(
    schemas: dict[str, dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["schema", "--included", "--tenant", "movy"]) == 0
    assert json.loads(capsys.readouterr().out) == schemas["movy"]


@pytest.mark.usefixtures("_there")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["--tenant", "movy"],
            "error: --tenant needs --included\n  fix: add --included: tenants.yaml has one schema for all tenants\n",
        ),
        (
            ["--included", "--tenant", "tina"],
            "error: no included file speaks of a tenant 'tina'\n  fix: name one of: dark, movy, rocky, tiny\n",
        ),
        (
            ["--included", "--tenant", "nobody"],
            "error: no included file speaks of a tenant 'nobody'\n  fix: name one of: dark, movy, rocky, tiny\n",
        ),
    ],
)
def test_other_schemas_are_refused(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (2, ("", expected)) == (run(["schema", *arguments]), capsys.readouterr())


@pytest.mark.usefixtures("_there")
def test_tenants_are_completed() -> None:
    complete = ShellComplete(app, {}, "tenantry", "_TENANTRY_COMPLETE")
    assert ["movy"] == [each.value for each in complete.get_completions(["schema", "--included", "--tenant"], "m")]
