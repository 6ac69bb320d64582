"""Rules about what the main file requires of tenants' sources, and about what their namespaces tell the API server of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.policy.frame import Frame
from tenantry.policy.resource import Resource, entries, mapping, texts
from tenantry.policy.rule import Violation
from tenantry.policy.tenants import Tenants

PREFIX = "tenantry/require-"
_NEITHER = ("Bucket", "ExternalArtifact")
"""Kinds of sources that name no fixed content, and have no signature."""


def tenants_sources_are_as_required(tenants: Tenants) -> Iterator[Violation]:
    """Sources and charts of a tenant are pinned and verified where the main file requires it. Who can change what a source gives
    changes what runs.
    """
    for resource, place in tenants.placed:
        required = _required(place.frame)
        if resource.group != "source.toolkit.fluxcd.io" or not required:
            continue
        if required.get("pinned") and not _is_pinned(resource, required["pinned"]):
            what = f"{resource} of tenant '{place.tenant}' is not pinned"
            yield Violation(resource, what, "name a commit, a digest or an exact version")
        if required.get("verify") and not _is_verified(resource, entries(required["verify"])):
            what = f"{resource} of tenant '{place.tenant}' has no 'verify' that the main file accepts"
            yield Violation(resource, what, "set 'verify' to one of those under 'require'")


def tenants_namespaces_say_what_is_required(tenants: Tenants) -> Iterator[Violation]:
    """The namespaces of a tenant carry what the main file requires, and nothing else of the kind. The API server reads it there
    when the tenant makes sources or pods itself.
    """
    for resource in tenants.namespaces:
        if (place := tenants.place_of(resource)) is None:
            continue
        said = mapping(mapping(resource.props.get("metadata")).get("annotations"))
        found = {key: str(value).split("\n") for key, value in said.items() if key.startswith(PREFIX)}
        if found != _annotations(_required(place.frame)):
            what = f"{resource} of tenant '{place.tenant}' says something else of what is required than the main file"
            yield Violation(resource, what, "let `tenantry up` set its annotations")


def _required(frame: Frame) -> Mapping[str, Any]:
    return mapping(frame.settings.get("require"))


def _annotations(required: Mapping[str, Any]) -> dict[str, list[str]]:
    """The lines of each annotation."""
    pinned = required.get("pinned")
    signatures = [word for block in entries(required.get("verify")) for word in _words(block)]
    said = {
        "pinned": ["tags" if pinned == "tags" else "true"] if pinned else [],
        "verify": list(dict.fromkeys(signatures)),
        "images": [str(each) for each in texts(required.get("images"))],
    }
    return {PREFIX + key: lines for key, lines in said.items() if lines}


def _words(block: Mapping[str, Any]) -> list[str]:
    who = str(block.get("provider") or f"git {block.get('mode')}")
    if mapping(block.get("secretRef")):
        return [f"{who} key={mapping(block['secretRef']).get('name')}"]
    named = entries(block.get("matchOIDCIdentity"))
    return [f"{who} issuer={each.get('issuer')} subject={each.get('subject')}" for each in named] or [who]


def _is_pinned(resource: Resource, wanted: Any) -> bool:
    ref = mapping(resource.spec.get("ref"))
    if resource.kind == "HelmChart" and mapping(resource.spec.get("sourceRef")).get("kind") == "HelmRepository":
        core = str(resource.spec.get("version") or "").removeprefix("v").split("+")[0].split("-")[0].split(".")
        return len(core) == 3 and all(part.isdecimal() for part in core)
    if wanted == "tags" and not ref.get("semver"):
        name = str(ref.get("name") or "")
        if name.startswith("refs/tags/") or (ref.get("tag") and not name):
            return True
    if resource.kind in ("GitRepository", "OCIRepository"):
        return bool(ref.get("commit" if resource.kind == "GitRepository" else "digest"))
    return resource.kind not in _NEITHER


def _is_verified(resource: Resource, accepted: list[Mapping[str, Any]]) -> bool:
    if resource.kind == "HelmChart" and mapping(resource.spec.get("sourceRef")).get("kind") != "HelmRepository":
        return True
    if resource.kind == "HelmRepository":
        return True
    verify = mapping(resource.spec.get("verify"))
    if not verify or resource.kind in _NEITHER:
        return False
    key = mapping(verify.get("secretRef")).get("name")
    if key:
        # Beside the kubeconfigs, names begin with whose they are.
        verify = {**verify, "secretRef": {"name": str(key).rpartition(".")[2]}}
    words = {word for block in accepted for word in _words(block)}
    return {*_words(verify)} <= words
