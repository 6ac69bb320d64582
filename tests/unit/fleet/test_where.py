"""Overrides by labels of clusters: which apply, in which order, and what is refused."""

from __future__ import annotations

from textwrap import dedent

from tenantry.fleet.apps import app_layers
from tests.table import table
from tests.unit.texts import FRAME, explained, fleet, planned, problems, rocky

BOTH = "clusters: {all: true}"
AT = ("tenants", "rocky", "apps", "web")
WEB = """
web:
  kustomize: {source: manifests, path: ./web, timeout: 1m}
  overrides:
    environments: {dev: {kustomize: {path: ./dev, timeout: 2m}}}
    where:
      - {clusters: {labels: {tier: edge}}, kustomize: {path: ./first, timeout: 3m, prune: false}}
      - {clusters: {labels: {tier: edge}}, kustomize: {path: ./second, timeout: 4m}}
      - {clusters: {labels: {tier: other}}, kustomize: {path: ./never}}
    clusters: {edge: {kustomize: {path: ./cluster}}}
"""


def test_overrides_by_label_come_after_those_of_environments_in_their_order_and_before_those_of_clusters() -> None:
    text = rocky(WEB, BOTH)
    specs = {
        each.owner.cluster: each.manifest["spec"] for each in planned(text).objects if each.id.kind == "Kustomization"
    }
    shown = {cluster: (spec["path"], spec["timeout"], spec["prune"]) for cluster, spec in specs.items()}
    assert shown == {"hub": ("./dev", "2m", True), "edge": ("./cluster", "4m", False)}


def test_the_labels_of_an_override_are_no_part_of_the_app() -> None:
    layers = app_layers(fleet(rocky(WEB, BOTH)), AT, "dev", "edge")
    assert [each.path[5:] for each in layers] == [
        (),
        ("environments", "dev"),
        ("where", 0),
        ("where", 1),
        ("clusters", "edge"),
    ]
    assert all("labels" not in each.data for each in layers)


def test_explain_names_the_labels_of_the_override_that_sets_a_value() -> None:
    text = rocky(WEB, BOTH)
    (placed,) = explained(fleet(text), "rocky/web", "edge").placed
    levels = {each.path: each.origin.level for each in placed.values if each.origin}
    assert levels["kustomize", "prune"] == levels["kustomize", "timeout"] == "where tier=edge"
    assert levels["kustomize", "path"] == "cluster edge"


def test_null_removes_a_key_where_it_is_no_part_of_a_list_in_the_entry() -> None:
    where = "[{clusters: {labels: {tier: edge}}, kustomize: {%s}}]"
    web = f"web: {{kustomize: {{source: manifests, path: ./web}}, overrides: {{where: {where}}}}}"
    paths = {
        each.owner.cluster: each.manifest["spec"].get("path")
        for each in planned(rocky(web % "path: null", BOTH)).objects
        if each.id.kind == "Kustomization"
    }
    assert paths["hub"] != paths["edge"]
    assert "error[null-in-list]" in problems(rocky(web % "components: [null]", BOTH))
    helm = "web: {helm: {source: charts, chart: x, version: 1.x, values: {overrides: {where: [{a: null}]}}}}"
    assert "error[null-in-list]" in problems(rocky(helm, BOTH))


@table(
    ("entry", "code", "at"),
    [
        ("{kustomize: {path: ./x}}", "missing-key", "where[0]"),
        ("{labels: {tier: edge}, kustomize: {path: ./x}}", "unknown-key", "where[0].labels"),
        ("{clusters: {names: [nope]}, kustomize: {path: ./x}}", "unknown-cluster", "where[0].clusters.names[0]"),
        ("{clusters: {labels: {}}, kustomize: {path: ./x}}", "empty", "where[0].clusters.labels"),
        ("{clusters: {labels: {tier: edge}}, helm: {chart: x}}", "changed-kind", "where[0].helm"),
        (
            "{clusters: {labels: {tier: edge}}, kustomize: {source: nope}}",
            "unknown-source",
            "where[0].kustomize.source",
        ),
        ("{clusters: {labels: {tier: edge}}, kustomize: {pth: ./x}}", "unknown-key", "where[0].kustomize.pth"),
        ("{clusters: {labels: {tier: edge}}, dependsOn: [nope]}", "unknown-app", "where[0].dependsOn[0]"),
        ("{clusters: {labels: {tier: edge}}, kustomize: {interval: 1}}", "wrong-type", "where[0].kustomize.interval"),
        ("{clusters: {labels: {tier: edge}}, kustomize: {timeout: 1x}}", "bad-duration", "where[0].kustomize.timeout"),
        (
            "{clusters: {labels: {tier: edge}}, kustomize: {path: '{nope}'}}",
            "unknown-placeholder",
            "where[0].kustomize.path",
        ),
    ],
)
def test_a_mistake_in_an_override_by_label_is_one_problem_at_its_place(entry: str, code: str, at: str) -> None:
    told = problems(rocky(f"web: {{kustomize: {{source: manifests}}, overrides: {{where: [{entry}]}}}}", BOTH))
    assert f"at tenants.rocky.apps.web.overrides.{at}\n" in told
    assert f"error[{code}" in told
    assert told.endswith("Found 1 error\n")


def test_a_namespace_that_an_add_on_has_on_labelled_clusters_is_reserved() -> None:
    addon = dedent("""\
        platform:
          chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}
          addons:
            certs:
              clusters: {all: true}
              source: {helm: {url: https://charts.example.com}}
              helm: {chart: certs, version: 1.x, targetNamespace: certs}
              overrides: {where: [{clusters: {labels: {tier: edge}}, helm: {targetNamespace: rocky}}]}
        """)
    text = rocky("web: {kustomize: {source: manifests}}").replace(FRAME.splitlines(keepends=True)[-1], addon)
    assert "namespace 'rocky' of tenant 'rocky' is reserved for an add-on" in problems(text)
