"""What Flux would read with rights of its own is found in every kind's schema, so that no field is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenantry.flux.references import list_paths, references, renamed, secret_paths
from tenantry.flux.schemas import schema_of
from tenantry.model import (
    SOURCE_KINDS,
    Alert,
    FluxBlock,
    HelmPatch,
    KustomizePatch,
    Provider,
    Receiver,
)
from tests.table import table

BLOCKS: tuple[type[FluxBlock], ...] = (
    KustomizePatch,
    HelmPatch,
    *SOURCE_KINDS.values(),
    Alert,
    Provider,
    Receiver,
)
PLANNED = sorted({*(block.flux_kind for block in BLOCKS), *(kind for block in BLOCKS for kind in block.parts)})


def fields(schema: dict[str, Any], at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every field of a schema, those of lists' entries included."""
    for key, part in schema.get("properties", {}).items():
        yield (*at, key)
        yield from fields(part, (*at, key))
        yield from fields(part.get("items", {}), (*at, key, "[]"))


@table("kind", PLANNED)
def test_every_field_that_names_a_secret_or_a_config_map_is_known(kind: str) -> None:
    named = {
        path
        for path in fields(schema_of(kind).spec)
        if "kubeConfig" not in path and any(word in path[-1].lower() for word in ("secretref", "configmapref"))
    }
    assert named == set(secret_paths(kind))


@table("block", BLOCKS, ids=lambda block: block.__name__)
def test_no_author_names_a_service_account(block: type[FluxBlock]) -> None:
    named = {path for path in fields(schema_of(block.flux_kind).spec) if path[-1].lower().startswith("serviceaccount")}
    assert {".".join(path) for path in named} <= block.owned.keys()


def test_lists_of_references_are_known() -> None:
    assert (list_paths("Kustomization"), list_paths("HelmRelease")) == (
        (("postBuild", "substituteFrom"),),
        (("valuesFrom",),),
    )


def test_the_kubeconfig_is_none_of_them() -> None:
    assert list(references("Kustomization", {"kubeConfig": {"secretRef": {"name": "edge-admin-kubeconfig"}}})) == []


def test_what_has_another_shape_is_left_to_others() -> None:
    assert (
        list(
            references("HelmRelease", {"valuesFrom": [1, {"kind": "Pod", "name": "a"}, {"kind": "Secret", "name": 1}]})
        )
        == []
    )
    assert list(references("Kustomization", {"decryption": "sops", "postBuild": {"substituteFrom": {}}})) == []


def test_names_are_replaced_and_the_original_stays() -> None:
    spec = {
        "decryption": {"provider": "sops", "secretRef": {"name": "sops"}},
        "postBuild": {"substituteFrom": [{"kind": "ConfigMap", "name": "a"}, {"kind": "Secret", "name": "b"}]},
    }
    assert renamed("Kustomization", spec, lambda kind, name: f"{kind}-{name}") == {
        "decryption": {"provider": "sops", "secretRef": {"name": "Secret-sops"}},
        "postBuild": {
            "substituteFrom": [{"kind": "ConfigMap", "name": "ConfigMap-a"}, {"kind": "Secret", "name": "Secret-b"}]
        },
    }
    assert spec["decryption"] == {"provider": "sops", "secretRef": {"name": "sops"}}
