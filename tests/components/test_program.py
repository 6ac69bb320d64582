from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import ANY

import httpx2
import pulumi
import pytest

from components.compare import Comparison
from components.fleet import Fleet
from components.run import Run, run_of
from tenantry.cluster import connect
from tenantry.guard.claims import Claim, claim_object
from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import Refused
from tenantry.plan.plan import Plan
from tenantry.rollout.blocked import blocked
from tenantry.rollout.change import Difference
from tenantry.stacks.states import key_in_state
from tests.components.plans import unchecked
from tests.components.recording import Recording, record
from tests.unit.memory import Memory
from tests.unit.texts import planned, rocky

ROOT = Path(__file__).parents[2]
GATE = "{environment: dev}"
PLANS = plan_all(load_fleet(ROOT / "tenants.yaml"))


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture(autouse=True)
def _nothing_to_restore(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster does not take what is recorded here; `test_comparing` is about what a run restores."""
    monkeypatch.setattr("components.run.compare_with_cluster", lambda *_: Comparison())
    monkeypatch.setattr("components.state.exported_resources", lambda *_: [])


def run(config: dict[str, str], stack: str = "prod", state: Sequence[str] = ()) -> tuple[Recording, str]:
    """What the program registered, and with which message it ended."""
    messages: list[str] = []

    def program() -> None:
        try:
            runpy.run_path("__main__.py", run_name="__main__")
        except pulumi.RunError as error:
            messages.append(str(error))

    settings = {f"tenantry:{key}": value for key, value in config.items()}
    resources = [{"urn": urn} for urn in state]
    with pytest.MonkeyPatch.context() as patch:
        if state:
            patch.setattr("components.state.exported_resources", lambda *_: resources)
        recording = record(program, stack=stack, config=settings)
    return recording, "".join(messages)


@pytest.mark.parametrize("environment", PLANS)
def test_a_stack_exports_what_each_tenant_has(monkeypatch: pytest.MonkeyPatch, environment: str) -> None:
    hub = hub_with(PLANS[environment], PLANS[environment].management)
    monkeypatch.setattr(connect, "connect", lambda *_: hub.client())
    recording, message = run({}, stack=environment)
    plan = PLANS[environment]
    assert message == ""
    assert len(recording.objects) == len(plan.objects) + 1  # the claim
    assert recording.exports == {
        "blocked": ANY,
        "environment": environment,
        "objects": len(plan.objects) + 1,
        "tenants": {
            tenant: {
                "namespaces": sorted({each.namespace for each in plan.placements if each.tenant == tenant}),
                "clusters": sorted({each.cluster for each in plan.placements if each.tenant == tenant}),
                "apps": sorted({each.name for each in plan.apps if each.tenant == tenant}),
                "objects": sum(each.owner.tenant == tenant for each in plan.objects),
            }
            for tenant in ("movy", "rocky")
        },
    }


def test_a_mistake_in_the_fleet_ends_the_program_before_anything_is_registered(tmp_path: Path) -> None:
    fleet = tmp_path / "tenants.yaml"
    fleet.write_text((ROOT / "tenants.yaml").read_text().replace("    role: edit\n", "    rol: edit\n"))
    recording, message = run({"fleet": str(fleet)})
    assert recording.registered == []
    summary, first, *_, last = message.splitlines()
    assert (summary, last) == ("the fleet cannot be planned", "Found 1 error")
    assert first.startswith(f"{fleet}:")
    assert "error[unknown-key]" in first


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"fleet": "nowhere.yaml"},
            "there is no file nowhere.yaml to describe the fleet\n  fix: pulumi config set --stack prod tenantry:fleet FILE",
        ),
        (
            {"environment": "prd"},
            "tenants.yaml has no environment 'prd' (declared: dev, prod (closest: prod))\n"
            "  fix: pulumi config set --stack prod tenantry:environment NAME (by default it is the stack's name)",
        ),
    ],
)
def test_a_wrong_setting_ends_the_program_with_the_key_to_change(config: dict[str, str], message: str) -> None:
    recording, ended_with = run(config)
    assert recording.registered == []
    assert ended_with == message


def test_a_stack_of_a_frame_ends_with_the_environments_that_have_one(tmp_path: Path) -> None:
    fleet = tmp_path / "tenants.yaml"
    text = "environments: {prod: {}, prod-eu: {extends: prod, management: hub}}\nclusters: {hub: {environments: [prod-eu]}}\n"
    fleet.write_text(f"apiVersion: tenantry/v1\n{text}")
    recording, ended_with = run({"fleet": str(fleet), "environment": "prod"})
    assert recording.registered == []
    assert ended_with == f"environment 'prod' of {fleet} is a frame, and has no stack\n  fix: name one of: prod-eu"


def test_a_cluster_that_does_not_answer_ends_the_program_in_a_preview_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(kubeconfig: Path | None, context: str | None, _: float) -> None:
        raise Refused(f"no cluster behind {kubeconfig}, {context}", "start it")

    monkeypatch.setattr(connect, "connect", refuse)
    recording, message = run({"kubeconfig": "hub", "context": "admin"})
    assert recording.registered == []
    assert message == "no cluster behind hub, admin\n  fix: start it"


def test_a_tenant_s_output_names_all_of_its_namespaces() -> None:
    plan = planned(rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}\nnamespaces: {jobs: {}}"))
    made: list[Fleet] = []
    record(lambda: made.append(Fleet("dev", run=unchecked(plan))))
    assert made[0].tenants["rocky"].facts["namespaces"] == ["rocky", "rocky-jobs"]


def hub_with(plan: Plan, marker: str = "hub-dev", *claimed: Claim) -> Memory:
    """A management cluster that holds a plan, and claims of stacks."""
    memory = Memory()
    memory.objects["/api/v1/namespaces/tenantry-system/configmaps/tenantry"] = {
        "metadata": {},
        "data": {"cluster": marker},
    }
    memory.objects["/api/v1/namespaces/tenantry-system/configmaps"] = {
        "metadata": {},
        "items": [dict(claim_object("tenantry-system", each).manifest) for each in claimed],
    }
    for kind, path in (
        ("Namespace", "/api/v1/namespaces"),
        ("Kustomization", "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations"),
        ("HelmRelease", "/apis/helm.toolkit.fluxcd.io/v2/helmreleases"),
    ):
        items = [dict(each.manifest) for each in plan.objects if each.id.kind == kind]
        memory.objects[path] = {"kind": f"{kind}List", "metadata": {}, "items": items}
    return memory


@pytest.fixture
def emptied(tmp_path: Path) -> Path:
    """The fleet without its tenants."""
    fleet = tmp_path / "tenants.yaml"
    fleet.write_text((ROOT / "tenants.yaml").read_text().partition("\ntenants:")[0])
    return fleet


@pytest.mark.parametrize("setting", ["", "1", "10", "many"])
def test_a_run_that_would_remove_too_much_ends_before_anything_is_registered(
    monkeypatch: pytest.MonkeyPatch, emptied: Path, setting: str
) -> None:
    monkeypatch.setattr(connect, "connect", lambda *_: hub_with(PLANS["dev"]).client())
    recording, message = run({"fleet": str(emptied), "maxDeletions": setting}, stack="dev")
    assert message != ""
    assert recording.registered == []
    if setting == "":
        assert message.startswith(
            "this run would remove every tenant of environment 'dev'\n"
            "    tenant 'movy' with its apps and rights, but not its data, on edge-1, hub-dev\n"
        )
    if setting == "many":
        assert message == (
            "tenantry:maxDeletions is 'many', but must be a number or a share such as 10%\n"
            "  fix: pulumi config set --stack dev tenantry:maxDeletions 10, or pulumi config rm --stack dev tenantry:maxDeletions"
        )


def test_what_the_stack_permits_by_name_is_removed_and_a_permission_that_is_left_is_told(
    monkeypatch: pytest.MonkeyPatch, emptied: Path
) -> None:
    told: list[str] = []
    monkeypatch.setattr(connect, "connect", lambda *_: hub_with(PLANS["dev"]).client())
    monkeypatch.setattr(pulumi.log, "warn", told.append)
    urns = (f"urn:pulumi:dev::tenantry::{key_in_state(each.id)}" for each in PLANS["dev"].objects)
    state = [{"urn": urn} for urn in urns]
    monkeypatch.setattr("components.state.exported_resources", lambda *_: state)
    _, message = run(
        {"fleet": str(emptied), "allowDeletions": '["tenant/movy", "tenant/gone", "tenant/rocky"]'}, stack="dev"
    )
    assert message == ""
    assert told == [
        "tenantry:allowDeletions permits the removal of tenant/gone, which this run does not remove\n"
        "  fix: remove what is no longer needed: pulumi config rm --stack dev --path 'tenantry:allowDeletions[1]'"
    ]


def test_a_run_tells_what_is_doubtful_in_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fleet, told = tmp_path / "tenants.yaml", list[str]()
    fleet.write_text(
        (ROOT / "tenants.yaml").read_text()
        + "  idle: {overrides: [{when: {clusters: {labels: {tier: none}}}, role: view}]}\n"
    )
    monkeypatch.setattr(connect, "connect", lambda *_: hub_with(PLANS["dev"]).client())
    monkeypatch.setattr(pulumi.log, "warn", told.append)
    _, message = run({"fleet": str(fleet)}, stack="dev")
    assert message == ""
    (text,) = told
    assert text.startswith(f"{fleet} is valid, but:\n{fleet}:")
    assert "warning[never-applies]: no cluster is selected, so this override never applies" in text
    assert text.endswith("Found 1 warning")


def test_a_run_tells_what_an_earlier_one_still_waits_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub, told = hub_with(PLANS["dev"]), list[str]()
    releases = hub.objects["/apis/helm.toolkit.fluxcd.io/v2/helmreleases"]["items"]
    release = releases[0] = {**releases[0], "metadata": {**releases[0]["metadata"], "deletionTimestamp": "long ago"}}
    monkeypatch.setattr(connect, "connect", lambda *_: hub.client())
    monkeypatch.setattr(pulumi.log, "warn", told.append)
    _, message = run({}, stack="dev")
    assert message == ""
    # The server in memory knows no selectors, and lists an object each time it is asked for objects of its kind.
    assert {each.partition(" has been deleting since long ago")[0] for each in told} == {
        f"HelmRelease kamaji-edge/{release['metadata']['name']} (add-on 'cert-controller' on edge-1)"
    }


def test_a_cluster_that_answers_no_more_ends_the_program_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = hub_with(PLANS["dev"])

    def hang(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadTimeout("")

    hub.refusals["GET", "/api/v1/namespaces"] = hang
    monkeypatch.setattr(connect, "connect", lambda *_: hub.client())
    recording, message = run({}, stack="dev")
    assert recording.registered == []
    assert message.startswith("cluster https://hub.example.com did not answer in time\n  fix: ")


def test_a_run_against_another_cluster_ends_before_anything_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "connect", lambda *_: hub_with(PLANS["dev"], "hub-prod").client())
    recording, message = run({}, stack="dev")
    assert recording.registered == []
    assert "is marked as 'hub-prod', but the management cluster of environment 'dev' is 'hub-dev'\n" in message


def test_a_stack_that_is_told_to_be_another_environment_ends_before_anything_is_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub = hub_with(PLANS["dev"], "hub-prod", Claim("dev", "tenantry/dev"))
    monkeypatch.setattr(connect, "connect", lambda *_: hub.client())
    recording, message = run({"environment": "prod"}, stack="dev")
    assert recording.registered == []
    assert message.startswith("stack 'tenantry/dev' runs environment 'dev', and would delete all of it for 'prod'\n")


STATE = [
    f"urn:pulumi:dev::tenantry::{each}"
    for each in (
        "pulumi:pulumi:Stack::tenantry-dev",
        "tenantry:index:Fleet::dev",
        "tenantry:index:Fleet$kubernetes:core/v1:ConfigMap::tenantry-system/tenantry-dev",
        "tenantry:index:Fleet$tenantry:index:Cluster$kubernetes:core/v1:ServiceAccount::kamaji/tenantry-platform",
        "tenantry:index:Fleet$tenantry:index:Tenant::movy",
        "tenantry:index:Fleet$tenantry:index:Tenant$kubernetes:core/v1:Namespace::movy",
        "tenantry:index:Fleet$tenantry:index:Tenant::rocky",
    )
]


@pytest.mark.parametrize(
    ("config", "state", "expected"),
    [
        ({}, STATE, ""),
        ({"environment": "prod"}, [], ""),
        (
            {"environment": "prod"},
            STATE,
            "the state of stack 'tenantry/dev' holds environment 'dev', which it would delete for 'prod'",
        ),
    ],
)
def test_without_its_claim_a_stack_that_is_told_to_run_something_else_asks_its_state(
    monkeypatch: pytest.MonkeyPatch, config: dict[str, str], state: list[str], expected: str
) -> None:
    environment = config.get("environment", "dev")
    hub, told = hub_with(PLANS[environment], PLANS[environment].management), list[str]()
    monkeypatch.setattr(connect, "connect", lambda *_: hub.client())
    monkeypatch.setattr(pulumi.log, "warn", told.append)
    recording, message = run(config, stack="dev", state=state)
    assert any("was deleted\n  fix: write it again" in each for each in told) == (not config)
    assert (message.startswith(expected), bool(recording.registered)) == (True, not expected)


def test_a_stack_keeps_its_claim_on_the_management_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "connect", lambda *_: hub_with(PLANS["dev"]).client())
    recording, message = run({}, stack="dev")
    assert message == ""
    claims = [each.inputs["data"] for each in recording.objects if each.key.name == "tenantry-system/tenantry-dev"]
    assert claims == [{"environment": "dev", "stack": "tenantry/dev"}]


@pytest.fixture
def gated(tmp_path: Path) -> Path:
    """The fleet with a gate between dev and prod."""
    file = tmp_path / "tenants.yaml"
    text = (ROOT / "tenants.yaml").read_text()
    file.write_text(text.replace("management: hub-prod", f"management: hub-prod\n    after: {GATE}", 1))
    return file


@pytest.mark.parametrize("preview", [False, True])
def test_an_environment_before_that_cannot_be_asked_ends_a_run_and_no_preview(
    monkeypatch: pytest.MonkeyPatch, gated: Path, *, preview: bool
) -> None:
    warned = list[str]()
    monkeypatch.setattr(connect, "connect", lambda *_: hub_with(PLANS["prod"], "hub-prod").client())
    monkeypatch.setattr(pulumi.log, "warn", warned.append)
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: preview)
    missing = Comparison(differences=[Difference(each, None) for each in PLANS["prod"].objects])
    monkeypatch.setattr("components.run.compare_with_cluster", lambda *_: missing)
    recording, message = run({"fleet": str(gated)}, stack="prod")
    text = warned[-1] if warned else message
    assert (bool(recording.registered), message == "") == (preview, preview)
    assert text.startswith("it is not known whether 'dev'")


def test_an_emergency_names_lines_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "connect", lambda *_: hub_with(PLANS["prod"], "hub-prod").client())
    monkeypatch.setenv("TENANTRY_IGNORE", "prod waves rocky/wep")
    recording, message = run({"fleet": str(ROOT / "tenants.yaml")}, stack="prod")
    assert recording.registered == []
    assert message.startswith("environment 'prod' has no line 'rocky/wep'; there: ")
    monkeypatch.setenv("TENANTRY_IGNORE", "dev waves rocky/wep")
    assert run({"fleet": str(ROOT / "tenants.yaml")}, stack="prod")[1] == ""


def test_what_a_tenant_made_first_costs_its_own_objects_and_nobody_else_s(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = hub_with(plan := PLANS["dev"])
    (mine,) = (dict(each.manifest) for each in plan.objects if str(each.id) == "Kustomization rocky/web")
    theirs = {**mine, "metadata": {"name": "web", "namespace": "rocky"}}
    items = memory.objects["/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations"]["items"]
    items[items.index(mine)] = theirs
    monkeypatch.setattr(connect, "connect", lambda *_: memory.client())
    monkeypatch.setattr(
        "components.run.compare_with_cluster", lambda *of: Comparison(unfit=dict.fromkeys(of[-1], theirs))
    )
    runs: list[Run] = []
    record(lambda: runs.append(run_of("dev", ROOT / "tenants.yaml")), stack="dev", config={})
    (made,) = runs
    assert [*map(str, made.change.changed)] == ["Kustomization rocky/web"]
    (reason,) = blocked(made.change, made.evidence, made.now()).values()
    assert reason.message == (
        "Kustomization rocky/web exists already on 'hub-dev' outside of environment 'dev': tenant 'rocky' would take it over\n"
        "    to let the tenant take it over, set 'adopt: true' under tenants.rocky; or, if it is new, rename the tenant"
    )
