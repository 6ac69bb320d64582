"""The fix of a warning about a value that no environment has can be typed, and changes no object."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from tenantry.load import load_fleet, plan_all, warnings_of
from tests.unit.cli.test_cli import Capture, tenantry

BAD = Path(__file__).parents[1] / "fleet/rules/cases/base_values_are_used/bad.yaml"


def test_the_fixes_lead_to_a_file_without_warnings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path(shutil.copy(BAD, "tenants.yaml"))
    planned = [plan.objects for plan in plan_all(load_fleet(file)).values()]
    found = warnings_of(load_fleet(file))
    assert {each.code for each in found} == {"never-used"}
    policies = "tenants.movy.sources.policies"
    web = "tenants.rocky.apps.web"
    by_hand = (
        f"set {policies}.oci.ref.tag 1.1.0",
        f"set {policies}.oci.ref null --environment none",
        f"set {web}.helm.version 1.1.0",
        f"set {web}.helm.values.image.tag --string 2",
        *(
            f"set {web}.helm.{key} null --environment {environment}"
            for environment in ("base", "prod")
            for key in ("version", "values.image")
        ),
    )
    commands = [each.fix.partition("tenantry ")[2] for each in found]
    assert [each.path[-1] for each, command in zip(found, commands, strict=True) if not command] == [
        "version",
        "tag",
        "ref",
    ]
    for command in (*filter(None, commands), *by_hand):
        code, _, err = tenantry(capsys, *shlex.split(command))
        assert (code, err) == (0, ""), command
    assert warnings_of(load_fleet(file)) == ()
    assert [plan.objects for plan in plan_all(load_fleet(file)).values()] == planned


def test_an_override_of_less_weight_that_would_then_hold_is_no_reason_to_fold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whens = [f"{{when: {{environments: [{name}]}}" for name in ("dev", "prod")]
    file = Path("tenants.yaml")
    file.write_text(
        "apiVersion: tenantry/v1\nenvironments: {dev: {management: a}, prod: {management: b}}\n"
        "clusters: {a: {environments: [dev]}, b: {environments: [prod]}}\ndefaults: {clusters: {all: true}}\n"
        "tenants:\n  rocky:\n    sources: {m: {git: {url: https://git.example.com/m, ref: {branch: main}}}}\n"
        f"    overrides: [{whens[0]}, apps: {{web: {{kustomize: {{path: ./one}}}}}}}}]\n"
        "    apps: {web: {kustomize: {source: m, path: ./two}, overrides: ["
        + ", ".join(f"{when}, kustomize: {{path: ./three}}}}" for when in whens)
        + "]}}\n"
    )
    (warning,) = warnings_of(load_fleet(file))
    assert (warning.code, warning.fix) == (
        "never-used",
        "remove it: tenantry set tenants.rocky.apps.web.kustomize.path null",
    )
