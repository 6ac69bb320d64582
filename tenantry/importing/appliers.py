"""What applies an object, as its labels tell: Flux's controllers write them on all that they apply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

GROUPS = {
    "Kustomization": "kustomize.toolkit.fluxcd.io",
    "HelmRelease": "helm.toolkit.fluxcd.io",
}
"""The group of the labels, by the kind of what applies."""


class Applier(NamedTuple):
    """A Kustomization or a HelmRelease."""

    kind: str
    namespace: str
    name: str

    @property
    def labels(self) -> dict[str, str]:
        """The labels of what it applies."""
        return {f"{GROUPS[self.kind]}/name": self.name, f"{GROUPS[self.kind]}/namespace": self.namespace}


def applier_of(labels: Mapping[str, Any], *kinds: str) -> Applier | None:
    """What applies the object with some labels; None: they do not tell. Args: kinds: that count; without any, all do."""
    for kind in kinds or GROUPS:
        namespace, name = (labels.get(f"{GROUPS[kind]}/{part}") for part in ("namespace", "name"))
        if isinstance(namespace, str) and isinstance(name, str):
            return Applier(kind, namespace, name)
    return None
