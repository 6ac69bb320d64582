"""What an included file may say of a tenant that is from a template: nothing of what the template says, which is the platform's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.fleet.fleet import Fleet
from tenantry.grants.grants import is_filled
from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import InvalidFleet
from tests.table import table

MAIN = """\
apiVersion: tenantry/v1
include: [rocky.yaml]
environments: {dev: {management: hub, variables: {team: platform}}}
clusters:
  hub: {environments: [dev], labels: {tier: hub}}
  edge: {environments: [dev], labels: {tier: edge}, kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
templates:
  tenants:
    base:
      credentials: {deploy: {keys: [username, password]}}
      sources:
        given: {git: {url: "https://git.example.com/platform/given", ref: {branch: main}}, credentials: deploy}
        lent: {git: {url: "https://git.example.com/platform/lent", ref: {branch: main}}}
      apps: {base: {kustomize: {source: given, path: ./base}}, more: {kustomize: {source: lent}}}
    small:
      from: base
      clusters: {labels: {tier: edge}}
      quota: {pods: 10}
      labels: {cost: low}
      grants: {sources: ["https://git.example.com/rocky/*"], settings: [timeout]}
tenants: {rocky: {from: small}}
"""
OWN = (
    "sources: {m: {git: {url: https://git.example.com/rocky/m, ref: {branch: main}}}}\n"
    "    apps: {web: {kustomize: {source: m}}}"
)


def load(own: str) -> Fleet:
    Path("rocky.yaml").write_text(f"tenants:\n  rocky:\n    {own}\n")
    Path("tenants.yaml").write_text(MAIN)
    return load_fleet(Path("tenants.yaml"))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_tenant_with_a_file_has_what_its_templates_say() -> None:
    fleet = load(f"{OWN}\n    timeout: 2m")
    rocky = fleet.document.tenants["rocky"]
    assert (rocky.apps.keys(), rocky.quota, rocky.timeout) == ({"base", "more", "web"}, {"pods": "10"}, "2m")
    at = ("tenants", "rocky")
    filled = [
        path
        for path in (("apps", "base"), ("quota",), ("quota", "pods"), ("sources", "given"))
        if is_filled(fleet, (*at, *path))
    ]
    assert filled == []
    assert is_filled(fleet, (*at, "apps", "web"))
    assert is_filled(fleet, (*at, "timeout"))
    assert str(fleet.source.locate((*at, "quota", "pods"))).startswith("tenants.yaml:19:")
    assert str(fleet.source.locate((*at, "timeout"))).startswith("rocky.yaml:5:")
    (plan,) = plan_all(fleet).values()
    assert {app.id.name for app in plan.apps} == {"edge-rocky-base", "edge-rocky-more", "edge-rocky-web"}


REFUSED: list[tuple[str, str, str, str]] = [
    # what, the code, the message, the file
    (
        "an app of the template",
        "duplicate-entry",
        "'base' under 'apps' of tenant 'rocky' is in 'templates.tenants.base' already",
        "apps: {base: {kustomize: {path: ./mine}}}",
    ),
    (
        "a source of the template",
        "duplicate-entry",
        "'given' under 'sources' of tenant 'rocky' is in 'templates.tenants.base' already",
        "sources: {given: {git: {url: https://git.example.com/rocky/m}}}",
    ),
    (
        "removing an app of the template",
        "duplicate-entry",
        "'base' under 'apps' of tenant 'rocky' is in 'templates.tenants.base' already",
        "apps: {base: null}",
    ),
    (
        "a setting of the template",
        "platforms-setting",
        "'quota' of tenant 'rocky' belongs to the platform's file",
        "quota: {pods: 100}",
    ),
    (
        "a label of the template",
        "platforms-setting",
        "'labels' of tenant 'rocky' belongs to the platform's file",
        "labels: {cost: high}",
    ),
    (
        "a setting of the template in an override",
        "platforms-setting",
        "'quota' of tenant 'rocky' belongs to the platform's file",
        "overrides: [{when: {environments: [dev]}, quota: null}]",
    ),
    (
        "an app of the template in an override",
        "platforms-setting",
        "'base' of tenant 'rocky' belongs to the platform's file",
        "overrides: [{when: {environments: [dev]}, apps: {base: {kustomize: {path: ./mine}}}}]",
    ),
    ("a template", "platforms-setting", "'from' of tenant 'rocky' belongs to the platform's file", "from: base"),
    (
        "another grant",
        "platforms-setting",
        "'grants' of tenant 'rocky' belongs to the platform's file",
        "grants: {sources: ['*']}",
    ),
    (
        "clusters beyond the class's",
        "not-granted",
        "tenant 'rocky' selects cluster 'hub', which is not granted to it",
        "clusters: {names: [hub]}",
    ),
    (
        "a source of the class, by its name",
        "platforms-entry",
        "'given' under 'sources' of tenant 'rocky' belongs to the platform's file, and its included file may not name it",
        "apps: {web: {kustomize: {source: given}}}",
    ),
    (
        "credentials of the template",
        "platforms-entry",
        "'deploy' under 'credentials' of tenant 'rocky' belongs to the platform's file, and its included file may not name it",
        "sources: {m: {git: {url: https://git.example.com/rocky/m, ref: {branch: main}}, credentials: deploy}}",
    ),
    (
        "an address beyond the class's",
        "not-granted",
        "the address of this GitRepository is not granted to tenant 'rocky'",
        "sources: {m: {git: {url: 'https://git.example.com/{team}/m', ref: {branch: main}}}}\n"
        "    apps: {web: {kustomize: {source: m}}}",
    ),
]


@table("what, code, message, own", REFUSED, ids=lambda row: row[0])
def test_what_a_template_says_is_not_the_files_to_change(what: str, code: str, message: str, own: str) -> None:
    with pytest.raises(InvalidFleet) as caught:
        plan_all(load(own))
    told = {(each.code, each.message) for each in caught.value.diagnostics if each.location.file == "rocky.yaml"}
    assert (code, message) in told, (what, told)
