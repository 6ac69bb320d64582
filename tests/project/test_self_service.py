"""The recipes of docs/self-service.md are sound fleets, and what they say a team may do, it may."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenantry.fleet.merge import Layer, merge
from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import InvalidFleet

PAGE = Path(__file__).parents[2] / "docs" / "self-service.md"
BASE: dict[str, Any] = {
    "apiVersion": "tenantry/v1",
    "environments": {"dev": {"management": "hub"}, "prod": {"management": "far"}},
    "clusters": {
        "hub": {"environments": ["dev"]},
        "far": {"environments": ["prod"]},
        "edge-1": {
            "environments": ["dev"],
            "labels": {"tier": "edge"},
            "kubeconfig": {"kamaji": {"controlPlane": "edge-1", "namespace": "kamaji"}},
        },
    },
    "platform": {"chart": {"helm": {"url": "https://charts.example.com", "version": "0.1.0"}}},
}
FILES = {"Tight": "tenants.d/rocky.yaml", "Usual": "tenants.d/rocky.yaml", "Open": "tenants.d/blue-shop.yaml"}
TEAM = {"Tight": "rocky", "Usual": "rocky", "Open": "blue-shop"}
OWNERS = "    owners: [{group: team, role: edit}]\n"
CHOICE = "    clusters: {names: [edge-1]}\n"


def recipe(name: str, root: Path, more: str = "", url: str = "") -> Path:
    """A fleet by a recipe. Args: more: lines of the team's file; url: of its source."""
    (text,) = re.findall(rf"### {name}: .*?```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file, team = root / FILES[name], TEAM[name]
    file.parent.mkdir()
    source = url or f"https://git.example.com/{team.partition('-')[0]}/manifests"
    file.write_text(
        f"tenants:\n  {team}:\n    sources: {{m: {{git: {{url: {source}, ref: {{branch: main}}}}}}}}\n"
        f"    apps: {{web: {{kustomize: {{source: m}}}}}}\n{more}"
    )
    main = root / "tenants.yaml"
    main.write_text(yaml.safe_dump(merge([Layer((), BASE), Layer((), yaml.safe_load(text))])))
    return main


def codes(file: Path) -> list[str]:
    """The problems of a fleet."""
    try:
        plan_all(load_fleet(file))
    except InvalidFleet as invalid:
        return [each.code for each in invalid.diagnostics]
    return []


@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [
        ("Tight", "", []),
        ("Tight", OWNERS, ["platforms-setting"]),
        ("Usual", CHOICE + OWNERS, []),
        ("Usual", CHOICE + OWNERS.replace("edit", "admin"), ["not-granted"]),
        ("Usual", CHOICE.replace("edge-1", "hub"), ["not-granted"]),
        ("Open", f"{OWNERS}    quota: {{pods: 5}}\n", []),
        ("Open", "    role: edit\n", ["platforms-setting"]),
    ],
)
def test_what_a_team_may_write(name: str, more: str, expected: list[str], tmp_path: Path) -> None:
    assert codes(recipe(name, tmp_path, more)) == expected


@pytest.mark.parametrize("name", FILES)
def test_other_addresses_are_refused(name: str, tmp_path: Path) -> None:
    more = CHOICE if name == "Usual" else ""
    assert codes(recipe(name, tmp_path, more, "https://git.example.com/movy/manifests")) == ["not-granted"]
