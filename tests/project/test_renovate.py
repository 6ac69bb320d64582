"""templates/renovate.json finds the versions in the file that docs/rollouts.md shows, and in other forms."""

from __future__ import annotations

import json
import re

import yaml

from tests.blocks import ROOT

PAGE = (ROOT / "docs/rollouts.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CONFIG = json.loads((ROOT / "templates/renovate.json").read_text())
(EXAMPLE,) = (text for language, text in BLOCKS if "# renovate:" in text and language == "yaml")


def found(text: str) -> set[tuple[str, str, str, str]]:
    """The data source, the dependency, the registry and the version of each match."""
    matches = set()
    for manager in CONFIG["customManagers"]:
        for pattern in manager["matchStrings"]:
            for match in re.finditer(pattern.replace("(?<", "(?P<"), text):
                named = {"datasource": manager.get("datasourceTemplate"), "registryUrl": None, **match.groupdict()}
                matches.add(tuple(named[key] or "" for key in ("datasource", "depName", "registryUrl", "currentValue")))
    return matches


def test_the_example_of_the_page() -> None:
    assert found(EXAMPLE) == {
        ("git-tags", "https://git.example.com/shop.git", "", "v1.4.2"),
        ("docker", "registry.example.com/shop/bundle", "", "1.0.3"),
        ("helm", "web", "https://charts.example.com", "2.1.0"),
        ("docker", "registry.example.com/charts/search", "", "0.4.1"),
    }


def test_other_forms() -> None:
    text = """\
    a: {git: {url: "https://git.example.com/a", ref: {tag: "v1.0.0"}, interval: 1h}}
    b: {git: {url: https://git.example.com/b, ref: {branch: main}}}
    c: {git: {url: https://git.example.com/c, ref: {semver: 1.x}}}
    d: {git: {url: "{git}/d", ref: {tag: v1.0.0}}}
    e: {oci: {url: oci://registry.example.com/e, ref: {tag: latest}}}
    variables:
      # renovate: datasource=helm depName=shop registryUrl=https://charts.example.com
      shop: "1.4.0"
    """
    assert found(text) == {
        ("git-tags", "https://git.example.com/a", "", "v1.0.0"),
        ("helm", "shop", "https://charts.example.com", "1.4.0"),
    }


def test_the_patterns_take_the_fleet_s_files_and_use_no_syntax_that_renovate_lacks() -> None:
    for manager in CONFIG["customManagers"]:
        patterns = [re.compile(each.strip("/")) for each in manager["managerFilePatterns"]]
        files = ("tenants.yaml", "fleet/tenants.yaml", "tenants.d/rocky.yaml", "clusters.yaml", "tenants.yaml.bak")
        assert [any(each.search(file) for each in patterns) for file in files] == [True, True, True, False, False]
        # Renovate uses RE2, which has no lookaround and no references.
        assert not any(re.search(r"\(\?[=!]|\(\?<[=!]|\\[1-9]", each) for each in manager["matchStrings"])


def test_the_other_blocks_are_yaml() -> None:
    assert all(yaml.safe_load(text) for language, text in BLOCKS if language == "yaml")
