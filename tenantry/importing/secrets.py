"""What may be a secret is not copied into the file, which more people read than the cluster.

An app is left over as a whole then: without its password, its release would be upgraded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tenantry.importing.world import is_authors
from tenantry.messages.data import with_texts
from tenantry.messages.errors import Path
from tenantry.messages.masking import masked
from tenantry.messages.redact import shorten
from tenantry.messages.text import format_path

if TYPE_CHECKING:
    from tenantry.importing.world import Notes, Thing, World


_DIGEST = re.compile(r"(?<![A-Za-z0-9])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![A-Za-z0-9])")
"""Digests of images and commits, which look as random as tokens do."""
_FROM = {"Kustomization": "postBuild.substituteFrom", "HelmRelease": "valuesFrom"}


def first_secret(data: Any, at: Path = ()) -> str:
    """Where plain data holds what may be a secret; empty if it holds none."""
    data = with_texts(data, lambda text: _DIGEST.sub("0", text))
    return next((format_path(path) for path in _different(data, masked(data), at)), "")


def leave_secret(notes: Notes, thing: Thing, source: Thing | None) -> bool:
    """Leave over an app if it or its source holds what may be a secret; False: neither does."""
    if at := _first_in(thing):
        reason = f"'{at}' may be a secret, which is not copied, and without it the app would change"
        fix = f"put it into a Secret, and name that in 'spec.{_FROM[thing.kind]}'"
    elif source is not None and (at := _first_in(source)):
        reason = f"'{at}' of {source.key} may be a secret, which is not copied"
        fix = "put it into a Secret, and name that in 'spec.secretRef' of the source"
    else:
        return False
    notes.leave(thing.read, reason, f"{fix}; then import again. Or use --keep-values")
    return True


def leave_part(world: World, thing: Thing, *others: Thing) -> bool:
    """Leave over an object that belongs to an owner or an app, if its spec or that of another holds what may be a secret."""
    looked_at = () if world.keeps_values else (thing, *others)
    if at := next(filter(None, (first_secret(each.spec, ("spec",)) for each in looked_at)), ""):
        fix = "put it into a Secret, name that instead and import again, or use --keep-values"
        world.notes.leave(thing.read, f"'{shorten(at, 200)}' may be a secret, which is not copied", fix)
    return bool(at)


def leave_metadata(notes: Notes, thing: Thing) -> None:
    """Leave over the labels and annotations that may be secrets. They stay on the object."""
    for key in ("labels", "annotations"):
        there = getattr(thing, key)
        for name in [each for each in there if is_authors(each) and first_secret({each: there[each]})]:
            setattr(thing, key, {each: value for each, value in getattr(thing, key).items() if each != name})
            text, fix = (
                "this may be a secret, which is not copied",
                "put it into a Secret, or import with --keep-values",
            )
            notes.leave(thing.read, text, fix, shorten(format_path(("metadata", key, name)), 200))


def _first_in(thing: Thing) -> str:
    spec = {key: each for key, each in thing.spec.items() if key != "kubeConfig"}
    return shorten(first_secret({"metadata": thing.metadata, "spec": spec}), 200)


def _different(one: Any, other: Any, at: Path) -> Iterator[Path]:
    """The places of values that differ, in data of the same form."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key, each in one.items():
            yield from _different(each, other[key], (*at, key))
    elif isinstance(one, list) and isinstance(other, list):
        for index, each in enumerate(one):
            yield from _different(each, other[index], (*at, index))
    elif one != other:
        yield at
