"""Reads one environment: its inputs, what their Kustomizations apply, and what Flux itself consists of."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from tenantry.importing.applied import READ_TOO, Build
from tenantry.importing.checkouts import FLUX, Checkouts, checkout_around
from tenantry.importing.documents import Placed
from tenantry.importing.follow import Follower
from tenantry.importing.model import Installed, LeftOver, Reading, Unread
from tenantry.importing.reading import ORIGIN, objects_below
from tenantry.kube.names import slug
from tenantry.kube.objects import Manifest, is_of_flux, labels_of
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, grouped, listed

_MOST = 20
"""The most clusters that are named of a repository."""
_NAMES = 5
_VERSION = "app.kubernetes.io/version"
_OPERATOR = "flux-operator"
"""What Flux's operator is called, with all that installs it."""
_GROUPS = (".fluxcd.io", ".fluxcd.controlplane.io")


def read_environment(
    environment: str,
    directories: Sequence[Path],
    others: Iterable[Placed],
    build: Build,
) -> tuple[list[Placed], Reading]:
    """The objects of an environment, and how they were read.

    Args:   others: objects that were read from elsewhere, such as a live cluster, whose Kustomizations have applied everything.
    Raises: Refused: a directory cannot be read, or holds too much.
    """
    objects, unread = list(others), []

    def costs(place: str, reason: str, fix: str) -> None:
        unread.append(Unread(environment, place, reason.removeprefix(f"{place}: "), fix))

    around = {each: checkout_around(each) for each in directories}
    for directory, checkout in around.items():
        objects += objects_below(directory, checkout, build, costs)
    follower = Follower(environment, objects, Checkouts({k.resolve(): v for k, v in around.items()}), build)
    if not any(each.origin == ORIGIN for each in objects):
        follower.follow()
    own = [each.manifest for each in follower.objects if _is_fluxs_own(each.manifest)]
    found = [each for each in follower.objects if not _is_fluxs_own(each.manifest)]
    flux = (Installed(environment, next(filter(None, map(_version, own)), ""), len(own)),) if own else ()
    unread += follower.unread
    return found, Reading(tuple(unread), tuple(follower.followed), tuple(follower.elsewhere), flux)


def _is_fluxs_own(manifest: Manifest) -> bool:
    """Whether Flux's bootstrap, its operator or `flux install` made an object. It stays with Flux."""
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


def nothing_found(
    reading: Reading, directories: Sequence[Path], *, empty: bool, left: Iterable[LeftOver] = ()
) -> Refused:
    """Why nothing is written, and the line to type. Args: empty: no objects were read; left: what became of those that were."""
    if empty and reading.unread:
        first, *others = reading.unread
        more = f"; and {counted(len(others), 'other place')} could not be read" if others else ""
        return Refused(f"{first.place}: {first.reason}{more}", first.fix)
    nothing = "no Kubernetes objects were found" if empty else "nothing that was read can be written"
    return Refused("; ".join((nothing, *_reasons(reading))), _fix(reading, directories, left))


def _reasons(reading: Reading) -> Iterator[str]:
    """What stands in the way: what could not be read or followed, and what has nothing for the file."""
    if reading.unread:
        first = reading.unread[0]
        yield f"{counted(len(reading.unread), 'place')} could not be read, such as {first.place}: {first.reason}"
    for source, group in grouped(reading.elsewhere, lambda each: each.source).items():
        users = sum(len(each.kustomizations) for each in group)
        where = f" ({group[0].url})" if group[0].url else ""
        lead = "leads" if users == 1 else "lead"
        yield f"{counted(users, 'Kustomization')} {lead} to {source}{where}, which is not at hand"
    if own := [each for each in reading.followed if not each.is_read]:
        names = listed((f"{each.kustomization.name} ({each.directory})" for each in own), _NAMES)
        yield f"{counted(len(own), 'Kustomization')} {_verb(own, 'applies', 'apply')} nothing that has a key: {names}"


def _fix(reading: Reading, directories: Iterable[Path], left: Iterable[LeftOver]) -> str:
    fixes = (*(each.fix for each in reading.unread), *(each.fix for each in left))
    if lines := [fix for fix in fixes if fix.startswith(READ_TOO)]:
        return lines[0]
    generic = "name a directory that Flux applies to a cluster, or context:NAME for a live one"
    return clusters_to_name(directories) or generic


def clusters_to_name(directories: Iterable[Path]) -> str:
    """The line that imports the other clusters of the repositories around some directories; "" if there are none."""
    clusters = dict.fromkeys(each for directory in directories for each in clusters_around(directory))
    words = " ".join(f"-e {slug(each.name)}={shlex.quote(str(each))}" for each in clusters)
    return f"name the clusters of the repository: tenantry import {words}" if words else ""


def clusters_around(directory: Path) -> list[Path]:
    """The directories of a repository that a bootstrap of Flux applies, apart from the directory itself."""
    checkout = checkout_around(directory)
    found = []
    for file in sorted(islice(checkout.root.rglob("gotk-sync.yaml"), _MOST)):
        cluster = file.parent.parent
        if cluster != directory.resolve() and cluster.is_relative_to(checkout.root):
            found.append(Path(checkout.shows(cluster)))
    return found


def summary(reading: Reading) -> Iterator[str]:
    """What was followed, what was not, and what is Flux's own, as sentences without full stops."""
    read = [each for each in reading.followed if each.is_read]
    if read:
        objects = counted(sum(each.objects for each in read), "object")
        yield f"{counted(len(read), 'Kustomization')} followed, which {_verb(read, 'applies', 'apply')} {objects}"
    kept = [each for each in reading.followed if not each.is_read]
    if kept:
        objects = counted(sum(each.objects for each in kept), "object")
        names = listed((each.kustomization.name for each in kept), _NAMES)
        yield f"{counted(len(kept), 'Kustomization')} with {objects} of {_verb(kept, 'its', 'their')} own can stay: {names}"
    # The sources of tenants are their own, and hardly ever at hand.
    platforms = [each for each in reading.elsewhere if each.source.namespace == FLUX]
    for source, group in grouped(platforms, lambda each: each.source).items():
        users = [user for each in group for user in each.kustomizations]
        yield f"{counted(len(users), 'Kustomization')} not followed: {source} is not at hand"
    for (version, count), installed in grouped(reading.flux, lambda each: (each.version, each.objects)).items():
        where = listed([each.environment for each in installed], _NAMES)
        yield f"{f'Flux {version}'.strip()} itself in {where}: {counted(count, 'object')}, not counted"


def _verb(found: Sequence[object], one: str, several: str) -> str:
    return one if len(found) == 1 else several
