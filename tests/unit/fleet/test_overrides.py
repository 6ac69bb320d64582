"""Overrides: which hold, in which order they apply, and what is refused."""

from __future__ import annotations

from tenantry.fleet.apps import app_layers
from tenantry.source.parsed_file import override_of
from tests.table import table
from tests.unit.texts import explained, fleet, planned, problems, rocky

BOTH = "clusters: {all: true}"
AT = ("tenants", "rocky", "apps", "web")
WEB = """
web:
  kustomize: {source: manifests, path: ./web, timeout: 1m}
  overrides:
    - {when: {environments: [dev]}, kustomize: {path: ./dev, timeout: 2m}}
    - {when: {environments: [dev], clusters: {labels: {tier: edge}}}, kustomize: {path: ./first, timeout: 3m, prune: false}}
    - {when: {clusters: {labels: {tier: edge}}}, kustomize: {path: ./second, timeout: 4m}}
    - {when: {environments: [dev], clusters: {labels: {tier: other}}}, kustomize: {path: ./never}}
    - {when: {clusters: {names: [edge]}}, kustomize: {path: ./cluster}}
"""


def test_those_that_hold_apply_in_the_order_of_the_list() -> None:
    text = rocky(WEB, BOTH)
    specs = {
        each.owner.cluster: each.manifest["spec"] for each in planned(text).objects if each.id.kind == "Kustomization"
    }
    shown = {cluster: (spec["path"], spec["timeout"], spec["prune"]) for cluster, spec in specs.items()}
    assert shown == {"hub": ("./dev", "2m", True), "edge": ("./cluster", "4m", False)}


def test_an_override_is_a_layer_where_both_of_its_conditions_hold() -> None:
    layers = app_layers(fleet(rocky(WEB, BOTH)), AT, "dev", "edge")
    assert [each.path[5:] for each in layers] == [(), (0,), (1,), (2,), (4,)]
    assert all("when" not in each.data for each in layers)


def test_explain_names_where_the_override_holds_that_sets_a_value() -> None:
    text = rocky(WEB, BOTH)
    (placed,) = explained(fleet(text), "rocky/web", "edge").placed
    levels = {each.path: each.origin.level for each in placed.values if each.origin}
    assert levels["kustomize", "prune"] == "environment dev, tier=edge"
    assert levels["kustomize", "timeout"] == "tier=edge"
    assert levels["kustomize", "path"] == "cluster edge"


def test_null_removes_a_key_where_it_is_no_part_of_a_list_in_the_entry() -> None:
    entry = "[{when: {clusters: {labels: {tier: edge}}}, kustomize: {%s}}]"
    web = f"web: {{kustomize: {{source: manifests, path: ./web}}, overrides: {entry}}}"
    paths = {
        each.owner.cluster: each.manifest["spec"].get("path")
        for each in planned(rocky(web % "path: null", BOTH)).objects
        if each.id.kind == "Kustomization"
    }
    assert paths["hub"] != paths["edge"]
    assert "error[null-in-list]" in problems(rocky(web % "components: [null]", BOTH))
    helm = "web: {helm: {source: charts, chart: x, version: 1.x, values: {overrides: [{a: null}]}}}"
    assert "error[null-in-list]" in problems(rocky(helm, BOTH))


@table(
    ("entry", "code", "at"),
    [
        ("{kustomize: {path: ./x}}", "missing-key", "[0]"),
        ("{when: {labels: {tier: edge}}, kustomize: {path: ./x}}", "unknown-key", "[0].when.labels"),
        (
            "{when: {clusters: {names: [nope]}}, kustomize: {path: ./x}}",
            "unknown-cluster",
            "[0].when.clusters.names[0]",
        ),
        ("{when: {clusters: {labels: {}}}, kustomize: {path: ./x}}", "empty", "[0].when.clusters.labels"),
        ("{when: {clusters: {labels: {tier: edge}}}, helm: {chart: x}}", "changed-kind", "[0].helm"),
        (
            "{when: {clusters: {labels: {tier: edge}}}, kustomize: {source: nope}}",
            "unknown-source",
            "[0].kustomize.source",
        ),
        ("{when: {clusters: {labels: {tier: edge}}}, kustomize: {pth: ./x}}", "unknown-key", "[0].kustomize.pth"),
        ("{when: {clusters: {labels: {tier: edge}}}, dependsOn: [nope]}", "unknown-app", "[0].dependsOn[0]"),
        (
            "{when: {clusters: {labels: {tier: edge}}}, kustomize: {interval: 1}}",
            "wrong-type",
            "[0].kustomize.interval",
        ),
        (
            "{when: {clusters: {labels: {tier: edge}}}, kustomize: {timeout: 1x}}",
            "bad-duration",
            "[0].kustomize.timeout",
        ),
        (
            "{when: {clusters: {labels: {tier: edge}}}, kustomize: {path: '{nope}'}}",
            "unknown-placeholder",
            "[0].kustomize.path",
        ),
    ],
)
def test_a_mistake_in_an_override_is_one_problem_at_its_place(entry: str, code: str, at: str) -> None:
    told = problems(rocky(f"web: {{kustomize: {{source: manifests}}, overrides: [{entry}]}}", BOTH))
    assert f"at tenants.rocky.apps.web.overrides{at}\n" in told
    assert f"error[{code}" in told
    assert told.endswith("Found 1 error\n")


@table(
    ("path", "length"),
    [
        (("defaults", "overrides", 0, "quota"), 3),
        (("platform", "overrides", 0), 3),
        (("tenants", "rocky", "overrides", 1, "apps", "web"), 4),
        (("tenants", "overrides", "overrides", 0, "overrides"), 4),
        (("platform", "addons", "dns", "overrides", 0, "source"), 5),
        (("templates", "tenants", "small", "overrides", 0), 5),
        (("tenants", "rocky", "apps", "web", "overrides", 0, "helm", "values", "overrides", 3), 6),
        (("templates", "tenants", "small", "apps", "web", "overrides", 0), 7),
        (("tenants", "overrides", "sources", "m"), 0),
        (("tenants", "rocky", "apps", "web", "helm", "values", "overrides", 0), 0),
        (("tenants", "rocky", "overrides"), 0),
    ],
)
def test_the_override_that_a_path_lies_in(path: tuple[str | int, ...], length: int) -> None:
    assert override_of(path) == path[:length]


def test_a_tenant_can_be_called_overrides() -> None:
    text = rocky(WEB, "overrides: [{when: {clusters: {names: [edge]}}, sources: {manifests: {git: {ref: {tag: v1}}}}}]")
    named = text.replace("  rocky:\n", "  overrides:\n").replace("clusters: {all: true}", "")
    (placed,) = explained(fleet(named + "defaults: {clusters: {all: true}}\n"), "overrides/web", "edge").placed
    levels = {each.path: each.origin.level for each in placed.values if each.origin}
    assert levels["sources", "manifests", "git", "ref", "tag"] == "cluster edge"
    assert levels["sources", "manifests", "git", "url"] == "source"
