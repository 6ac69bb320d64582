"""Flux's own objects: what its bootstrap, its operator or `flux install` made. They stay with Flux, and are told as one line."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from tenantry.importing.checkouts import FLUX
from tenantry.importing.documents import Placed
from tenantry.importing.model import Installed
from tenantry.kube.names import dns_label_problem
from tenantry.kube.objects import Manifest, is_of_flux, labels_of
from tenantry.messages.data import mapping_at, mappings_in

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
    accounts = {str(each["metadata"]["name"]): account for each in own if (account := _account(each)) is not None}
    left = [each for each in objects if not _is_own(each.manifest)]
    return left, Installed(environment, version, len(own), tuple(accounts.items()))


def _account(manifest: Manifest) -> str | None:
    """The account as which a controller acts where an object names none; "": that of its own name; None: it is none."""
    metadata, pod = manifest["metadata"], mapping_at(dict(manifest), "spec", "template", "spec")
    if (manifest["kind"], metadata.get("namespace"), pod.get("serviceAccountName")) != (
        "Deployment",
        FLUX,
        metadata["name"],
    ):
        return None
    arguments = [each.get("args") for each in mappings_in(pod.get("containers"))]
    words = [str(word) for each in arguments if isinstance(each, list) for word in each]
    named = [_named(word, after) for word, after in pairwise([*words, ""]) if _LOCKDOWN in word]
    if not named:
        return ""
    return None if dns_label_problem(named[-1]) else named[-1]  # the last one counts


def _named(word: str, after: str) -> str:
    """The account that a flag names, by itself or by the word after it."""
    _, equals, value = word.partition("=")
    return value if equals else after


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
