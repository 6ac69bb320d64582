"""Collects the parts of a plan: each object once, and a finding for every two that conflict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tenantry.fleet.walk import format_app
from tenantry.kube.acceptance import too_large
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, object_id
from tenantry.messages.errors import Path, Problem, Problems
from tenantry.plan.planned_apps import AppSet, Installs, PlannedApp
from tenantry.plan.shared import at_one_pace
from tenantry.source.parsed_file import ParsedFile


class Gathering:
    """The objects, apps and findings of one environment so far.

    origins: which part of the file planned an object first.
    awaited: the objects that Pulumi has to wait for. written: by cluster and identity, where the file has an object as it is.
    """

    def __init__(self, source: ParsedFile, findings: Problems) -> None:
        self.objects: dict[ObjectId, KubeObject] = {}
        self.apps: list[PlannedApp] = []
        self.awaited: set[ObjectId] = set()
        self.findings = findings
        self.origins: dict[ObjectId, Path] = {}
        self.written: dict[tuple[str, ObjectId], Path] = {}
        self._source = source
        self._claimed_at: dict[tuple[str, ...], Path] = {}
        self._installed: dict[tuple[str, ...], list[tuple[PlannedApp, Installs]]] = {}

    def add(self, objects: Iterable[KubeObject], at: Path) -> None:
        """Plan objects that come from a part of the file, and report those that an API server would not take."""
        for object in objects:
            self.findings += (replace(problem, path=at, at_key=True) for problem in too_large(object.manifest))
            self._take((object,), at)

    def _take(self, objects: Iterable[KubeObject], at: Path) -> None:
        for object in objects:
            known = self.objects.get(object.id)
            if known is None:
                self.objects[object.id], self.origins[object.id] = object, at
            elif known != object:  # two that need it planned another one
                if both := at_one_pace(known, object):
                    self.objects[object.id] = both
                else:
                    first = self.origins.get(object.id, ())
                    self._twice(
                        at, "duplicate-name", f"{object.id} would be created twice", first, "rename one of them"
                    )

    def note(self, cluster: str, written: Iterable[tuple[Manifest, Path]]) -> None:
        """Remember where the file has objects as they are, whoever creates them on the cluster."""
        self.written.update({(cluster, object_id(manifest)): at for manifest, at in written})

    def share(self, made: KubeObject, at: Path) -> ObjectId:
        """Plan an object that several others need, once."""
        self.origins.setdefault(made.id, at)
        return self.objects.setdefault(made.id, made).id

    def add_apps(self, planned: AppSet) -> None:
        self.findings += planned.findings
        self.findings.skipped += planned.findings.skipped
        places = {app.id: app.at for app in planned.apps}
        # What a tenant takes can be the platform's.
        shared_at = planned.apps[0].at[:2] if planned.apps else ("platform", "addons")
        for object in planned.objects.values():
            tenant = object.owner.tenant
            self._take([object], places.get(object.id, ("tenants", tenant) if tenant else shared_at))
        self.awaited |= planned.awaited
        for app in planned.apps:
            self.apps.append(app)
            free = not app.release or self.claim_release(app.release, app.at)
            if free and app.installs:
                self._claim_installed(app.installs, app)

    def claim_cluster_wide(self, claim: tuple[str, str, str, str], at: Path) -> bool:
        """Take a cluster-scoped object for one part of the file; whether it is free. claim: cluster, group, kind, name."""
        cluster, _, kind, name = claim
        message = f"{kind} {name} on cluster '{cluster}' would be created twice"
        fix = "set another 'metadata.name', such as one with '{namespace}'"
        return self._claim(claim, at, "duplicate-name", message, fix, at_key=True)

    def claim_release(self, release: tuple[str, str, str], at: Path) -> bool:
        """Take a Helm release for one part of the file; whether it is free.

        Args: release: cluster, namespace of Helm's storage, name.
        """
        cluster, namespace, name = release
        message = f"release '{name}' in namespace '{namespace}' on cluster '{cluster}' is claimed twice"
        return self._claim(release, at, "duplicate-release", message, "set another 'releaseName'")

    def _claim(
        self, claim: tuple[str, ...], at: Path, code: str, message: str, fix: str, *, at_key: bool = False
    ) -> bool:
        first = self._claimed_at.setdefault(claim, at)
        if first != at:
            self._twice(at, code, message, first, fix, at_key=at_key)
        return first == at

    def _twice(
        self, at: Path, code: str, message: str, first: Path, fix: str, *more: str, at_key: bool = False
    ) -> None:
        """Report a part of the file that takes what an earlier part has. more: notes."""
        notes = (f"first: {self._source.line_of(first)}", *more)
        self.findings.append(Problem(at, code, message, notes, fix, at_key=at_key))

    def _claim_installed(self, installs: Installs, app: PlannedApp) -> None:
        """Take what an app installs for it alone."""
        claimed = self._installed.setdefault(installs.place, [])
        claimant = next((other for other, first in claimed if installs.clashes(first)), None)
        claimed.append((app, installs))
        if claimant is None:
            return
        both = f"{format_app(app.at)} and {format_app(claimant.at)}"
        message = (
            f"{both} would both install {installs.what}: when one of them goes, Flux removes what the other one has"
        )
        fix = "remove one of them, or give it another 'releaseName' or 'targetNamespace'"
        if not app.release:
            fix = "remove one of them, or give it another 'path', 'targetNamespace', 'namePrefix' or 'nameSuffix'"
        on = f"on cluster '{app.cluster}'"
        self._twice(app.at, "installed-twice", message, claimant.at, fix, on, at_key=True)
