"""Follows Kustomizations into the sources at hand, and reads what they apply as Flux would apply it.

What is read this way gets the labels that Flux gives it, so that a repository and the cluster that it is applied to are imported
alike. A Kustomization whose objects tenants.yaml has no keys for, or which are all in a tenant's own namespace, stays an app: its
objects are not read. So does one of which a part is not known here, such as variables from a Secret.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tenantry.flux.schemas import kinds
from tenantry.importing.applied import Applied, Build, applied_by, variables_at
from tenantry.importing.appliers import Applier, applier_of
from tenantry.importing.checkouts import FLUX, Checkout, Checkouts, source_of, sources_in
from tenantry.importing.documents import Placed
from tenantry.importing.model import Elsewhere, Followed, Key, Unread, key_of
from tenantry.kube.objects import Manifest, is_of_flux, labels_of
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted
from tenantry.plan.objects.scope import TENANT_LABEL

MOST = 5_000
"""Kustomizations that are followed in an environment."""
MOST_OBJECTS = 200_000
_VARIABLE = re.compile(r"(?<!\$)\$\{[A-Za-z_]")
_SETTINGS = ("Namespace", "ServiceAccount", "RoleBinding", "Role", "ResourceQuota", "LimitRange", "NetworkPolicy")


class Follower:
    """Reads one environment. `objects` are those of the inputs first, then what their Kustomizations apply."""

    def __init__(self, environment: str, inputs: Iterable[Placed], checkouts: Checkouts, build: Build) -> None:
        self.environment = environment
        self.unread: list[Unread] = []
        self.followed: list[Followed] = []
        self._missing: dict[Key, list[Key]] = {}
        self._checkouts = checkouts
        self._build = build
        self._known: dict[Key, Placed] = {}
        self._again: list[Placed] = []
        self._applied: dict[Key, Applied] = {}
        self._seen: set[Key] = set()
        self._built: set[Key] = set()
        self._sources: dict[Key, Manifest] = {}
        for each in inputs:
            if self._known.setdefault(key_of(each.manifest), each) != each:
                self._again.append(each)

    @property
    def elsewhere(self) -> list[Elsewhere]:
        """The sources of Kustomizations that were not followed for want of them."""
        return [
            Elsewhere(
                self.environment, key, str(mapping_at(self._sources.get(key), "spec").get("url") or ""), tuple(users)
            )
            for key, users in self._missing.items()
        ]

    @property
    def objects(self) -> list[Placed]:
        return [*self._known.values(), *self._again]

    def follow(self) -> None:
        """Read what Kustomizations apply, and what the Kustomizations among that apply, until nothing is new.

        Raises: Refused: there is too much.
        """
        self._sources = sources_in(self._known)
        first = [(key, each) for key, each in self._kustomizations() if self._checkouts.is_bootstrap(each)]
        self._round([key for key, each in first if self._can_follow(key, each)])
        self._leave_variables(key for key, each in first if mapping_at(each, "spec").get("postBuild"))
        self._sources = sources_in(self._known)
        while ready := [key for key, each in self._kustomizations() if self._can_follow(key, each)]:
            known = [key for key in ready if not self._awaited(self._known[key].manifest)]
            self._round(known or ready)
            self._sources = sources_in(self._known)
        self._settings()
        for key, applied in self._applied.items():
            self._tell(key, applied, is_read=False)

    def _leave_variables(self, bootstraps: Iterable[Key]) -> None:
        """Leave out objects of the inputs that hold variables, if what sets them could not be built."""
        for bootstrap in bootstraps:
            if bootstrap in self._built:
                continue
            left = [key for key, each in self._known.items() if _has_variables(each) and key != bootstrap]
            for key in left:
                del self._known[key]
            if left:
                reason = f"{counted(len(left), 'object')} with variables such as {left[0]} are not known without it"
                place = f"{bootstrap} ({self._known[bootstrap].origin})"
                self.unread.append(Unread(self.environment, place, reason, "make it build, and import again"))

    def _kustomizations(self) -> Iterator[tuple[Key, Manifest]]:
        for key, each in list(self._known.items()):
            is_one = key.kind == "Kustomization" and is_of_flux(str(each.manifest["apiVersion"]))
            if is_one and key not in self._seen and isinstance(each.manifest.get("spec"), dict):
                yield key, each.manifest

    def _can_follow(self, key: Key, kustomization: Manifest) -> bool:
        spec = kustomization["spec"]
        if spec.get("kubeConfig") or spec.get("suspend") is True:
            return False
        source = source_of(kustomization)
        if self._checkouts.of(kustomization, self._sources):
            return True
        if key not in self._missing.setdefault(source, []):
            self._missing[source].append(key)
        return False

    def _awaited(self, kustomization: Manifest) -> list[str]:
        """The objects with its variables that are not at hand, or not yet."""
        wanted = mappings_in(mapping_at(kustomization, "spec", "postBuild").get("substituteFrom"))
        return [
            f"{each.get('kind')} {each.get('name')}"
            for each in wanted
            if not variables_at(kustomization, each, self._known)
        ]

    def _round(self, keys: list[Key]) -> None:
        """Build several Kustomizations at once, and take what they apply in their order."""
        if len(self._seen) + len(keys) > MOST:
            raise Refused(f"there are more than {MOST} Kustomizations to follow", "import the clusters one by one")
        self._seen |= set(keys)
        work = []
        for key in keys:
            manifest = self._known[key].manifest
            if checkout := self._checkouts.of(manifest, self._sources):
                work.append((key, manifest, checkout))

        def apply(one: tuple[Key, Manifest, Checkout]) -> Applied | tuple[str, str]:
            return applied_by(one[1], one[2], self._known, self._build, self.environment)

        with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
            for (key, _, _), applied in zip(work, pool.map(apply, work), strict=True):
                if isinstance(applied, Applied):
                    self._built.add(key)
                    self._take(key, applied)
                else:
                    place = f"{key} ({self._known[key].origin})"
                    self.unread.append(Unread(self.environment, place, *applied))

    def _take(self, key: Key, applied: Applied) -> None:
        if self._leads_on(key, applied.objects):
            self._read(key, applied)
        else:
            self._applied[key] = applied

    def _leads_on(self, key: Key, objects: Iterable[Placed]) -> bool:
        """Whether a Kustomization applies what tenants.yaml can say, and not only within a tenant's own namespace."""
        for manifest, _ in objects:
            namespace = manifest["metadata"].get("namespace")
            is_flux = manifest["kind"] in kinds() and is_of_flux(str(manifest["apiVersion"]))
            inside = namespace == key.namespace != FLUX and not mapping_at(manifest, "spec").get("kubeConfig")
            if (is_flux and not inside) or TENANT_LABEL in labels_of(manifest):
                return True
        return False

    def _settings(self) -> None:
        """Read Kustomizations that apply nothing but namespaces of apps, and what stands in these beside the apps."""
        there = (manifest for manifest, _ in self._known.values() if is_of_flux(str(manifest["apiVersion"])))
        spaces = {manifest["metadata"].get("namespace") for manifest in there}
        for key, applied in list(self._applied.items()):
            names = {_space(each.manifest) for each in applied.objects if each.manifest["kind"] in _SETTINGS}
            if (
                names
                and len(names & spaces - {FLUX}) == len(names)
                and all(each.manifest["kind"] in _SETTINGS for each in applied.objects)
            ):
                self._read(key, self._applied.pop(key))

    def _read(self, key: Key, applied: Applied) -> None:
        """Take objects as those that a Kustomization applies. One of an input that it is made of gives way to it."""
        applier = Applier("Kustomization", key.namespace, key.name)
        for each in applied.objects:
            id = key_of(each.manifest)
            metadata = each.manifest["metadata"]
            labels = {**labels_of(each.manifest), **applier.labels}
            manifest = {**each.manifest, "metadata": {**metadata, "labels": labels}}
            there = self._known.get(id)
            if there is not None and (before := _applier(there.manifest)):
                if before != _applier(manifest) and _as_written(there.manifest) != _as_written(manifest):
                    reason = f"{key} applies it too, with other fields than those of {there.origin}"
                    fix = "remove it from one of the two: Flux applies them in turn"
                    self.unread.append(Unread(self.environment, f"{id} ({each.origin})", reason, fix))
                continue
            # The file itself tells the line, a build tells none.
            origin = there.origin if there and there.origin.startswith(each.origin) else each.origin
            self._known[id] = Placed(manifest, origin)
        if len(self._known) > MOST_OBJECTS:
            raise Refused(f"there are more than {MOST_OBJECTS} objects", "import the clusters one by one")
        self._tell(key, applied, is_read=True)

    def _tell(self, key: Key, applied: Applied, *, is_read: bool) -> None:
        self.followed.append(Followed(self.environment, key, applied.directory, len(applied.objects), is_read))


def _has_variables(found: Placed) -> bool:
    return bool(_VARIABLE.search(json.dumps(found.manifest, default=str)))


def _applier(manifest: Manifest) -> Applier | None:
    return applier_of(labels_of(manifest), "Kustomization")


def _as_written(manifest: Manifest) -> dict[str, Any]:
    """The manifest without the labels that tell what applies it."""
    applier = _applier(manifest)
    own = applier.labels if applier else {}
    labels = {key: each for key, each in labels_of(manifest).items() if key not in own}
    return {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}


def _space(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    return str(metadata["name"] if manifest["kind"] == "Namespace" else metadata.get("namespace") or "")
