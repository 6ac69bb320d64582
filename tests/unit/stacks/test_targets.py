"""What a preview of one tenant is confined to."""

from __future__ import annotations

from tenantry.stacks.targets import targets_of
from tests.unit.texts import planned, rocky

TEXT = rocky("web: {kustomize: {source: manifests}, dependsOn: [platform/dns]}", "clusters: {names: [edge]}")
ADDON = "addons: {dns: {clusters: {all: true}, source: {git: {url: https://git.example.com/dns, ref: {tag: v1}}}, kustomize: {}}}"
TEXT = TEXT.replace("platform: {", f"platform: {{{ADDON}, ")
WAVES = TEXT.replace("dev: {management: hub}", "dev: {management: hub, waves: [{names: [hub]}, {all: true}]}")


def patterns(text: str) -> list[str]:
    return [each for each in targets_of(planned(text), "rocky", "dev", "fleet") if each.startswith("**")]


def dns(text: str) -> list[str]:
    """The objects of the add-on that are targets, by their names."""
    found = (each.rpartition("::") for each in targets_of(planned(text), "rocky", "dev", "fleet"))
    return sorted(name for type_, _, name in found if type_.endswith(":Kustomization") and "dns" in name)


def test_gates_are_targets_with_all_that_they_depend_on() -> None:
    """Without its objects of the first wave, Pulumi refuses a gate that is not in the state yet."""
    own = ["**::*/*-rocky-**", "**::rocky/**"]
    assert patterns(TEXT) == own
    assert patterns(WAVES) == [*own, "**pulumi:index:Stash::rocky/**", "**pulumi:index:Stash::dns/**"]
    assert [len(dns(each)) for each in (TEXT, WAVES)] == [1, 2]
