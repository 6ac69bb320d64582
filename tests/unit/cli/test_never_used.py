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
