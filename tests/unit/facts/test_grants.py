"""What `diff` says of grants that become more: nothing of those that stay or become less."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tenantry.facts.dangers.rights import grant_dangers
from tenantry.facts.review import review, shared_dangers
from tenantry.fleet.fleet import Fleet
from tenantry.load import load_fleet, plan_all
from tests.unit.texts import FRAME

MORE = "its included files may do more: "


def gains(before: Fleet, after: Fleet) -> list[tuple[str, str]]:
    """The tenants that are granted more in dev, and what."""
    return [(each.subject.tenant, each.text.removeprefix(MORE)) for each in grant_dangers(before, after, "dev")]


def fleet(root: Path, **grants: str) -> Fleet:
    """A fleet whose tenants have included files. Args: grants: of each tenant."""
    (root / "teams").mkdir(parents=True)
    frames = "".join(f"  {tenant}:\n    grants: {each}\n" for tenant, each in grants.items())
    (root / "tenants.yaml").write_text(f"{FRAME}include: [teams/*.yaml]\ntenants:\n{frames}")
    for tenant in grants:
        (root / f"teams/{tenant}.yaml").write_text(f"tenants:\n  {tenant}: {{}}\n")
    return load_fleet(root / "tenants.yaml")


@pytest.mark.parametrize(
    ("before", "after", "gained"),
    [
        ("{}", "{}", ""),
        ("{sources: ['https://a.example.com/x/*']}", "{sources: ['https://a.example.com/x/y/*']}", ""),
        ("{sources: ['*']}", "{sources: ['https://a.example.com/*']}", ""),
        (
            "{sources: ['https://a.example.com/x/*']}",
            "{sources: ['https://a.example.com/*']}",
            "sources https://a.example.com/*",
        ),
        ("{sources: ['https://a.example.com/*']}", "{sources: ['*']}", "sources *"),
        ("{}", "{alerts: ['https://a.example.com/*']}", "alerts https://a.example.com/*"),
        ("{settings: [quota, owners]}", "{settings: [quota]}", ""),
        ("{settings: [quota]}", "{settings: [owners, quota]}", "settings owners"),
        ("{clusters: {names: [hub, edge]}}", "{clusters: {names: [edge]}}", ""),
        ("{clusters: {names: [edge]}}", "{clusters: {names: [hub, edge]}}", "clusters hub"),
        ("{clusters: {names: [edge]}}", "{clusters: {all: true}}", ""),
        ("{sources: ['https://a.example.com/{tenant}/*']}", "{sources: ['https://a.example.com/{tenant}/x/*']}", ""),
        (
            "{sources: ['https://a.example.com/{tenant}/*']}",
            "{sources: ['https://a.example.com/{env}/*']}",
            "sources https://a.example.com/{env}/*",
        ),
    ],
)
def test_what_is_granted_more(before: str, after: str, gained: str, tmp_path: Path) -> None:
    found = gains(fleet(tmp_path / "a", rocky=before), fleet(tmp_path / "b", rocky=after))
    assert found == ([("rocky", gained)] if gained else [])


BASE = """
    credentials: {deploy: {keys: [password]}}
    sources: {base: {git: {url: "https://git.example.com/b", ref: {branch: main}}, credentials: deploy}}
"""


def test_credentials_that_the_main_file_gives_away_are_told(tmp_path: Path) -> None:
    kept = fleet(tmp_path / "b", rocky=f"{{}}{BASE.rstrip()}")
    own = "    credentials: {deploy: {keys: [password]}}\n"
    main, file = tmp_path / "b/tenants.yaml", tmp_path / "b/teams/rocky.yaml"
    main.write_text(main.read_text().replace(own, ""))
    file.write_text(f"tenants:\n  rocky:\n{own}")
    assert gains(kept, load_fleet(main)) == [("rocky", "credentials deploy")]


def test_an_environment_that_is_granted_brings_everything_that_counts_in_it(tmp_path: Path) -> None:
    rest = "settings: [quota], clusters: {names: [edge]}"
    one, other = (fleet(tmp_path / each, rocky=f"{{environments: [{each}], {rest}}}") for each in ("", "dev"))
    assert gains(one, other) == [("rocky", "clusters edge; settings quota")]
    assert gains(other, one) == []


def test_a_new_tenant_is_told_as_such_and_not_as_granted_more(tmp_path: Path) -> None:
    more = "{settings: [quota]}"
    assert gains(fleet(tmp_path / "a", rocky="{}"), fleet(tmp_path / "b", rocky="{}", movy=more)) == []


def test_tenants_that_gain_the_same_are_one_danger_and_make_a_difference(tmp_path: Path) -> None:
    before = fleet(tmp_path / "a", rocky="{}", movy="{}")
    after = fleet(tmp_path / "b", rocky="{settings: [quota]}", movy="{settings: [quota]}")
    found = review(before, after, plan_all(before), plan_all(after))
    assert [bool(each) for each in found] == [True]
    assert [each.text() for each in shared_dangers(found)] == [f"rights: 2 tenants (rocky, movy): {MORE}settings quota"]


def test_a_danger_alone_is_a_difference(tmp_path: Path) -> None:
    before, after = (
        fleet(tmp_path / names, rocky=f"{{}}\n    clusters: {{names: [{names}]}}") for names in ("hub", "hub, edge")
    )
    (found,) = review(before, after, plan_all(before), plan_all(after))
    assert [each.text for each in found.dangers] == [f"{MORE}clusters edge"]
    assert bool(replace(found, changes=(), objects=()))
    assert not replace(found, changes=(), objects=(), dangers=())
