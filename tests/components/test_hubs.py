"""What a run of an environment with two management clusters registers, asks and refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.stack import run as program
from tenantry.cluster import connect
from tenantry.cluster.client import Client
from tenantry.cluster.inventory import APP_KINDS
from tenantry.guard.claims import Claim, claim_object, claimed
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import UNREACHABLE, Refused
from tenantry.plan.plan import Plan
from tenantry.stacks.outcome import OUTCOME_FILE
from tests.components.recording import Recording, record
from tests.unit.memory import Memory, held, hold, list_of
from tests.unit.texts import planned

TEXT = re.sub(r"\n    rollout:.*", "", (Path(__file__).parents[1] / "e2e/fleets/hubs/tenants.yaml").read_text())
PLAN = planned(TEXT)
HUBS = {"hubs": json.dumps({"hub-eu": {"context": "eu"}, "hub-us": {"context": "us"}})}
CLAIM = Claim("dev", "tenantry/dev")


class World:
    """The two management clusters, by context, and the stack's state."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        self.hubs = {"eu": hub("hub-eu"), "us": hub("hub-us")}
        self.down: set[str] = set()
        self.contacted: set[str] = set()
        self.state: list[dict[str, Any]] = []
        self.file = tmp_path / "tenants.yaml"
        monkeypatch.setattr(connect, "connect", self._connect)
        monkeypatch.setattr("components.run.restoring", lambda *_: None)
        monkeypatch.setattr("components.run.resources_in_state", lambda: self.state)
        monkeypatch.setattr("components.state.resources_in_state", lambda: self.state)

    def _connect(self, _: Path | None, context: str | None, __: float) -> Client:
        assert context
        self.contacted.add(context)
        if context in self.down:
            raise Refused(
                f"cluster {context} did not answer in time", "pulumi config set tenantry:context NAME", code=UNREACHABLE
            )
        return self.hubs[context].client(f"https://{context}.example.com")

    def holds(self, plan: Plan = PLAN) -> None:
        """Both clusters and the state hold a plan."""
        whole = claimed(plan, "tenantry-system", CLAIM)
        for name, memory in self.hubs.items():
            hold(memory, whole.only([f"hub-{name}"]))
        self.state = [*map(resource, whole.objects)]

    def run(self, text: str = TEXT, **config: str) -> tuple[Recording, str]:
        self.file.write_text(text)
        messages: list[str] = []

        def build() -> None:
            try:
                program()
            except pulumi.RunError as error:
                messages.append(str(error))

        settings = {"fleet": str(self.file), **HUBS, **config}
        urns = [each["urn"] for each in self.state]
        found = record(build, config={f"tenantry:{key}": value for key, value in settings.items()}, state=urns)
        return found, "".join(messages)


def hub(name: str) -> Memory:
    memory = Memory()
    path = "/api/v1/namespaces/tenantry-system/configmaps/tenantry"
    memory.objects[path] = {"metadata": {"name": "tenantry"}, "data": {"cluster": name}}
    for kind, version in APP_KINDS.items():
        memory.objects[list_of(ObjectId(version, kind, "", ""))] = {"metadata": {}, "items": []}
    return memory


def resource(each: Any) -> dict[str, Any]:
    """An object as the state has it."""
    tenant, cluster = each.owner
    types = "tenantry:index:Fleet$tenantry:index:Tenant$tenantry:index:Placement"
    kind = f"kubernetes:{each.id.api_version if '/' in each.id.api_version else 'core/v1'}:{each.id.kind}"
    return {
        "urn": f"urn:pulumi:dev::tenantry::{types}${kind}::{each.logical_name}",
        "type": kind,
        "inputs": dict(each.manifest),
        "parent": f"urn:pulumi:dev::tenantry::{types}::{tenant}/{cluster}" if tenant else "",
        "provider": f"urn:pulumi:dev::tenantry::pulumi:providers:kubernetes::management/{each.hub}::1",
    }


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    return World(monkeypatch, tmp_path)


def names(found: Iterable[Any]) -> set[str]:
    return {each.key.name for each in found}


def test_each_object_goes_to_its_management_cluster(world: World) -> None:
    found, message = world.run()
    assert message == ""
    assert names(found.objects) == {
        *(each.logical_name for each in PLAN.objects),
        *(f"{name}/tenantry-system/tenantry-dev" for name in PLAN.hubs),
    }
    assert {each.key.name.partition("/")[0]: each.provider and each.provider.name for each in found.objects} == {
        "hub-eu": "management/hub-eu",
        "hub-us": "management/hub-us",
    }
    providers = {
        each.key.name: each.inputs for each in found.registered if each.key.type.startswith("pulumi:providers")
    }
    assert {name: (each["context"], each["clusterIdentifier"]) for name, each in providers.items()} == {
        "management/hub-eu": ("eu", "hub-eu"),
        "management/hub-us": ("us", "hub-us"),
    }


