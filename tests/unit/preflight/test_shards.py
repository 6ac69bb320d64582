"""Which shards of Flux's controllers nobody serves, or several do."""

from __future__ import annotations

from typing import Any

from tenantry.kube.values import selects
from tenantry.messages.errors import Problem
from tenantry.preflight.controllers import check_shards
from tests.table import table
from tests.unit.preflight.test_lockdown import deployment
from tests.unit.texts import planned, rocky

KEY = "sharding.fluxcd.io/key"
CONTROLLERS = ("source-controller", "kustomize-controller", "helm-controller")
TEXT = rocky("web: {kustomize: {source: manifests}}", "clusters: {names: [hub]}")
SHARDED = TEXT.replace("hub: {", "hub: {shard: a, ")


def set_of(selector: str = "", suffix: str = "") -> list[dict[str, Any]]:
    flags = [f"--watch-label-selector={selector}"] if selector else []
    images = {each: f"ghcr.io/fluxcd/{each}:v1" for each in CONTROLLERS}
    return [
        deployment(each + suffix, *flags, f"--storage-adv-addr={each}{suffix}.$(RUNTIME_NAMESPACE).svc", image=image)
        for each, image in images.items()
    ]


def told(text: str, *deployments: dict[str, Any]) -> list[Problem]:
    return list(check_shards(deployments, planned(text)))


@table(
    ("text", "running"),
    [
        (TEXT, []),
        (TEXT, set_of()),
        (TEXT, [*set_of(f"!{KEY}"), *set_of(f"{KEY}=a", "-a")]),
        (SHARDED, []),
        (SHARDED, [*set_of(f"!{KEY}"), *set_of(f"{KEY}=a", "-a")]),
        (SHARDED, [*set_of(f"{KEY} notin (a)"), *set_of(f"{KEY} in (a, b)", "-a")]),
        (SHARDED, set_of("cannot be read (")),
        # Not sharded, but installed twice, each for its own namespace.
        (TEXT, [*set_of(), deployment("kustomize-controller", "--watch-all-namespaces=false")]),
    ],
)
def test_shards_with_controllers_of_their_own_are_no_news(text: str, running: list[dict[str, Any]]) -> None:
    assert told(text, *running) == []


def test_a_shard_that_no_controller_watches_is_told_with_an_object_that_would_stay_as_it_is() -> None:
    running = [*set_of(f"!{KEY}"), *set_of(f"{KEY}=a", "-a")]
    running[4]["spec"]["replicas"] = 0  # of kustomize-controller-a
    (problem,) = told(SHARDED, *running)
    assert (problem.severity, problem.code) == ("warning", "no-shard")
    assert problem.message == (
        "no kustomize-controller on 'hub' takes objects of shard 'a': 1 object would not be reconciled,"
        " such as Kustomization rocky/web"
    )
    assert problem.fix == (
        "run one with --watch-label-selector=sharding.fluxcd.io/key=a beside the others,"
        " or correct 'shard' of the cluster"
    )


def test_objects_without_a_shard_need_controllers_too() -> None:
    messages = [each.message.partition(":")[0] for each in told(TEXT, *set_of(f"{KEY}=a", "-a"))]
    assert messages == [
        "no source-controller on 'hub' takes objects without a shard",
        "no kustomize-controller on 'hub' takes objects without a shard",
    ]


@table(
    ("selector", "expected"),
    [
        ("", (True, True, True)),
        (KEY, (False, True, True)),
        (f"!{KEY}", (True, False, False)),
        (f"{KEY}==a", (False, True, False)),
        (f"{KEY} != a", (True, False, True)),
        (f"{KEY} in (a,b), !x", (False, True, False)),
        (f"{KEY} notin (a)", (True, False, True)),
        (f"{KEY}=a,x=y", (False, False, False)),
        ("%", (None, None, None)),
        ("a b", (None, None, None)),
    ],
)
def test_selectors_of_flags_mean_what_they_mean_to_kubernetes(selector: str, expected: tuple[bool | None, ...]) -> None:
    assert tuple(selects(selector, labels) for labels in ({}, {KEY: "a"}, {KEY: "c"})) == expected
