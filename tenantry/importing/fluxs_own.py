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
_LOCKDOWN = "--default-service-account"
"""The flag of controllers that names the account for objects which name none."""
_GROUPS = (".fluxcd.io", ".fluxcd.controlplane.io")


def without_fluxs_own(environment: str, objects: Iterable[Placed]) -> tuple[list[Placed], Installed | None]:
    """The other objects, and what Flux itself consists of; None: nothing of it was read."""
    objects = list(objects)
    own = [each.manifest for each in objects if _is_own(each.manifest)]
    if not own:
        return objects, None
    version = next((found for each in own if (found := _version(each))), "")
    controllers = tuple(dict.fromkeys(str(each["metadata"]["name"]) for each in own if _acts_as_itself(each)))
    left = [each for each in objects if not _is_own(each.manifest)]
    return left, Installed(environment, version, len(own), controllers)


def _acts_as_itself(manifest: Manifest) -> bool:
    """Whether it is a controller with an account of its own name, as which it acts where an object names no account."""
    metadata, pod = manifest["metadata"], mapping_at(dict(manifest), "spec", "template", "spec")
    if (manifest["kind"], metadata.get("namespace"), pod.get("serviceAccountName")) != (
        "Deployment",
        FLUX,
        metadata["name"],
    ):
        return False
    containers = pod.get("containers")
    arguments = (
        str([each.get("args") for each in containers if isinstance(each, dict)]) if isinstance(containers, list) else ""
    )
    return _LOCKDOWN not in arguments


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