SETTINGS: dict[str, tuple[dict[str, str], str]] = {
    "nothing": (
        {"hubs": ""},
        "environment 'dev' has several management clusters, and the stack's config does not say how to reach hub-eu, hub-us\n"
        "  fix: pulumi config set --stack dev --path 'tenantry:hubs.hub-eu.context' NAME\n"
        "       pulumi config set --stack dev --path 'tenantry:hubs.hub-us.context' NAME",
    ),
    "another name": (
        {"hubs": '{"hub-eu": {"context": "eu"}, "hub-us": {"context": "us"}, "hub": {"context": "x"}}'},
        "tenantry:hubs names 'hub', which is no management cluster of environment 'dev' (these are hub-eu, hub-us)\n"
        "  fix: pulumi config rm --stack dev --path 'tenantry:hubs.hub'",
    ),
    "the only one": (
        {"context": "eu"},
        "tenantry:context is for environments with one management cluster, and 'dev' has 2\n"
        "  fix: pulumi config rm --stack dev tenantry:context; pulumi config set --stack dev --path"
        " 'tenantry:hubs.hub-eu.context' NAME",
    ),
    "leaves out both": (
        {"without": '["hub-eu", "hub-us"]'},
        "nothing is left of environment 'dev' without hub-eu, hub-us\n"
        "  fix: leave out fewer management clusters; or: pulumi config rm --stack dev tenantry:without",
    ),
}


@pytest.mark.parametrize(("config", "message"), SETTINGS.values(), ids=SETTINGS)
def test_a_setting_that_does_not_fit_is_told_with_the_line_to_type(
    world: World, config: dict[str, str], message: str
) -> None:
    found, said = world.run(**config)
    assert (found.registered, said) == ([], message)


def test_one_that_does_not_answer_ends_the_run_before_anything_is_registered(world: World) -> None:
    world.down = {"us"}
    found, message = world.run()
    assert found.registered == []
    assert message == (
        "hub-us: cluster us did not answer in time\n"
        "  fix: pulumi config set --stack dev --path 'tenantry:hubs.hub-us.context' NAME; to leave what is there as it is: tenantry"
        " up --environment dev --without hub-us (pulumi config set --stack dev --path 'tenantry:without[0]' hub-us)"
    )


def test_what_is_left_out_is_registered_as_the_state_has_it_and_not_contacted(world: World) -> None:
    world.holds()
    gone = next(each for each in PLAN.objects if each.id.kind == "Kustomization" and each.hub == "hub-us")
    new = TEXT.replace("web: {kustomize:", "shop: {kustomize:")
    world.down = {"us"}
    found, message = world.run(new, without='["hub-us"]', allowDeletions='["app/edge-eu/world/web"]')
    assert message == ""
    assert world.contacted == {"eu"}
    on_us = {each.key.name for each in found.objects if each.key.name.startswith("hub-us/")}
    assert on_us == {each["urn"].rpartition("::")[2] for each in world.state if "/hub-us::" in each["provider"]}
    assert gone.logical_name in on_us
    assert not any("shop" in name for name in on_us)
    asked = [each for each in found.requests if getattr(each, "name", "").startswith("hub-us/")]
    assert all(list(each.ignoreChanges) == ["*"] for each in asked)


def test_a_cluster_that_changes_its_management_cluster_is_refused(world: World) -> None:
    world.holds()
    moved = TEXT.replace("edge-us: {group: edge, management: hub-us}", "edge-us: {group: edge, management: hub-eu}")
    for config in ({}, {"without": '["hub-us"]'}):
        found, message = world.run(moved, **config)
        assert found.registered == []
        assert (
            "cluster 'edge-us' would be managed by 'hub-eu', and 'hub-us' has objects for it: both would act on it"
            in message
        )


def test_everything_on_one_of_them_counts_as_everything(world: World) -> None:
    world.holds()
    _, message = world.run(TEXT.replace("{names: [edge-eu, edge-us]}", "{names: [edge-eu]}"))
    assert "this run would remove every tenant of environment 'dev' on management cluster 'hub-us'" in message


def test_one_that_leaves_the_environment_with_objects_is_refused(world: World) -> None:
    world.holds()
    text = TEXT.replace("[hub-eu, hub-us]", "[hub-eu, hub-ap]").replace("hub-us", "hub-ap")
    world.hubs["us"].objects["/api/v1/namespaces/tenantry-system/configmaps/tenantry"]["data"] = {"cluster": "hub-ap"}
    hubs = json.dumps({"hub-eu": {"context": "eu"}, "hub-ap": {"context": "us"}})
    found, message = world.run(text, hubs=hubs)
    assert found.registered == []
    assert "management cluster 'hub-us' would leave environment 'dev'" in message or "both would act on it" in message


ALONE = TEXT.replace("[hub-eu, hub-us]", "hub-eu").replace("  hub-us: {environments: [dev]}\n", "")
ALONE = ALONE.replace("  edge-us: {group: edge, management: hub-us}\n", "").replace(", edge-us]", "]")
ALONE = ALONE.replace(", management: hub-eu", "")
"""The fleet when hub-eu is its only management cluster."""


