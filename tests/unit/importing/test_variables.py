"""What differs between places is an override of an app, and a variable where a part of the file has no overrides."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.importing.documents import document_of
from tenantry.importing.drafting import drafted
from tenantry.importing.overlay import DIFFER, Variables, unified
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


def test_each_environment_says_what_differs() -> None:
    addon = data(dev={"dns": {"path": "./a"}}, prod={"dns": {"path": "./b"}})["platform"]["addons"]["dns"]
    assert [each["when"]["environments"] for each in addon["overrides"]] == [["dev"], ["prod"]]


def test_a_variable_is_named_after_its_place_and_shared_by_the_same_values() -> None:
    variables = Variables()

    def one(owner: str, **texts: str) -> Any:
        values = {Place(each, each): {"tag": text} for each, text in texts.items()}
        return unified(values, variables.named(owner, "source"))

    assert one("rocky", dev="1", prod="2") == {"tag": "{rocky_source_tag}"}
    assert one("bolt", dev="1", prod="2") == {"tag": "{rocky_source_tag}"}
    assert one("acme", dev="1", prod="3") == {"tag": "{acme_source_tag}"}
    assert one("web", dev="{{x}}", prod="3") is DIFFER
    assert variables.environments == {
        "dev": {"rocky_source_tag": "1", "acme_source_tag": "1"},
        "prod": {"rocky_source_tag": "2", "acme_source_tag": "3"},
    }


def test_a_name_in_braces_is_text_where_it_holds_the_name_of_its_place() -> None:
    texts = ("{{a-%s}}", "{{%s}}", "{%s:x}")
    assert all(unified({Place(each, each): text % each for each in ("dev", "prod")}) is DIFFER for text in texts)
    found = {Place(each, each): f"{{a: {each}.x}} {{{{b}}}} {{{{ .x }}}}-{each}" for each in ("dev", "prod")}
    assert unified(found) == "{a: {env}.x} {{b}} {{ .x }}-{env}"


def test_a_key_that_is_a_placeholder_already_names_no_variable() -> None:
    places = {Place("dev", "a"): {"app": "1"}, Place("prod", "b"): {"app": "2"}}
    assert unified(places, Variables().named()) == {"app": "{app_2}"}


def test_a_variable_that_nothing_names_goes() -> None:
    variables = Variables()
    unified({Place("dev", "a"): "1", Place("prod", "b"): "2"}, variables.named("rocky", "namespace"))
    variables.used_in({"tenants": {"rocky": "{{rocky_namespace}}"}})
    assert not any(variables.environments.values())
