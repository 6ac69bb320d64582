"""What a tenant, or an app on one cluster, is told after defaults, overrides and placeholders."""

from __future__ import annotations

from dataclasses import fields

import pytest

from tenantry.fleet.apps import EffectiveApp, effective_app
from tenantry.fleet.placement import selector_of
from tenantry.fleet.settings import (
    TenantSettings,
    platform_settings,
    tenant_settings,
    variables_of,
)
from tenantry.messages.errors import InvalidPart
from tenantry.model import Helm, Kustomize, PlacedSettings
from tests.table import table
from tests.unit.texts import FRAME, fleet, rocky

AT = ("tenants", "rocky", "apps", "web")

LAYERED = rocky("""\
web:
  kustomize:
    source: manifests
    path: ./web/{env}
    timeout: 1m
    images: [{name: a}, {name: b}]
    postBuild: {substitute: {FROM: app, KEPT: "{tenant}", GONE: x}}
  dependsOn: [db]
  overrides:
    - when: {environments: [dev]}
      kustomize: {timeout: 2m, prune: false, postBuild: {substitute: {FROM: environment, GONE: null}}}
    - when: {clusters: {names: [edge]}}
      kustomize: {timeout: 3m, images: [{name: c}], path: null}
      dependsOn: null
db: {kustomize: {source: manifests}}
""")


def effective(text: str, cluster: str = "hub", **variables: str) -> EffectiveApp:
    return effective_app(fleet(text), AT, "dev", cluster, {"env": "dev", "tenant": "rocky", **variables})


def test_a_tenant_that_says_nothing_gets_the_built_in_settings() -> None:
    assert TenantSettings() == tenant_settings(fleet(FRAME + "tenants: {rocky: {}}\n"), "rocky", "dev", "hub")


def test_a_tenant_s_settings_win_over_the_defaults_and_maps_merge() -> None:
    text = FRAME + (
        "defaults:\n"
        "  {role: edit, interval: 1m, quota: {pods: 40, cpu: 8}, labels: {a: x}, limits: {default: {cpu: 1}}, network: open}\n"
        "tenants:\n"
        "  rocky: {interval: 2m, quota: {pods: null, memory: 1Gi}, labels: {b: y}, limits: {default: {memory: 1Gi}}}\n"
    )
    expected = TenantSettings(
        role="edit",
        interval="2m",
        network="open",
        quota={"cpu": "8", "memory": "1Gi"},
        limits={"default": {"cpu": "1", "memory": "1Gi"}},
        labels={"a": "x", "b": "y"},
    )
    assert expected == tenant_settings(fleet(text), "rocky", "dev", "hub")


def test_null_takes_a_default_away_again() -> None:
    text = FRAME + "defaults: {role: edit, quota: {pods: 1}}\ntenants: {rocky: {role: null, quota: null}}\n"
    assert TenantSettings() == tenant_settings(fleet(text), "rocky", "dev", "hub")


def test_add_ons_take_only_the_times_of_the_defaults() -> None:
    text = (
        FRAME
        + "defaults: {role: edit, interval: 1m, retryInterval: 2s, timeout: 3m, quota: {pods: 1}, network: open}\n"
    )
    assert TenantSettings(interval="1m", retryInterval="2s", timeout="3m") == platform_settings(fleet(text))


@table(
    ("app", "tenant", "expected"),
    [
        ("clusters: {names: [edge]}, ", "clusters: {names: [hub]}", ["edge"]),
        ("", "clusters: {names: [hub]}", ["hub"]),
        ("", "", ["edge", "hub"]),
    ],
)
def test_the_nearest_selector_is_taken_whole(app: str, tenant: str, expected: list[str]) -> None:
    text = rocky(f"web: {{{app}kustomize: {{source: manifests}}}}", tenant)
    at = ("tenants", "rocky", "apps", "web")
    found, _ = selector_of(fleet(text + "defaults: {clusters: {names: [edge, hub]}}\n"), at)
    assert found is not None
    assert expected == found.names


