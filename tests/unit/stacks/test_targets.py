"""What a preview of one tenant is confined to."""

from __future__ import annotations

from tenantry.stacks.targets import targets_of
from tests.unit.texts import planned, rocky

TEXT = rocky("web: {kustomize: {source: manifests}, dependsOn: [platform/dns]}", "clusters: {names: [edge]}")
ADDON = "addons: {dns: {clusters: {all: true}, source: {git: {url: https://git.example.com/dns, ref: {tag: v1}}}, kustomize: {}}}"
TEXT = TEXT.replace("platform: {", f"platform: {{{ADDON}, ")


def patterns(text: str) -> list[str]:
    return [each for each in targets_of(planned(text), "rocky", "dev", "fleet") if each.startswith("**")]


def test_a_tenant_is_confined_to_its_own_objects() -> None:
    assert patterns(TEXT) == ["**::*/*-rocky-**", "**::rocky/**"]
