"""Every key of the model is a fact, and every fact that changes is in a review, or this page says why it is not.

`after.yaml` and `before.yaml` have every key between them: a new key of the model fails here until one of them has it, and then
`explain` and `diff` have to tell it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tenantry.facts.facts import Facts
from tenantry.facts.review import review
from tenantry.fleet.fleet import Fleet
from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import Location
from tenantry.plan.plan import Plan
from tests.unit.every_key.keys import Pattern, fits, of_data, of_model

HERE = Path(__file__).parent

ROOTS = ("clusters", "defaults", "environments", "platform", "templates", "tenants")
"""All but `apiVersion` and `include`, which say nothing of an object."""
LEVELS = {"overrides": "levels of the same keys", "grants": "permissions, which set nothing"}
WHOLE = {
    "policies": "Kubernetes' own structure, told as it is written",
    "waves": "told with their clusters",
}
GROUPED = {
    "Templates": "the keys of what takes them over",
    "Cluster.from_": "the same",
    "ObjectsChart.oci": "a third form of one key; its own keys are those of a source",
    "Selector": "where a part is",
    "Tenant.from_": "the same",
    "Excluded": "the same",
}
"""Keys below which no key is asked for."""


@cache
def side(name: str) -> tuple[Fleet, dict[str, Plan]]:
    fleet = load_fleet(HERE / f"{name}.yaml")
    return fleet, plan_all(fleet)


def leaves(fleet: Fleet) -> Iterator[Pattern]:
    for path, _ in of_data(fleet.source.data):
        if path[0] in ROOTS:
            yield tuple(map(str, path))


def test_the_two_files_have_every_key_of_the_model() -> None:
    places: dict[str, list[Pattern]] = {}
    for key, pattern in of_model():
        if pattern[0] in ROOTS and not {*LEVELS, *WHOLE} & set(pattern[:-1]) and pattern[-1] not in LEVELS:
            places.setdefault(str(key), []).append(pattern)
    there = [path for name in ("before", "after") for path in leaves(side(name)[0])]
    places = {key: at for key, at in places.items() if not {key, key.partition(".")[0]} & GROUPED.keys()}
    missing = [key for key, patterns in places.items() if not any(fits(p, at) for p in there for at in patterns)]
    assert missing == []


# --- facts ------------------------------------------------------------------------------------------------------------


NO_FACT: dict[Pattern, str] = {
    ("clusters", "*", "from"): "what it brings is a fact with the place in the template",
    ("environments", "*", "extends"): "what it brings is a fact with the place in the other environment",
    ("environments", "*", "tenants"): "a barrier of tenants, in whose absence it shows",
    ("tenants", "*", "overrides", "*", "*", "clusters"): "the selector of an override",
}
"""Lines that no fact names. All others are facts of an environment, a cluster, the platform, a tenant, an app or an add-on."""


def _places(fleet: Fleet, plans: dict[str, Plan]) -> Iterator[Location]:
    """Every place in the file that a fact names."""
    for plan in plans.values():
        facts = Facts(fleet, plan)
        for subject, clusters in facts.clusters.items():
            for value in (value for cluster in clusters for value in facts.of(subject, cluster).values()):
                yield from (origin.location for origin in (value.origin, value.removed) if origin)


def test_every_line_of_the_file_is_a_fact() -> None:
    for name in ("before", "after"):
        fleet, plans = side(name)
        told = set(_places(fleet, plans))
        written = (path for path, value in of_data(fleet.source.data) if value != {})
        untold = [path for path in written if path[0] in ROOTS and fleet.source.locate(path) not in told]
        assert [path for path in untold if not any(fits(path, each) for each in NO_FACT)] == []


# --- reviews ----------------------------------------------------------------------------------------------------------

OTHERWISE: dict[Pattern, str] = NO_FACT | {
    ("tenants", "*", "overrides"): "levels of the same keys, of which the one that prevails is told",
    ("templates", "clusters", "*", "environments"): "the environments that its cluster had before",
}


def test_every_line_that_changes_is_in_a_review() -> None:
    (old, before), (new, after) = side("before"), side("after")
    told = {
        place.location
        for each in review(old, new, before, after)
        for change in each.changes
        for value in change.values
        for place in value.places
    }
    former = dict(of_data(old.source.data))
    changed = [
        path
        for path, value in of_data(new.source.data)
        if path[0] in ROOTS and value != {} and former.get(path) != value and new.source.locate(path) not in told
    ]
    assert [path for path in changed if not any(fits(path, each) for each in OTHERWISE)] == []