def test_a_cluster_s_variables_win_over_the_environment_s_and_built_in_ones_over_both() -> None:
    text = FRAME.replace("management: hub", "management: hub, variables: {a: environment, b: environment, port: 80}")
    text = text.replace("labels: {tier: hub}", "variables: {b: cluster}")
    expected = {
        "a": "environment",
        "b": "cluster",
        "port": 80,
        "env": "dev",
        "cluster": "hub",
        "management": "hub",
        "tenant": "rocky",
    }
    assert expected == variables_of(fleet(text), "dev", "hub", tenant="rocky")


def test_an_environment_s_override_completes_the_app() -> None:
    app = effective(LAYERED)
    expected = Kustomize.model_validate(
        {
            "source": "manifests",
            "path": "./web/dev",
            "timeout": "2m",
            "prune": False,
            "images": [{"name": "a"}, {"name": "b"}],
            "postBuild": {"substitute": {"FROM": "environment", "KEPT": "rocky"}},
        }
    )
    assert (expected, ("db",)) == (app.block, app.depends_on)


def test_an_override_behind_it_wins_and_null_removes() -> None:
    app = effective(LAYERED, "edge")
    assert isinstance(app.block, Kustomize)
    assert ("3m", False, ["c"], "./", ()) == (
        app.block.timeout,
        app.block.prune,
        [image["name"] for image in app.block.flux["images"]],
        app.block.path,
        app.depends_on,
    )


@table(
    ("path", "expected"),
    [
        (("kustomize", "source"), (*AT, "kustomize", "source")),
        (("kustomize", "prune"), (*AT, "overrides", 0, "kustomize", "prune")),
        (("kustomize", "timeout"), (*AT, "overrides", 1, "kustomize", "timeout")),
        (("kustomize", "images", 0), (*AT, "overrides", 1, "kustomize", "images", 0)),
        (("kustomize", "postBuild", "substitute", "KEPT"), (*AT, "kustomize", "postBuild", "substitute", "KEPT")),
    ],
)
def test_every_value_can_be_traced_to_where_it_stands(
    path: tuple[str | int, ...], expected: tuple[str | int, ...]
) -> None:
    assert expected == effective(LAYERED, "edge").origin(*path)


def test_null_for_the_other_kind_leaves_the_app_s_own_kind() -> None:
    app = effective(rocky("web: {kustomize: null, helm: {source: charts, chart: c, version: 1.x}}"))
    assert (app.kind, app.block) == ("helm", Helm(source="charts", chart="c", version="1.x"))


def test_values_reach_helm_as_they_are() -> None:
    values = "{n: 1, f: 1.5, b: false, s: 'no', l: [{a: 'on'}, []], m: {gone: null}, t: '{tenant} {{ .Values.x }}'}"
    app = effective(rocky(f"web: {{helm: {{source: charts, chart: c, version: 1.x, values: {values}}}}}"))
    expected = {
        "n": 1,
        "f": 1.5,
        "b": False,
        "s": "no",
        "l": [{"a": "on"}, []],
        "m": {},
        "t": "rocky {{ .Values.x }}",
    }
    assert expected == app.data["values"]


def test_an_unknown_placeholder_is_reported_where_it_stands_in_an_override() -> None:
    text = rocky("""\
web:
  kustomize: {source: manifests, path: ./a}
  overrides: [{when: {clusters: {names: [hub]}}, kustomize: {path: "./{nope}"}}]
""")
    # Nothing is known here, so the placeholder that the fleet knows is unknown too.
    sound = fleet(text.replace("{nope}", "{env}"))
    with pytest.raises(InvalidPart) as caught:
        effective_app(sound, AT, "dev", "hub", {})
    (finding,) = caught.value.findings
    assert (finding.path, finding.code) == (
        (*AT, "overrides", 0, "kustomize", "path"),
        "unknown-placeholder",
    )


def test_a_tenants_settings_are_those_that_defaults_may_hold() -> None:
    """They are apart because none of them is optional any more, and selectors, grants and overrides are no settings."""
    assert {each.name for each in fields(TenantSettings)} == PlacedSettings.model_fields.keys()
