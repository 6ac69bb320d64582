"""One mistake in waves gets one diagnostic, with its place and a fix."""

from __future__ import annotations

import re

from tests.table import table
from tests.unit.texts import problems

TEXT = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub, waves: [{names: [edge-1]}, {all: true}]}
  prod: {management: hub-prod, after: dev}
clusters:
  hub: {environments: [dev]}
  edge-1: {environments: [dev], labels: {ring: a}, kubeconfig: {secret: {name: edge-1, namespace: remotes, key: value}}}
  edge-2: {environments: [dev], labels: {ring: b}, kubeconfig: {secret: {name: edge-2, namespace: remotes, key: value}}}
  hub-prod: {environments: [prod]}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
tenants:
  rocky:
    clusters: {all: true}
    sources: {m: {git: {url: "https://git.example.com/a", ref: {branch: main}}}}
    apps:
      web: {kustomize: {source: m}}
"""
WAVES = "[{names: [edge-1]}, {all: true}]"


@table(
    ("waves", "code"),
    [
        ("[{names: [edge-1]}, {labels: {ring: a}}, {all: true}]", "waves-overlap"),
        ("[{names: [hub, edge-1, edge-2]}, {labels: {ring: a}}]", "waves-overlap"),
        ("[{names: [edge-1]}]", "not-in-a-wave"),
        ("[{names: [edge-1]}, {percent: 50}]", "not-in-a-wave"),
        ("[{labels: {ring: c}}, {all: true}]", "selects-nothing"),
        ("[{labels: {tier: a}}, {names: [hub, edge-2]}]", "selects-nothing"),
        ("[{all: true}, {percent: 10}]", "selects-nothing"),
        ("[{names: [hub-prod]}, {all: true}]", "selects-nothing"),
        ("[{names: [hub-prod]}, {names: [hub, edge-2]}]", "selects-nothing"),
        ("[{names: [edge-1, hub-prod]}, {names: [edge-2]}]", "not-in-a-wave"),
        ("[{names: [edge-3]}, {all: true}]", "unknown-cluster"),
        ("[{names: [edge-3]}, {names: [hub, edge-2]}]", "unknown-cluster"),
        ("[{percent: 101}, {all: true}]", "less-than-equal"),
        ("[{percent: 0}, {all: true}]", "greater-than-equal"),
        ("[{percent: 25%}, {all: true}]", "wrong-type"),
        ("[{names: [edge-1]}, all]", "bad-value"),
        ("[{names: [edge-1]}, 10]", "wrong-type"),
        ("[{names: [edge-1]}, true]", "wrong-type"),
        ("[0%, rest]", "bad-value"),
        ("[110%, rest]", "bad-value"),
        ("[{names: [edge-1]}, rest, 10%]", "selects-nothing"),
    ],
)
def test_waves_that_cannot_be_right(waves: str, code: str) -> None:
    told = problems(TEXT.replace(WAVES, waves))
    assert re.findall(r"^(\S+?):\d+: error\[(.*?)\]", told, re.MULTILINE) == [("tenants.yaml:3", code)], told
    assert told.count("\n  fix: ") == 1


@table(
    ("keys", "code", "fix"),
    [
        (
            "waves: {names: [edge-1]}",
            "wrong-type",
            "put it in brackets, as in [a, b]",
        ),
        ("waves: true", "wrong-type", ""),
        ("waves: []", "empty", ""),
        (f"waves: {WAVES}, tolerate: -1", "bad-limit", "write a number such as 3, or a share such as 10%"),
        (f"waves: {WAVES}, tolerate: {{failed: 1.5}}", "bad-limit", "write a number such as 3, or a share such as 10%"),
        (f"waves: {WAVES}, timeout: 10", "wrong-type", "add a unit, such as '10s' or '10m'"),
    ],
)
def test_keys_of_waves_that_are_written_wrong(keys: str, code: str, fix: str) -> None:
    told = problems(TEXT.replace(f"waves: {WAVES}", keys))
    assert re.findall(r"error\[(.*?)\]", told) == [code], told
    assert f"\n  fix: {fix}" in told, told


def test_environments_that_come_after_each_other() -> None:
    told = problems(TEXT.replace("dev: {management: hub,", "dev: {management: hub, after: prod,"))
    assert re.findall(r"error\[(.*?)\]", told) == ["environment-cycle"], told


@table("waves", ["true", '"off"', "0", "[]", WAVES])
def test_an_app_has_no_waves_of_its_own(waves: str) -> None:
    told = problems(TEXT.replace("{source: m}}", f"{{source: m}}, waves: {waves}}}"))
    assert re.findall(r"^(\S+?):\d+: error\[(.*?)\]", told, re.MULTILINE) == [("tenants.yaml:16", "bad-value")], told
