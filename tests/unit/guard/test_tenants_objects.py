"""What a tenant does with kubectl in its own namespace: no run is refused for it, and none is allowed for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import pytest

from tenantry.guard.check import RunLimits, doubts, refusals
from tenantry.guard.held import Held
from tenantry.guard.reading import Known, held
from tenantry.kube.objects import object_id
from tests.table import table
from tests.unit.guard.fleets import fleet, manifests, tenant
from tests.unit.guard.test_forged import labels, release
from tests.unit.texts import planned

pytestmark = pytest.mark.usefixtures("plans_once")

NOTHING, GUARDED = RunLimits(protected=False, deletions=0), RunLimits(protected=True, deletions=9)
HERE = "{names: [hub]}"
ROCKY, MOVY = tenant("rocky", "web", "db", where=HERE), tenant("movy", "web", where=HERE)
ALL, WITHOUT_WEB = fleet(ROCKY, MOVY), fleet(tenant("rocky", "db", where=HERE), MOVY)
GIVEN_UP = fleet(ROCKY.replace("web: {", "web: {state: offboarding, "), MOVY)

Change = Callable[[dict[str, Any]], None]


def relabelled(**given: str | None) -> Change:
    """A tenant's change of labels; None takes one off."""

    def change(manifest: dict[str, Any]) -> None:
        for key, value in given.items():
            name = "toolkit.fluxcd.io/tenant" if key == "tenant" else f"tenantry/{key}"
            manifest["metadata"]["labels"].pop(name, None)
            if value is not None:
                manifest["metadata"]["labels"][name] = value

    return change


def unlabelled(manifest: dict[str, Any]) -> None:
    del manifest["metadata"]["labels"]


def malformed(manifest: dict[str, Any]) -> None:
    manifest["metadata"]["labels"] = {"tenantry/environment": ["dev"], "tenantry/app": {}}


def moved_away(manifest: dict[str, Any]) -> None:
    """As if it were for a remote cluster."""
    manifest["metadata"]["labels"]["tenantry/cluster"] = "edge"
    manifest["spec"]["kubeConfig"] = {"secretRef": {"name": "mine"}}


CHANGES: dict[str, Change] = {
    "other environment": relabelled(environment="other"),
    "no environment": relabelled(environment=None),
    "given up": relabelled(state="offboarding"),
    "decommissioned": relabelled(state="decommissioned"),
    "no app": relabelled(app=None),
    "other app": relabelled(app="db"),
    "other tenant": relabelled(tenant="movy"),
    "no tenant": relabelled(tenant=None),
    "other cluster": relabelled(cluster="edge"),
    "no cluster": relabelled(cluster=None),
    "no labels": unlabelled,
    "malformed labels": malformed,
    "remote": moved_away,
}


def live(
    before: str, change: Change | None = None, kinds: tuple[str, ...] = ("Kustomization",)
) -> list[dict[str, Any]]:
    """What is there once a fleet is up, and rocky has changed its objects."""
    there = deepcopy(manifests(before))
    for each in there:
        if change and each["kind"] in kinds and each["metadata"].get("namespace") == "rocky":
            change(each)
    return there


def there(before: str, after: str, found: list[dict[str, Any]]) -> Held:
    """What the guard makes of it, with the state that the run before has left."""
    state = {object_id(each) for each in manifests(before)}
    return held(found, "dev", Known({each.id for each in planned(after).objects}, state.__contains__))


def told(before: str, after: str, found: list[dict[str, Any]], limits: RunLimits) -> list[str]:
    return [f"{each.code}: {each.message}" for each in refusals(planned(after), there(before, after, found), limits)]


@table("limits", [NOTHING, GUARDED])
@table("change", CHANGES.values(), ids=CHANGES)
def test_a_run_without_a_removal_is_not_blocked_by_what_a_tenant_did_to_its_labels(
    change: Change, limits: RunLimits
) -> None:
    assert told(ALL, ALL, live(ALL, change), limits) == []


@table("limits", [NOTHING, GUARDED])
@table("change", CHANGES.values(), ids=CHANGES)
def test_the_removal_of_an_app_is_refused_whatever_its_labels_say(change: Change, limits: RunLimits) -> None:
    honest = told(ALL, WITHOUT_WEB, live(ALL), limits)
    assert len(honest) == 1
    assert "app 'web' of tenant 'rocky' on hub" in honest[0]
    assert told(ALL, WITHOUT_WEB, live(ALL, change), limits) == honest


