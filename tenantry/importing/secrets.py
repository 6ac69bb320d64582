"""What may be a secret is not copied into the file, which more people read than the cluster.

An app is left as a whole then: without its password, its release would be upgraded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tenantry.importing.resources import APPS, Resource, is_authors
from tenantry.messages.data import with_texts
from tenantry.messages.errors import Path
from tenantry.messages.masking import masked
from tenantry.messages.redact import shorten
from tenantry.messages.text import format_path

_DIGEST = re.compile(r"(?<![A-Za-z0-9])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![A-Za-z0-9])")
"""Digests of images and commits, which look as random as tokens do."""
_NAMED = {
    "Kustomization": "'spec.postBuild.substituteFrom'",
    "HelmRelease": "'spec.valuesFrom'",
    "GitRepository": "'spec.secretRef' of the source",
}


def first_secret(data: Any, at: Path = ()) -> str:
    """Where plain data holds what may be a secret; empty if it holds none."""
    data = with_texts(data, lambda text: _DIGEST.sub("0", text))
    return shorten(next((format_path(path) for path in _different(data, masked(data), at)), ""), 200)


def leave_secret(resource: Resource, *others: Resource | None) -> bool:
    """Leave a resource if it, or another one that goes with it, holds what may be a secret; False: none does."""
    for holder in (resource, *others):
        if holder is None:
            continue
        spec = {key: value for key, value in holder.spec.items() if key != "kubeConfig"}
        # Labels and annotations are those of apps and their sources alone.
        data = {"metadata": holder.metadata, "spec": spec} if resource.kind in APPS else {"spec": spec}
        if at := first_secret(data):
            of = f" of {holder.key}" if holder is not resource else ""
            named = _NAMED.get(holder.kind, "it")
            fix = f"put it into a Secret, and name that in {named}; then import again. Or use --keep-values"
            resource.leave(f"'{at}'{of} may be a secret, which is not copied", fix)
            return True
    return False


def leave_metadata(resource: Resource) -> None:
    """Leave the labels and annotations that may be secrets. They stay on the object."""
    for key in ("labels", "annotations"):
        values = getattr(resource, key)
        secrets = [name for name in values if is_authors(name) and first_secret({name: values[name]})]
        setattr(resource, key, {name: value for name, value in values.items() if name not in secrets})
        for name in secrets:
            fix = "put it into a Secret, or import with --keep-values"
            path = shorten(format_path(("metadata", key, name)), 200)
            resource.leave("this may be a secret, which is not copied", fix, path)


def _different(one: Any, other: Any, at: Path) -> Iterator[Path]:
    """The places of values that differ, in data of the same form."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key, value in one.items():
            yield from _different(value, other[key], (*at, key))
    elif isinstance(one, list) and isinstance(other, list):
        for index, value in enumerate(one):
            yield from _different(value, other[index], (*at, index))
    elif one != other:
        yield at
