"""What most apps of a kind say is said once, and plans the same."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tenantry.importing.alike import with_shared_blocks
from tenantry.importing.model import Draft
from tenantry.importing.settle import planned

SOURCE = {"git": {"url": "https://git.example.com/a", "ref": {"branch": "main"}}}


def addon(number: int, **block: Any) -> dict[str, Any]:
    substitute = {"region": "eu", "number": str(number)}
    block = {"path": f"./{number}", "postBuild": {"substitute": substitute}, **block}
    return {"clusters": {"all": True}, "source": SOURCE, "kustomize": block}


def app() -> dict[str, Any]:
    return {"kustomize": {"source": "manifests", "wait": False}}


FLEET: dict[str, Any] = {
    "apiVersion": "tenantry/v1",
    "environments": {"dev": {"management": "hub"}},
    "clusters": {"hub": {"environments": ["dev"]}},
    "platform": {"addons": {f"a{number}": addon(number, wait=False) for number in range(4)} | {"other": addon(9)}},
    "defaults": {"clusters": {"all": True}},
    "tenants": {"rocky": {"sources": {"manifests": SOURCE}, "apps": {"one": app(), "two": app()}}},
}


def shared() -> dict[str, Any]:
    return dict(with_shared_blocks(Draft(deepcopy(FLEET), (), ())).data)


def test_what_most_add_ons_say_stands_once() -> None:
    platform = shared()["platform"]
    assert platform["kustomize"] == {"wait": False, "postBuild": {"substitute": {"region": "eu"}}}
    assert platform["addons"]["a1"]["kustomize"] == {"path": "./1", "postBuild": {"substitute": {"number": "1"}}}


def test_null_takes_it_from_those_that_do_not_say_it() -> None:
    assert shared()["platform"]["addons"]["other"]["kustomize"]["wait"] is None


def test_the_same_objects_are_planned() -> None:
    before, after = ({each.id: each.manifest for each in planned(data)["dev"].objects} for data in (FLEET, shared()))
    assert before == after


def test_two_apps_say_it_themselves() -> None:
    assert (shared()["tenants"], shared()["defaults"]) == (FLEET["tenants"], FLEET["defaults"])


def test_a_mapping_of_which_all_is_shared_goes() -> None:
    charts = {"helm": {"url": "https://charts.example.com"}}
    addons = {
        f"a{number}": {
            "clusters": {"all": True},
            "source": charts,
            "helm": {
                "chart": "a",
                "version": "1.0.0",
                "values": {"image": {"pull": "Always", **extra}, "port": number},
            },
        }
        for number, extra in enumerate(({}, {"tag": "1"}, {"tag": "2"}))
    }
    draft = Draft({**deepcopy(FLEET), "platform": {"addons": addons}}, (), ())
    platform = with_shared_blocks(draft).data["platform"]
    assert platform["helm"]["values"] == {"image": {"pull": "Always"}}
    assert [each["helm"]["values"] for each in platform["addons"].values()] == [
        {"port": 0},
        {"image": {"tag": "1"}, "port": 1},
        {"image": {"tag": "2"}, "port": 2},
    ]


def test_one_that_says_nothing_else_is_left_without_the_mapping() -> None:
    fleet = deepcopy(FLEET)
    del fleet["platform"]["addons"]["a0"]["kustomize"]["postBuild"]["substitute"]["number"]
    platform = with_shared_blocks(Draft(fleet, (), ())).data["platform"]
    assert platform["kustomize"]["postBuild"] == {"substitute": {"region": "eu"}}
    assert platform["addons"]["a0"]["kustomize"] == {"path": "./0"}