@table("change", CHANGES.values(), ids=CHANGES)
def test_an_app_that_was_given_up_may_go_whatever_its_labels_say(change: Change) -> None:
    """A tenant cannot keep its app from being removed either."""
    assert told(GIVEN_UP, WITHOUT_WEB, live(GIVEN_UP, change), GUARDED) == []


@pytest.mark.parametrize("kind", ["ServiceAccount", "GitRepository", "RoleBinding", "NetworkPolicy"])
@pytest.mark.parametrize("change", [CHANGES["other environment"], unlabelled], ids=["other", "none"])
def test_another_planned_object_in_the_namespace_blocks_no_run_either(kind: str, change: Change) -> None:
    assert any(each["kind"] == kind for each in live(ALL))
    assert told(ALL, ALL, live(ALL, change, (kind,)), GUARDED) == []


def forged(count: int, **more: str) -> list[dict[str, Any]]:
    return [release(f"app-{each}", labels("rocky", "hub", app=f"app-{each}", **more)) for each in range(count)]


@pytest.mark.parametrize("limits", [NOTHING, GUARDED])
def test_four_objects_with_a_tenants_own_labels_are_no_removal_of_four_apps(limits: RunLimits) -> None:
    assert told(ALL, ALL, live(ALL) + forged(4), limits) == []
    found = there(ALL, ALL, live(ALL) + forged(4))
    assert {id.namespace for id in found.misplaced} == {"rocky"}
    (doubt,) = doubts(planned(ALL), found, limits)
    assert doubt.code == "misplaced"
    assert doubt.message.startswith("4 objects with labels of environment 'dev' where the fleet has no such object: ")


@table(
    "more",
    [
        release("more", labels("rocky", "hub", app="more"), suspend=True),
        release("more", labels("rocky", "hub", app="more", state="decommissioned"), suspend=True),
        release("more", labels("rocky", "edge", app="more"), kubeConfig={"secretRef": {"name": "mine"}}),
        release("more", labels("movy", "hub", app="web")),
        release("more", {}),
    ],
    ids=["suspended", "decommissioned", "remote", "neighbours", "bare"],
)
def test_nothing_that_a_tenant_adds_changes_what_is_refused(more: Mapping[str, Any]) -> None:
    for after in (ALL, WITHOUT_WEB, fleet(MOVY), fleet(ROCKY)):
        for limits in (NOTHING, GUARDED):
            assert told(ALL, after, [*live(ALL), dict(more)], limits) == told(ALL, after, live(ALL), limits)


def test_an_object_that_a_tenant_made_before_the_file_names_it_is_not_taken_over() -> None:
    before, after = fleet(tenant("rocky", "db", where=HERE), MOVY), ALL
    web = next(each for each in live(ALL, unlabelled) if each["metadata"]["name"] == "web")
    found = told(before, after, [*live(before), web], GUARDED)
    assert [each for each in found if "Kustomization rocky/web exists already" in each and "not-the-fleets" in each]


def test_the_state_is_asked_only_about_what_labels_leave_open() -> None:
    def never(_: object) -> bool:
        raise AssertionError

    known = Known({each.id for each in planned(ALL).objects}, never)
    assert len(held(live(ALL), "dev", known).apps) == 3


def test_a_namespace_names_the_apps_that_were_given_up() -> None:
    namespaces = {each["metadata"]["name"]: each["metadata"] for each in live(GIVEN_UP) if each["kind"] == "Namespace"}
    assert namespaces["rocky"]["annotations"]["tenantry/leaving"] == "web"
    assert "tenantry/leaving" not in namespaces["movy"]["annotations"]


@pytest.mark.parametrize("limits", [NOTHING, GUARDED])
def test_what_a_run_deletes_because_an_interrupted_one_has_left_it_counts_as_a_removal(limits: RunLimits) -> None:
    """Also if the state is lost: then nothing is in it, and the policies still prove what the fleet has made."""
    known = Known({each.id for each in planned(WITHOUT_WEB).objects}, lambda _: False, lambda _: True)
    found = refusals(planned(WITHOUT_WEB), held(live(ALL), "dev", known), limits)
    assert ["app 'web' of tenant 'rocky' on hub" in each.message for each in found] == [True]
