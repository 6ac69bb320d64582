"""Rules about the baseline of tenants' namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, merge, origin
from tenantry.fleet.rules import walk
from tenantry.fleet.rules.tenants import OWNED_LABELS
from tenantry.messages.errors import Finding
from tenantry.model.tenancy import PodSecurity

_OWNED_ANNOTATIONS = (
    *OWNED_LABELS,
    "kubectl.kubernetes.io/",
    "meta.helm.sh/",
    "pulumi.com/",
    "reconcile.fluxcd.io/",
)
"""Besides the labels', those by which the tools that apply a namespace keep their books."""


def annotations_of_tenants_leave_the_fleets_alone(fleet: Fleet) -> Iterator[Finding]:
    for at, given in walk.settings(fleet):
        for annotation in given.annotations or {}:
            if annotation.startswith(_OWNED_ANNOTATIONS):
                yield Finding(
                    (*at, "annotations", annotation),
                    "owned-annotation",
                    f"annotation '{annotation}' is reserved for Tenantry and its tools",
                    fix="remove it",
                    at_key=True,
                )


def labels_do_not_contradict_pod_security(fleet: Fleet) -> Iterator[Finding]:
    """A tenant or a namespace may inherit settings from the level above, so each is checked as merged."""
    for at, _ in walk.settings(fleet):
        levels = tuple(dict.fromkeys((("defaults",), at[:2], at)))
        layers = [Layer(level, fleet.said(*(str(part) for part in level))) for level in levels]
        merged = merge(layers)
        if "podSecurity" not in merged:
            continue
        said = PodSecurity.model_validate(merged["podSecurity"]).labels
        for label, value in merged.get("labels", {}).items():
            if said.get(label, value) != value:
                yield Finding(
                    origin(layers, ("labels", label)),
                    "contradicts-pod-security",
                    f"label '{label}' says '{value}', 'podSecurity' says '{said[label]}'",
                    fix="remove the label",
                )
