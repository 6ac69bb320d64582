"""Variables of tenants, labels as placeholders, and selectors that a tenant fills in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.load import load_fleet, plan_all, plan_one
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import format_invalid
from tests.unit.texts import FRAME, explained, fleet, one, planned, problems, rocky

VALUES = "db: {helm: {source: charts, chart: db, version: 1.x, values: {%s}}}"


def values(variables: str, written: str) -> object:
    text = rocky(VALUES % written, f"clusters: {{names: [hub]}}\nvariables: {{{variables}}}")
    return one(planned(text), "HelmRelease", "db").manifest["spec"]["values"]


def test_a_tenant_s_variables_fill_in_its_apps_with_their_types() -> None:
    found = values("seats: 250, open: true", 'a: "{seats}", b: "{seats}-{tenant}", c: "{open}", d: "{tier}"')
    assert found == {"a": 250, "b": "250-rocky", "c": True, "d": "hub"}


def test_defaults_give_what_a_tenant_does_not_set_and_null_removes_it() -> None:
    text = rocky(VALUES % 'a: "{seats}"', "clusters: {names: [hub]}") + "defaults: {variables: {seats: 5}}\n"
    assert one(planned(text), "HelmRelease", "db").manifest["spec"]["values"] == {"a": 5}
    removed = text.replace("    clusters: {names: [hub]}", "    clusters: {names: [hub]}\n    variables: {seats: null}")
    assert "placeholder '{seats}' is not known here" in problems(removed)


def test_one_and_true_are_two_values() -> None:
    both = rocky(VALUES % 'a: "{size}"', "clusters: {all: true}")
    text = both.replace("labels: {tier: hub}", "variables: {size: 1}").replace(
        "labels: {tier: edge}", "variables: {size: true}"
    )
    specs = [each.manifest["spec"] for each in planned(text).objects if each.id.kind == "HelmRelease"]
    assert sorted(repr(spec["values"]["a"]) for spec in specs if "a" in spec["values"]) == ["1", "True"]


def test_a_label_with_the_name_of_a_built_in_placeholder_is_none() -> None:
    text = FRAME.replace("{tier: hub}", "{tier: hub, env: production}")
    assert one(planned(text + rocky(VALUES % 'a: "{env}"').removeprefix(FRAME)), "HelmRelease", "db").manifest["spec"][
        "values"
    ] == {"a": "dev"}


def test_explain_says_where_a_variable_and_a_label_come_from() -> None:
    text = rocky(VALUES % 'a: "{seats}", b: "{tier}"', "clusters: {names: [hub]}\nvariables: {seats: 5}")
    (placed,) = explained(fleet(text), "rocky/db").placed
    values = (each for each in placed.values if each.path[0] == "placeholders")
    found = {each.path[1]: (each.value, each.origin and each.origin.level) for each in values}
    assert found["seats"] == (5, "tenant")
    assert found["tier"] == ("hub", "cluster hub")


CELLS = """\
defaults: {variables: {cell: hub}, clusters: {labels: {tier: "{cell}"}}}
tenants:
  acme: {%s}
"""
SHOP = (
    "sources: {m: {git: {url: https://git.example.com/m, ref: {branch: main}}}}, apps: {web: {kustomize: {source: m}}}"
)


def test_a_tenant_chooses_its_cell_by_a_variable() -> None:
    for variables, cluster in (("variables: {cell: edge}, ", "edge"), ("", "hub")):
        plan = planned(FRAME + CELLS % (variables + SHOP))
        assert {each.owner.cluster for each in plan.objects if each.id.kind == "Kustomization"} == {cluster}


MAIN = FRAME.replace("environments:\n", "include: [acme.yaml]\nenvironments:\n", 1) + "tenants:\n  acme: {%s}\n"
GIT = "m: {git: {url: '%s', ref: {branch: main}}}"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(main: str, own: str) -> str:
    """What an included file of tenant `acme` is told; "" if the fleet is valid."""
    Path("tenants.yaml").write_text(MAIN % main)
    Path("acme.yaml").write_text(f"tenants:\n  acme: {{{own}}}\n")
    try:
        plan_all(load_fleet(Path("tenants.yaml")))
    except InvalidFleet as invalid:
        return format_invalid(invalid)
    return ""


def test_a_file_s_own_selector_takes_the_tenants_variables() -> None:
    main = "clusters: {all: true}, variables: {cell: edge}, grants: {sources: ['https://git.example.com/*']}"
    app = "web: {kustomize: {source: m}, clusters: {labels: {tier: '{cell}'}}}"
    own = f"sources: {{{GIT % 'https://git.example.com/m'}}}, apps: {{{app}}}"
    assert refused(main, own) == ""
    found = plan_one(load_fleet(Path("tenants.yaml")), "dev")
    assert {each.owner.cluster for each in found.objects if each.id.kind == "Kustomization"} == {"edge"}
