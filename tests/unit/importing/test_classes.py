"""Tenants that are alike become a class, which plans the same."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tenantry.importing.classes import with_classes, with_groups
from tenantry.importing.model import Draft, written_at
from tenantry.importing.settle import planned


def tenant(name: str, **more: Any) -> dict[str, Any]:
    source = {"git": {"url": f"https://git.example.com/{name}/manifests", "ref": {"branch": "main"}}}
    app = {"kustomize": {"source": "manifests", "path": "./deploy", "interval": "5m"}, "dependsOn": ["db"]}
    database = {"kustomize": {"source": "manifests", "path": f"./{name}/db"}}
    return {
        "network": "open",
        "sources": {"manifests": source},
        "apps": {"web": app, "db": database},
        "adopt": True,
        **more,
    }


def fleet(**tenants: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "tenantry/v1",
        "environments": {"dev": {"management": "hub"}},
        "clusters": {"hub": {"environments": ["dev"]}},
        "defaults": {"clusters": {"all": True}},
        "tenants": tenants,
    }


ALIKE = fleet(rocky=tenant("rocky"), bolt=tenant("bolt", quota={"pods": 9}), acme=tenant("acme"))


def classed(document: dict[str, Any], decisions: dict[tuple[str | int, ...], tuple[str, ...]] | None = None) -> Any:
    return with_classes(Draft(deepcopy(document), (), (), decisions or {})).data


def test_what_tenants_share_is_a_class_and_each_keeps_what_differs() -> None:
    data = classed(ALIKE)
    assert data["tenants"] == {
        "rocky": {"class": "web", "adopt": True},
        "bolt": {"class": "web", "adopt": True, "quota": {"pods": 9}},
        "acme": {"class": "web", "adopt": True},
    }
    made = data["tenantClasses"]["web"]
    assert made["sources"]["manifests"]["git"]["url"] == "https://git.example.com/{tenant}/manifests"
    assert made["apps"]["db"]["kustomize"]["path"] == "./{tenant}/db"


def test_the_same_objects_are_planned() -> None:
    before, after = (
        {each.id: each.manifest for each in planned(data)["dev"].objects} for data in (ALIKE, classed(ALIKE))
    )
    assert before == after


def test_a_part_of_a_tenant_is_found_where_it_is_written() -> None:
    data = classed(ALIKE)
    assert written_at(data, ("tenants", "bolt", "apps", "web")) == ("tenantClasses", "web", "apps", "web")
    assert written_at(data, ("tenants", "bolt", "quota")) == ("tenants", "bolt", "quota")


OTHER = tenant("bolt")["apps"] | {"mail": {"kustomize": {"source": "manifests"}}}
UNALIKE = {
    "another app": fleet(rocky=tenant("rocky"), bolt=tenant("bolt", apps=OTHER)),
    "one tenant": fleet(rocky=tenant("rocky")),
    "little in common": fleet(
        rocky={
            "apps": {"web": {"kustomize": {"source": "a"}}},
            "sources": {"a": tenant("rocky")["sources"]["manifests"]},
        },
        bolt={
            "apps": {"web": {"kustomize": {"source": "a"}}},
            "sources": {"a": tenant("bolt")["sources"]["manifests"]},
        },
    ),
}


@pytest.mark.parametrize("case", UNALIKE)
def test_other_tenants_have_no_class(case: str) -> None:
    assert classed(UNALIKE[case]) == UNALIKE[case]


def test_a_tenant_that_somebody_has_to_decide_about_stays_as_it_is() -> None:
    data = classed(ALIKE, {("tenants", "bolt", "network"): ("decide: ...",)})
    assert ["class" in each for each in data["tenants"].values()] == [True, False, True]


def test_a_selector_is_not_divided() -> None:
    """What a tenant says of its clusters replaces all that its class says of them."""
    apart = [{"names": ["hub"], "exclude": ["a"]}, {"names": ["hub"], "exclude": ["b"]}]
    document = fleet(rocky=tenant("rocky", clusters=apart[0]), bolt=tenant("bolt", clusters=apart[1]))
    for key in ("a", "b"):
        document["clusters"][key] = {
            "environments": ["dev"],
            "kubeconfig": {"capi": {"cluster": key, "namespace": key}},
        }
    document["platform"] = {
        "chart": {"helm": {"url": "oci://registry.example.com/charts", "type": "oci", "version": "1"}}
    }
    data = classed(document)
    assert [each["clusters"] for each in data["tenants"].values()] == apart
    assert data["tenants"]["rocky"]["class"] == "web"


def remote(namespace: str, **more: Any) -> dict[str, Any]:
    return {"environments": ["dev"], "kubeconfig": {"capi": {"cluster": "cluster", "namespace": namespace}}, **more}


def clusters(**entries: dict[str, Any]) -> dict[str, Any]:
    chart = {"helm": {"url": "oci://registry.example.com/charts", "type": "oci", "version": "1"}}
    document = fleet(rocky=tenant("rocky"))
    return {**document, "platform": {"chart": chart}, "clusters": {**document["clusters"], **entries}}


REMOTES = clusters(
    north=remote("north"), south=remote("south"), west=remote("west", shard="b"), edge=remote("somewhere")
)


def grouped(document: dict[str, Any], decisions: dict[tuple[str | int, ...], tuple[str, ...]] | None = None) -> Any:
    return with_groups(Draft(deepcopy(document), (), (), decisions or {})).data


def test_remote_clusters_that_are_reached_in_the_same_way_have_a_group() -> None:
    data = grouped(REMOTES)
    assert data["clusterGroups"] == {"remote": remote("{cluster}")}
    assert data["clusters"] == {
        "hub": {"environments": ["dev"]},
        "north": {"group": "remote"},
        "south": {"group": "remote"},
        "west": {"group": "remote", "shard": "b"},
        "edge": remote("somewhere"),
    }
    before, after = ({each.id: each.manifest for each in planned(each)["dev"].objects} for each in (REMOTES, data))
    assert before == after
    at = ("clusters", "north", "kubeconfig")
    assert written_at(data, at) == ("clusterGroups", "remote", "kubeconfig")


def test_two_clusters_and_one_that_somebody_has_to_decide_about_have_none() -> None:
    two = clusters(north=remote("north"), south=remote("south"))
    assert grouped(two) == two
    assert grouped(REMOTES, {("clusters", "north", "kubeconfig"): ("decide: ...",)}) == REMOTES
