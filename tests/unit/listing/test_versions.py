"""`list apps` names the versions that are planned, and says where."""

from __future__ import annotations

from tenantry.listing import Place, Taken, format_places, listing
from tenantry.plan.plan import plan
from tests.table import table
from tests.unit.listing.fleets import VERSIONS
from tests.unit.texts import fleet

FLEET = fleet(VERSIONS)


def versions(tenant: str, app: str, only: str | None) -> dict[str, str]:
    """By places in words: the chart's version, or the ref of the source."""
    return {
        item["where"]: item["version"] or " ".join(f"{key} {value}" for key, value in item["ref"].items())
        for item in listing(FLEET, "apps", only)
        if (item["tenant"], item["name"]) == (tenant, app)
    }


@table(
    "app, only, expected",
    [
        ("shop", None, {"dev": "2.5.0", "prod": "2.3.0"}),
        ("shop", "dev", {"dev": "2.5.0"}),
        (
            "cache",
            None,
            {"dev": "3.0.0", "prod: hub-prod": "1.0.0", "prod: 4 of 6 clusters": "2.0.0", "prod: eu-2": "2.1.0"},
        ),
        ("api", None, {"dev": "branch dev", "prod": "tag v1"}),
    ],
)
def test_each_version_has_its_places(app: str, only: str | None, expected: dict[str, str]) -> None:
    assert versions("movy", app, only) == expected


def test_the_versions_of_charts_are_those_that_are_planned() -> None:
    planned = set()
    for environment in FLEET.environments:
        objects = plan(FLEET, environment).objects
        charts = {each.id.name: each.manifest["spec"] for each in objects if each.id.kind == "HelmChart"}
        for app in objects:
            if (
                app.owner.tenant
                and app.id.kind == "HelmRelease"
                and "tenantry/app" in app.manifest["metadata"]["labels"]
            ):
                chart = charts[app.manifest["spec"]["chartRef"]["name"]]
                planned.add((app.owner.tenant, environment, app.owner.cluster, chart["chart"], chart["version"]))
    told = {
        (item["tenant"], place["environment"], place["cluster"], item["chart"], item["version"])
        for item in listing(FLEET, "apps")
        for place in item["placements"]
        if item["chart"] and item["tenant"] == "movy"
    }
    assert len(told) == 14
    assert told == planned


def test_a_placement_has_the_version_of_each_app() -> None:
    found = {(each["tenant"], each["cluster"]): each["apps"] for each in listing(FLEET, "placements")}
    assert found["movy", "hub-dev"] == {"shop": "2.5.0", "cache": "3.0.0", "api": "dev"}
    assert found["movy", "eu-2"] == {"shop": "2.3.0", "cache": "2.1.0", "api": "v1"}
    assert found["rocky", "hub-dev"] == {"web": "main"}


@table(
    "ref, expected",
    [
        ({"tag": "v1", "commit": "c0ffee"}, "c0ffee"),
        ({"branch": "main", "tag": "v1", "semver": "1.x"}, "1.x"),
        ({"tag": "v1", "digest": "sha256:0"}, "sha256:0"),
        ({}, ""),
    ],
)
def test_of_a_ref_the_part_that_flux_takes_is_told(ref: dict[str, str], expected: str) -> None:
    assert Taken("source", None, "./", None, tuple(ref.items())).short == expected


def test_an_app_is_told_with_the_ref_and_the_places_of_each_environment() -> None:
    api = [item for item in listing(FLEET, "apps") if (item["tenant"], item["name"]) == ("movy", "api")]
    assert [(each["source"], each["ref"], each["where"]) for each in api] == [
        ("manifests", {"branch": "dev"}, "dev"),
        ("images", {"tag": "v1"}, "prod"),
    ]


@table(
    "places, every, expected",
    [
        (["dev a"], ["dev a"], "dev"),
        (["dev a", "prod b"], ["dev a", "prod b"], "dev, prod"),
        (["dev a", "prod b"], ["dev a", "prod b", "prod c"], "dev; prod: b"),
        ([f"prod {n}" for n in range(28)], [f"prod {n}" for n in range(30)], "prod: 28 of 30 clusters"),
        ([], ["dev a"], ""),
    ],
)
def test_places_in_words(places: list[str], every: list[str], expected: str) -> None:
    assert (
        format_places([Place(*each.split()) for each in places], [Place(*each.split()) for each in every]) == expected
    )
