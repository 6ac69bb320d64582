"""`list rights`: who may do what, where, and which line says so."""

from __future__ import annotations

from pathlib import Path

from tenantry.listing import Filter, listing
from tenantry.load import load_fleet
from tenantry.plan.plan import plan
from tests.unit.listing.fleets import VERSIONS
from tests.unit.texts import fleet

MAIN = """\
apiVersion: tenantry/v1
include: [tenants.d/*.yaml]
environments: {dev: {management: hub}}
clusters: {hub: {environments: [dev]}}
tenants:
  rocky:
    clusters: {names: [hub]}
    grants: {sources: ["*"], settings: [owners, quota], roles: [view, edit]}
  movy:
    clusters: {names: [hub]}
    grants: {sources: ["*"]}
"""
TEAM = """\
tenants:
  rocky:
    owners: [{user: jo, role: edit}]
    sources: {git: {git: {url: "https://git.example.com/rocky", ref: {branch: main}}}}
    apps: {web: {kustomize: {source: git}}}
"""


def test_everybody_is_named_with_role_namespaces_places_and_line() -> None:
    found = [
        (each["kind"], each["name"], each["may"], each["role"], each["namespaces"], each["line"], each["where"])
        for each in listing(fleet(VERSIONS), "rights", Filter(tenants=["movy"]))
    ]
    every = ["movy", "movy-jobs"]
    line = {
        key: 1 + next(number for number, text in enumerate(VERSIONS.splitlines()) if text.strip().startswith(key))
        for key in ("owners", "roleBindings", "clusterRoles", "overrides: {environments: {prod: {owners")
    }
    owners, bindings, roles, override = line.values()
    assert found == [
        ("flux", "movy", "role", "admin", every, None, "dev, prod"),
        ("group", "movy-team", "role", "edit", every, f"tenants.yaml:{owners}:14", "dev"),
        ("user", "jo@example.com", "role", "view", every, f"tenants.yaml:{owners}:46", "dev"),
        ("serviceAccount", "movy-jobs/deployer", "role", "edit", every, f"tenants.yaml:{bindings}:48", "dev, prod"),
        ("flux", "movy", "cluster", "get nodes", [], f"tenants.yaml:{roles}:20", "dev, prod"),
        ("group", "movy-team", "role", "view", every, f"tenants.yaml:{override}:48", "prod"),
    ]


def test_people_are_those_of_the_planned_bindings() -> None:
    loaded = fleet(VERSIONS)
    planned = {
        (subject["kind"], subject["name"], binding["roleRef"]["name"], binding["metadata"]["namespace"], environment)
        for environment in loaded.environments
        for binding in (each.manifest for each in plan(loaded, environment).objects if each.id.kind == "RoleBinding")
        for subject in binding["subjects"]
        if subject["kind"] == "Group"
    }
    told = {
        ("Group", each["name"], each["role"], namespace, place["environment"])
        for each in listing(loaded, "rights", Filter())
        for namespace in each["namespaces"]
        for place in each["placements"]
        if each["kind"] == "group"
    }
    assert len(told) == 4
    assert told == planned


def test_the_account_of_the_platform_may_do_everything() -> None:
    def found(*environments: str, who: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
        only = Filter(tenants=["platform"], environments=environments, who=who)
        return [
            tuple(each[key] for key in ("kind", "name", "may", "role", "line", "where"))
            for each in listing(fleet(VERSIONS), "rights", only)
        ]

    account = ("flux", "tenantry-system/tenantry-platform", "cluster", "cluster-admin", None)
    assert found() == [(*account, "dev, prod")]
    assert found("dev") == [(*account, "dev")]
    assert found(who=("movy-team",)) == []


def test_the_file_of_a_team_is_told_with_what_it_may_set(tmp_path: Path) -> None:
    (tmp_path / "tenants.d").mkdir()
    (tmp_path / "tenants.yaml").write_text(MAIN)
    (tmp_path / "tenants.d/rocky.yaml").write_text(TEAM)
    (tmp_path / "tenants.d/movy.yaml").write_text(
        TEAM.replace("rocky", "movy").replace("    owners: [{user: jo, role: edit}]\n", "")
    )
    loaded = load_fleet(tmp_path / "tenants.yaml")
    found = {(each["tenant"], each["kind"]): each for each in listing(loaded, "rights", Filter())}
    assert found["rocky", "user"]["line"] == f"{tmp_path}/tenants.d/rocky.yaml:3:14"
    assert found["rocky", "file"]["role"] == "apps, owners, quota (roles: view, edit)"
    assert found["rocky", "file"]["line"] == f"{tmp_path}/tenants.yaml:8:30"
    assert (found["movy", "file"]["role"], found["movy", "file"]["where"]) == ("apps", "dev")


def test_one_is_found_by_name_or_pattern() -> None:
    def names(*who: str) -> list[str]:
        return [each["name"] for each in listing(fleet(VERSIONS), "rights", Filter(who=who))]

    assert names("jo@example.com") == ["jo@example.com"]
    assert names("movy-*") == ["movy-team", "movy-jobs/deployer", "movy-team"]
    assert names("movy-jobs") == []
