"""What a protected environment answers to a removal, and what it lets go: what was announced, and what was never there."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tenantry.guard.check import RunLimits, check
from tenantry.guard.held import Held
from tenantry.guard.keeping import kept_after
from tenantry.guard.reading import has_applied_nothing, held
from tenantry.guard.ways import Declared
from tenantry.messages.errors import Refused
from tests.table import table
from tests.unit.guard.fleets import fleet, manifests, now, refusal, tenant
from tests.unit.texts import FRAME, planned

ROCKY, MOVY = tenant("rocky", "web", "db"), tenant("movy", "web")
JOBS = tenant("rocky", "web", "db", rest="    namespaces: {jobs: {}}\n")
ON_HUB = tenant("rocky", "web", "db", where="{names: [hub]}")
DNS = "{clusters: {all: true}, source: {helm: {url: https://charts.example.com}}, helm: {chart: dns, version: 1.x}}"
WITH_DNS = FRAME.replace("platform: {", f"platform: {{addons: {{dns: {DNS}}}, ")
HERE = {"hub": ["dev"], "edge": ["dev"]}
ALL = Declared({"rocky", "movy"}, HERE)


def without_edge(frame: str) -> str:
    return "".join(line for line in frame.splitlines(keepends=True) if not line.startswith("  edge:"))


def guarded(declared: Declared = ALL) -> RunLimits:
    return RunLimits(protected=True, deletions=9, declared=declared)


def commands(*marks: str) -> str:
    """The fix with these marks in the first run."""
    return "\n".join(
        [
            "undo this change, and announce the removal in a run of its own:",
            *(f"    tenantry set {path} removing{where}" for path, where in map(split, marks)),
            "    tenantry up -e dev",
            "  then make this change again, without a mark on what stays in the file:",
            "    tenantry up -e dev",
        ]
    )


def split(mark: str) -> tuple[str, str]:
    path, option, clusters = mark.partition(" --clusters")
    return path, option + clusters


DB = "tenants.rocky.apps.db.state"
EDGE = "tenants.rocky.state --clusters edge"


@table(
    "before, after, declared, fix",
    [
        (
            fleet(ROCKY),
            fleet(ON_HUB),
            ALL,
            commands(EDGE),
        ),
        (
            fleet(ROCKY, MOVY),
            fleet(ROCKY),
            Declared({"rocky"}, HERE),
            commands("tenants.movy.state"),
        ),
        (
            fleet(ROCKY, MOVY),
            fleet(ROCKY),
            ALL,
            commands("tenants.movy.state --clusters edge", "tenants.movy.state --clusters hub"),
        ),
        (
            fleet(ROCKY),
            fleet(ON_HUB),
            Declared({"rocky"}, HERE | {"edge": ["dev", "prod"]}),
            commands(EDGE),
        ),
        (
            fleet(ROCKY, frame=WITH_DNS),
            fleet(ROCKY, frame=without_edge(WITH_DNS)),
            Declared({"rocky"}, HERE | {"edge": ["prod"]}),
            commands("clusters.edge.state"),
        ),
        (
            fleet(ROCKY),
            fleet(tenant("rocky", "web", "postgres")),
            ALL,
            commands(DB),
        ),
        (
            fleet(ROCKY),
            fleet(ROCKY.replace("rocky", "rocky-2")),
            Declared({"rocky-2"}, HERE),
            commands("tenants.rocky.state"),
        ),
        (
            fleet(ROCKY, MOVY, frame=WITH_DNS),
            fleet(ROCKY, MOVY, frame=without_edge(WITH_DNS)),
            Declared({"rocky", "movy"}, {"hub": ["dev"]}),
            commands("clusters.edge.state"),
        ),
        (
            fleet(ROCKY),
            fleet(tenant("rocky", "web")),
            ALL,
            commands(DB),
        ),
        (
            fleet(ROCKY),
            fleet(ROCKY.replace("db: {", "db: {clusters: {names: [hub]}, ")),
            ALL,
            commands(DB),
        ),
        (
            fleet(ROCKY, frame=WITH_DNS),
            fleet(ROCKY),
            ALL,
            commands("platform.addons.dns.state"),
        ),
        (
            fleet(JOBS),
            fleet(ROCKY),
            ALL,
            commands("tenants.rocky.namespaces.jobs.state"),
        ),
    ],
)
def test_a_refusal_names_the_commands_of_both_runs(before: str, after: str, declared: Declared, fix: str) -> None:
    assert refusal(before, after, guarded(declared)).partition("\n  fix: ")[2] == fix


def test_of_many_removals_the_first_ones_have_commands() -> None:
    many = [tenant(f"t{index}", "web", where="{names: [hub]}") for index in range(9)]
    told = refusal(fleet(*many), fleet(many[0]), guarded(Declared({"t0"}, {"hub": ["dev"]})))
    assert told.count("tenantry set ") == 5
    assert told.count("    # and so on for 3 more\n") == 1


def announced(text: str, state: str = "removing") -> dict[str, str]:
    """The fleet with a state on the tenant, on it on one cluster, on its app, or on the cluster."""
    overrides = f"    overrides: [{{when: {{clusters: {{names: [edge]}}}}, state: {state}}}]\n"
    return {
        "tenant": text.replace("    clusters", f"    state: {state}\n    clusters", 1),
        "placement": text.replace("    sources", f"{overrides}    sources", 1),
        "app": text.replace("db: {", f"db: {{state: {state}, "),
        "cluster": text.replace("labels: {tier: edge},", f"labels: {{tier: edge}}, state: {state},"),
    }


ANNOUNCED, OFFBOARDED = announced(fleet(ROCKY, MOVY)), announced(fleet(ROCKY, MOVY), "offboarding")
WITHOUT_EDGE = fleet(ROCKY, MOVY, frame=without_edge(FRAME))


@table(
    "before, after",
    [
        (ANNOUNCED["tenant"], fleet(MOVY)),
        (ANNOUNCED["placement"], fleet(ON_HUB, MOVY)),
        (ANNOUNCED["app"], fleet(tenant("rocky", "web"), MOVY)),
        (ANNOUNCED["cluster"], WITHOUT_EDGE),
        (OFFBOARDED["cluster"], WITHOUT_EDGE),
    ],
)
def test_what_was_announced_may_go_where_it_is_protected(before: str, after: str) -> None:
    check(planned(after), now(before), guarded())


@table(
    "before, after, kept",
    [
        (ANNOUNCED["tenant"], fleet(MOVY), {("edge", "rocky"), ("hub", "rocky")}),
        (ANNOUNCED["placement"], fleet(ON_HUB, MOVY), {("edge", "rocky")}),
        (ANNOUNCED["cluster"], WITHOUT_EDGE, {("edge", "rocky"), ("edge", "movy")}),
        (OFFBOARDED["placement"], fleet(ON_HUB, MOVY), set()),
        (OFFBOARDED["cluster"], WITHOUT_EDGE, set()),
    ],
)
def test_what_was_announced_leaves_its_namespaces_and_what_was_off_boarded_does_not(
    before: str, after: str, kept: set[tuple[str, str]]
) -> None:
    recorded = kept_after(planned(after), now(before), datetime(2026, 1, 1, tzinfo=UTC))
    assert {(each.cluster, each.namespace) for each in recorded} == kept


def test_what_was_announced_on_one_cluster_goes_from_no_other() -> None:
    on_edge = tenant("rocky", "web", "db", where="{names: [edge]}")
    with pytest.raises(Refused, match="namespace 'rocky' of tenant 'rocky' on hub"):
        check(planned(fleet(on_edge, MOVY)), now(ANNOUNCED["placement"]), guarded())


def test_an_announced_tenant_s_paused_app_would_be_left_behind_in_its_namespace() -> None:
    paused = ANNOUNCED["tenant"].replace("      web: {", "      web: {state: paused, ", 1)
    with pytest.raises(Refused, match="Flux would leave behind what they installed"):
        check(planned(fleet(MOVY)), now(paused), guarded())


# --- apps that were never there ---------------------------------------------------------------------------------------

FAILED: dict[str, Any] = {"conditions": [{"type": "Ready", "status": "False"}]}
RETRIED: dict[str, Any] = {"conditions": [{"type": "Ready", "status": "Unknown"}]}
READY: dict[str, Any] = {"conditions": [{"type": "Ready", "status": "True"}]}
ENTRY: dict[str, Any] = {"id": "rocky_db__ConfigMap", "v": "v1"}


@table(
    "kind, status, nothing",
    [
        ("Kustomization", FAILED, True),
        ("Kustomization", FAILED | {"inventory": {"entries": []}, "lastAttemptedRevision": "main@sha1:1"}, True),
        ("Kustomization", FAILED | {"history": [{"lastReconciledStatus": "BuildFailed"}]}, True),
        ("HelmRelease", FAILED | {"installFailures": 1, "lastAttemptedRevision": "1.0.0"}, True),
        ("Kustomization", None, False),
        ("Kustomization", {}, False),
        ("Kustomization", {"conditions": []}, False),
        ("Kustomization", {"conditions": "Ready"}, False),
        ("Kustomization", {"conditions": ["Ready"]}, False),
        ("Kustomization", READY, False),
        # The status of an action that is under way does not tell yet what it has applied.
        ("Kustomization", RETRIED, False),
        ("HelmRelease", RETRIED, False),
        ("HelmRelease", {"conditions": [{"type": "Reconciling", "status": "True"}]}, False),
        ("HelmRelease", FAILED | {"lastReleaseRevision": 1}, False),
        ("Kustomization", FAILED | {"inventory": {"entries": [ENTRY]}}, False),
        ("Kustomization", FAILED | {"inventory": "text"}, False),
        ("Kustomization", FAILED | {"lastAppliedRevision": "main@sha1:1"}, False),
        ("HelmRelease", FAILED | {"history": [{"status": "failed"}]}, False),
        ("HelmRelease", FAILED | {"history": [{"status": "uninstalled"}]}, False),
        ("HelmRelease", FAILED | {"lastAppliedRevision": "1.0.0"}, False),
    ],
)
def test_only_a_status_proves_that_nothing_was_applied(kind: str, status: Any, *, nothing: bool) -> None:
    assert has_applied_nothing({"kind": kind, "status": status}) is nothing


def with_status(status: dict[str, Any]) -> Held:
    """What the cluster holds once both tenants are up, and app 'db' has a status."""
    there = manifests(fleet(ROCKY, MOVY))
    for each in there:
        if each["metadata"]["labels"].get("tenantry/app") == "db":
            each["status"] = status
    return held(there, "dev")


@table("limits", [guarded(), RunLimits(protected=False, deletions=0)])
def test_an_app_of_which_nothing_was_ever_applied_may_go(limits: RunLimits) -> None:
    after = planned(fleet(tenant("rocky", "web"), MOVY))
    check(after, with_status(FAILED), limits)
    with pytest.raises(Refused, match="app 'db' of tenant 'rocky' on edge"):
        check(after, with_status(READY), limits)


def test_its_namespace_stays_protected() -> None:
    with pytest.raises(Refused, match="tenant 'rocky' with its apps and rights"):
        check(planned(fleet(MOVY)), with_status(FAILED), guarded())


# --- where somebody deleted the baseline, nothing says which namespaces there were -----------------------------------------


def without_baselines(text: str) -> Held:
    apps = [each for each in manifests(text) if "tenantry/app" in each["metadata"]["labels"]]
    return held(apps, "dev")


def test_apps_without_their_baseline_do_not_leave_a_cluster_unasked() -> None:
    on_edge = tenant("rocky", "web", "db", where="{names: [edge]}")
    moved = planned(fleet(tenant("rocky", "web", "db", where="{names: [hub]}")))
    with pytest.raises(Refused, match="app 'web' of tenant 'rocky' on edge"):
        check(moved, without_baselines(fleet(on_edge)), guarded())


def test_a_tenant_without_its_baseline_is_announced_only_if_all_of_its_apps_are() -> None:
    before = tenant("rocky", "db", "web", where="{names: [edge]}").replace("db: {", "db: {state: removing, ")
    with pytest.raises(Refused, match="tenant 'rocky' with its apps and rights"):
        check(planned(fleet(MOVY)), without_baselines(fleet(before, MOVY)), guarded())
    whole = before.replace("web: {", "web: {state: removing, ")
    check(planned(fleet(MOVY)), without_baselines(fleet(whole, MOVY)), guarded())
