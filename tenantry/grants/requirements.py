"""Whether planned sources, charts and images are as the platform team requires, after merging and filling in.

Called by: the wall between tenants, for a tenant's objects and for those of the platform. An API server checks what tenants make
themselves (`tenantry.plan.required`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Problem
from tenantry.model.requirements import Requirements, signature_words

PINNED, VERIFIED, IMAGES = (f"tenantry/require-{each}" for each in ("pinned", "verify", "images"))
"""Annotations of a tenant's namespaces that tell the API server what is required there; a line for each of several values."""
_SOURCES = ("GitRepository", "OCIRepository", "Bucket")
_UNPINNABLE = {"Bucket": "a bucket"}
EXACT_VERSION = r"^v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$"
"""A chart's version that is no range. For Python and for RE2, which API servers use."""


def unmet(required: Requirements, kind: str, spec: Mapping[str, Any]) -> Iterator[Problem]:
    """What a planned spec lacks, with paths in the spec. The names in it are still those of the file."""
    if required.pinned and not is_pinned(kind, spec, tags=required.pinned == "tags"):
        yield _unpinned(kind, tags=required.pinned == "tags")
    if required.verify and not is_signed(kind, spec, required.signatures):
        yield _unsigned(kind, spec, required.signatures)


def required_annotations(required: Requirements) -> dict[str, str]:
    """What the namespaces of a tenant say of its requirements."""
    said = {
        PINNED: str(required.pinned).lower() if required.pinned else "",
        VERIFIED: "\n".join(required.signatures),
        IMAGES: "\n".join(required.images or ()),
    }
    return {key: value for key, value in said.items() if value}


def lacking_labels(required: Requirements, namespace: Manifest) -> Iterator[Problem]:
    """The labels that a planned namespace has to have, and has not."""
    there = namespace["metadata"].get("labels", {})
    for label in required.labels or ():
        if not there.get(label):
            message = (
                f"namespace '{namespace['metadata']['name']}' has no label '{label}', which 'require.labels' asks for"
            )
            yield Problem((), "no-label", message, fix=f"add 'labels: {{{label}: ...}}'", at_key=True)


def is_pinned(kind: str, spec: Mapping[str, Any], *, tags: bool) -> bool:
    """Whether what a source or a chart gives cannot change while its spec stays. tags: whether that is assumed of tags.

    Source: fluxcd.io: of a Git `ref`, `commit` is looked at first, then `name`, `semver`, `tag`; of an OCI one `digest`,
    `semver`, `tag`.
    """
    ref = mapping_at(spec, "ref")
    if kind in _UNPINNABLE:
        return False
    if kind == "HelmChart":
        return not _is_of_repository(spec) or bool(re.match(EXACT_VERSION, str(spec.get("version", "*"))))
    if kind == "GitRepository":
        if ref.get("commit"):
            return True
        by_tag = str(ref["name"]).startswith("refs/tags/") if ref.get("name") else bool(ref.get("tag"))
        return tags and by_tag and not (ref.get("semver") and not ref.get("name"))
    if kind == "OCIRepository":
        return bool(ref.get("digest")) or (tags and bool(ref.get("tag")) and not ref.get("semver"))
    return True


def is_signed(kind: str, spec: Mapping[str, Any], accepted: list[str]) -> bool:
    """Whether Flux takes nothing of a source or a chart but what has an accepted signature."""
    if kind not in (*_SOURCES, "HelmChart") or (kind == "HelmChart" and not _is_of_repository(spec)):
        return True
    verify = spec.get("verify")
    return isinstance(verify, Mapping) and {*signature_words(dict(verify))} <= {*accepted}


def is_accepted(image: str, patterns: list[str]) -> bool:
    """Whether an image is one of the patterns, or lies below one that ends with `/*`."""
    return any(image.startswith(each[:-1]) if each.endswith("*") else image == each for each in patterns)


def _is_of_repository(chart: Mapping[str, Any]) -> bool:
    """Whether a chart has a version and a signature of its own; others are those of their Git repository or bucket."""
    return mapping_at(chart, "sourceRef").get("kind") == "HelmRepository"


def _unpinned(kind: str, *, tags: bool) -> Problem:
    if kind in _UNPINNABLE:
        message, fix = f"{_UNPINNABLE[kind]} is not pinned, which 'require.pinned' asks for", "use a Git or OCI source"
        return Problem((), "not-pinned", message, fix=fix, at_key=True)
    if kind == "HelmChart":
        message = "the chart's version is not exact, which 'require.pinned' asks for"
        return Problem(("version",), "not-pinned", message, fix="write a version such as 1.2.3")
    pin = "commit" if kind == "GitRepository" else "digest"
    fix = f"set '{pin}' in its 'ref'" + (", or 'tag' alone" if tags else "")
    return Problem(("ref",), "not-pinned", "the source is not pinned, which 'require.pinned' asks for", fix=fix)


def _unsigned(kind: str, spec: Mapping[str, Any], accepted: list[str]) -> Problem:
    place: tuple[str, ...] = ("verify",) if spec.get("verify") else ()
    if kind in _UNPINNABLE:
        message = f"{_UNPINNABLE[kind]} cannot be verified, which 'require.verify' asks for"
        return Problem(place, "not-verified", message, fix="use a Git or OCI source", at_key=True)
    what = "the chart" if kind == "HelmChart" else "the source"
    message = (
        f"'verify' of {what} is none of those that 'require.verify' accepts"
        if place
        else f"{what} is not verified, which 'require.verify' asks for"
    )
    return Problem(place, "not-verified", message, (_accepted(accepted),), "set 'verify' to one of these", at_key=True)


def _accepted(words: list[str]) -> str:
    return f"accepted: {', '.join(words)}"
