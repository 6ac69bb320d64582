"""What differs between places is an override."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.importing.documents import document_of
from tenantry.importing.drafting import drafted
from tenantry.importing.entries import overlaid
from tenantry.importing.resources import Place, Reading, inventory

SOURCE = {
    "apiVersion": "source.toolkit.fluxcd.io/v1",
    "kind": "GitRepository",
    "metadata": {"name": "fleet", "namespace": "flux-system"},
    "spec": {"interval": "1m", "url": "https://git.example.com/fleet", "ref": {"branch": "main"}},
}


def kustomization(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    source = {"kind": "GitRepository", "name": "fleet"}
    return {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": name, "namespace": "flux-system"},
        "spec": {"interval": "5m", "prune": True, "wait": True, "path": f"./{name}", "sourceRef": source, **spec},
    }


def data(**specs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The document of Kustomizations in several environments. Args: specs: of each environment, what each of them says there."""
    objects = {
        environment: [
            document_of(each, "x", "x") for each in (SOURCE, *(kustomization(*item) for item in found.items()))
        ]
        for environment, found in specs.items()
    }
    return dict(
        drafted(
            inventory({name: Reading(own) for name, own in objects.items()}, {each: f"{each}-hub" for each in specs})
        ).data
    )


def in_region(region: str) -> dict[str, Any]:
    return {"postBuild": {"substitute": {"region": region}}}


@pytest.mark.parametrize(
    ("names", "dev", "prod"),
    [
        (("dns", "logs"), in_region("north"), in_region("south")),
        (("dns", "logs", "mesh"), {"deletionPolicy": "Orphan"}, {"deletionPolicy": "Delete"}),
        (("dns", "logs", "mesh"), {"timeout": "1m"}, {"timeout": "2m"}),
        (("dns", "logs", "mesh"), in_region("${a}"), in_region("${b}")),
    ],
)
def test_what_differs_in_several_apps_is_an_override_of_each(
    names: tuple[str, ...], dev: dict[str, Any], prod: dict[str, Any]
) -> None:
    document = data(dev=dict.fromkeys(names, dev), prod=dict.fromkeys(names, prod))
    assert not any("variables" in each for each in document["environments"].values())
    assert all("overrides" in each for each in document["platform"]["addons"].values())


def test_the_first_environment_is_the_base_and_another_says_what_differs() -> None:
    addon = data(dev={"dns": {"path": "./a"}}, prod={"dns": {"path": "./b"}})["platform"]["addons"]["dns"]
    assert addon["kustomize"]["path"] == "./a"
    assert addon["overrides"] == [{"when": {"environments": ["prod"]}, "kustomize": {"path": "./b"}}]


def test_a_mapping_is_no_base_of_an_empty_one_which_would_be_merged_with_it() -> None:
    values = {Place("dev", "a"): {"labels": {"a": "b"}}, Place("prod", "b"): {"labels": {}}}
    assert overlaid(values).entry == {
        "overrides": [
            {"when": {"environments": ["dev"]}, "labels": {"a": "b"}},
            {"when": {"environments": ["prod"]}, "labels": {}},
        ]
    }


def test_the_source_of_an_addon_differs_by_an_override() -> None:
    objects = {}
    for name, tag in {"dev": "v2", "prod": "v1"}.items():
        source = {**SOURCE, "spec": {**SOURCE["spec"], "ref": {"tag": tag}}}
        objects[name] = [document_of(each, "x", "x") for each in (source, kustomization("dns", {}))]
    readings = {name: Reading(own) for name, own in objects.items()}
    draft = drafted(inventory(readings, {name: f"{name}-hub" for name in objects}))
    addon = draft.data["platform"]["addons"]["dns"]
    assert addon["source"]["git"]["ref"] == {"tag": "v2"}
    assert addon["overrides"] == [{"when": {"environments": ["prod"]}, "source": {"git": {"ref": {"tag": "v1"}}}}]
    assert {str(each.path) for each in draft.resources if each.kind == "Kustomization"} == {
        "('platform', 'addons', 'dns')"
    }
