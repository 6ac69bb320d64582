"""Flux's own objects: what its bootstrap, its operator or `flux install` made. They stay with Flux, and are told as one line."""

from __future__ import annotations

from collections.abc import Iterable

from tenantry.importing.checkouts import FLUX
from tenantry.importing.documents import Placed
from tenantry.importing.model import Installed
from tenantry.kube.objects import Manifest, is_of_flux, labels_of
from tenantry.messages.data import mapping_at

_VERSION = "app.kubernetes.io/version"
_OPERATOR = "flux-operator"
"""What Flux's operator is called, with all that installs it."""
_GROUPS = (".fluxcd.io", ".fluxcd.controlplane.io")


def without_fluxs_own(environment: str, objects: Iterable[Placed]) -> tuple[list[Placed], Installed | None]:
    """The other objects, and what Flux itself consists of; None: nothing of it was read."""
    objects = list(objects)
    own = [each.manifest for each in objects if _is_own(each.manifest)]
    if not own:
        return objects, None
    version = next((found for each in own if (found := _version(each))), "")
    left = [each for each in objects if not _is_own(each.manifest)]
    return left, Installed(environment, version, len(own))


def _is_own(manifest: Manifest) -> bool:
    kind, metadata = str(manifest["kind"]), manifest["metadata"]
    if kind == "CustomResourceDefinition":
        return str(metadata["name"]).endswith(_GROUPS)
    if (metadata.get("namespace"), metadata["name"]) == (FLUX, _OPERATOR):
        return True
    if is_of_flux(str(manifest["apiVersion"])):
        return kind == "Kustomization" and (metadata.get("namespace"), metadata["name"]) == (FLUX, FLUX)
    if (kind, metadata["name"]) == ("Namespace", FLUX) or kind in ("FluxInstance", "FluxReport"):
        return True
    return labels_of(manifest).get("app.kubernetes.io/part-of") == "flux"


def _version(manifest: Manifest) -> str:
    if manifest["kind"] == "FluxInstance":
        return str(mapping_at(manifest, "spec", "distribution").get("version") or "")
    return str(labels_of(manifest).get(_VERSION) or "")