def had_one(world: World, text: str = ALONE) -> Iterable[Any]:
    """What the environment had when hub-eu was its only management cluster: on that one, and in the state."""
    of_eu = claimed(planned(text), "tenantry-system", CLAIM).objects
    for each in of_eu:
        world.state.append(
            {**resource(each), "provider": "urn:pulumi:dev::tenantry::pulumi:providers:kubernetes::management::1"}
        )
    provider = "urn:pulumi:dev::tenantry::pulumi:providers:kubernetes::management"
    world.state.append(
        {"urn": provider, "type": "pulumi:providers:kubernetes", "inputs": {"clusterIdentifier": "hub-eu"}}
    )
    hold(world.hubs["eu"], Plan("dev", ("hub-eu",), tuple(of_eu), (), ()))
    return of_eu


def test_the_one_that_was_alone_is_not_left_out_before_its_objects_have_its_name(world: World) -> None:
    had_one(world)
    found, message = world.run(without='["hub-eu"]')
    assert found.registered == []
    assert message == (
        "'hub-eu' was the only management cluster of environment 'dev', and its objects do not have its name in the state yet:"
        " this run cannot leave it out\n  fix: tenantry up --environment dev"
    )


def test_an_environment_that_gets_a_second_one_keeps_its_objects(world: World) -> None:
    of_eu = had_one(world)
    found, message = world.run()
    assert message == ""
    requests = {
        each.name: [alias.spec.name for alias in each.aliases] for each in found.requests if hasattr(each, "aliases")
    }
    kept = {f"hub-eu/{each.logical_name}": [each.logical_name] for each in of_eu}
    assert {name: aliases for name, aliases in requests.items() if aliases} == {
        **kept,
        "management/hub-eu": ["management"],
    }


def test_a_secret_without_a_value_stays_in_the_run_in_which_it_gets_another_name(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def with_credentials(text: str) -> str:
        return text.replace("  world:\n", "  world:\n    credentials: {git: {keys: [token]}}\n").replace(
            "interval: 1h}}", "interval: 1h}, credentials: git}"
        )

    monkeypatch.setenv(OUTCOME_FILE, str(tmp_path / "outcome"))
    had_one(world, with_credentials(ALONE))
    secret = "clusters/world.git"
    world.hubs["eu"].objects["/api/v1/namespaces/clusters/secrets/world.git"] = {"metadata": {"name": "world.git"}}
    found, _ = world.run(with_credentials(TEXT))
    [sent] = (each for each in found.requests if getattr(each, "name", "") == f"hub-eu/{secret}")
    assert ([alias.spec.name for alias in sent.aliases], [*sent.ignoreChanges]) == ([secret], ["*"])


def test_a_run_that_goes_on_with_new_names_finds_what_still_has_the_former_ones(world: World) -> None:
    """A run that does not end well leaves the provider with its new name, and some objects with the former ones."""
    of_eu = had_one(world)
    world.state.pop()
    for each in world.state:
        each["provider"] = each["provider"].replace("management::1", "management/hub-eu::1")
    found, message = world.run()
    assert message == ""
    former = {each.name: each.aliases[0].spec.name for each in found.requests if getattr(each, "aliases", None)}
    assert former == {f"hub-eu/{each.logical_name}": each.logical_name for each in of_eu}
    assert "its objects do not have its name" in world.run(without='["hub-eu"]')[1]


def test_nothing_is_removed_in_the_run_that_gives_objects_their_new_names(world: World) -> None:
    """The checks would not find it in the state, and take it for what a tenant has made."""
    had_one(world)
    found, message = world.run(
        TEXT.replace("web: {kustomize:", "shop: {kustomize:"), allowDeletions='["app/edge-eu/world/web"]'
    )
    assert found.registered == []
    assert "and remove 1 object under the former ones, which nobody has looked at" in message


def test_an_environment_that_keeps_one_finds_its_objects_also_after_a_run_that_did_not_end_well(world: World) -> None:
    of_eu = had_one(world)
    for each in world.state:
        start, _, name = each["urn"].rpartition("::")
        each["urn"] = f"{start}::hub-eu/{name}"
    claims = [held(claim_object("tenantry-system", replace(CLAIM, hubs=("hub-eu", "hub-us"))))]
    world.hubs["eu"].objects["/api/v1/namespaces/tenantry-system/configmaps"] = {"metadata": {}, "items": claims}
    found, message = world.run(ALONE, hubs="", context="eu")
    assert message == ""
    former = {each.name: each.aliases[0].spec.name for each in found.requests if getattr(each, "aliases", None)}
    assert former == {each.logical_name: f"hub-eu/{each.logical_name}" for each in of_eu}
    [sent] = [each for each in found.objects if each.key.name == "tenantry-system/tenantry-dev"]
    assert sent.inputs["data"]["hubs"] == "hub-eu,hub-us"


def test_an_identity_says_where_an_object_is() -> None:
    id = ObjectId("v1", "Namespace", "", "world", "hub-us")
    assert (str(id), id.logical_name) == ("Namespace world on hub-us", "hub-us/world")
