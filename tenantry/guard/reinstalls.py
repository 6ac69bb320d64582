"""Baselines, add-ons and apps that Flux would uninstall and install anew, because a changed field gives them another target.

The plan is compared with what Flux itself compares (`guard.targets`), and not with the live spec: that may hold the change already.
A changed kubeconfig is judged by `guard.kubeconfigs`, and another kind of Flux object is a removal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tenantry.guard.held import Held
from tenantry.guard.places import label
from tenantry.guard.targets import CHART, Charts, Target, chart_of, planned_parts, upgrades_in_place
from tenantry.kube.objects import KubeObject, labels_of
from tenantry.messages.errors import Problem, error
from tenantry.messages.text import lines_of
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.plan.objects.scope import APP_LABEL
from tenantry.plan.plan import Plan

REINSTALLS = "reinstalls"


@dataclass(frozen=True, slots=True, order=True)
class Reinstall:
    """One release or Kustomization that Flux would delete and make anew.

    app: "" for the baseline of a tenant, and with no tenant either for the namespaces of an add-on.
    changes: (field, before, after), the fields as in `Target.parts`; release: whether it is a HelmRelease.
    """

    tenant: str
    cluster: str
    app: str
    changes: tuple[tuple[str, str, str], ...]
    release: bool = True

    @property
    def of_platform(self) -> bool:
        """Whether it is the platform team's, which no run may reinstall."""
        return not (self.tenant and self.app)

    @property
    def permit(self) -> str:
        """The name under which `tenantry:allowDeletions` permits it."""
        return f"reinstall/{self.cluster}/{self.tenant}/{self.app}"

    def __str__(self) -> str:
        changed = ", ".join(f"{key} {before or 'unset'} -> {after or 'unset'}" for key, before, after in self.changes)
        return f"{self._what} on {self.cluster} ({changed})"

    @property
    def _what(self) -> str:
        if self.app:
            return f"app '{self.app}' of tenant '{self.tenant}'" if self.tenant else f"add-on '{self.app}'"
        return f"the baseline of tenant '{self.tenant}'" if self.tenant else "the namespaces of add-ons"


def reinstalls(plan: Plan, now: Held) -> list[Reinstall]:
    """What Flux would uninstall and install anew. What an earlier run has given up is left out."""
    if not now.targets:
        return []
    charts = Charts(object.manifest for object in plan.objects)
    judged = ((planned, now.targets.get(planned.id)) for planned in plan.objects)
    return sorted({reinstall for object, target in judged if target and (reinstall := _judged(object, target, charts))})


def _judged(planned: KubeObject, target: Target, charts: Charts) -> Reinstall | None:
    if target.leaving or labels_of(planned.manifest).get(STATE_LABEL) == "decommissioned":
        return None
    wanted = planned_parts(planned.manifest, charts)
    changes = [(key, before, wanted[key]) for key, before in target.parts.items() if wanted.get(key, before) != before]
    if _keeps_its_release(planned, target):
        changes = [change for change in changes if change[0] != CHART]
    if not changes:
        return None
    app = label(labels_of(planned.manifest), APP_LABEL)
    return Reinstall(*planned.owner, app=app, changes=tuple(changes), release=planned.id.kind == "HelmRelease")


def _keeps_its_release(planned: KubeObject, target: Target) -> bool:
    """Whether another name of the chart reinstalls nothing.

    A HelmChart can change before the release that uses it, so the live release has to say InPlaceUpdate as well. And if
    helm-controller has accepted the same HelmChart, whose name contains a digest of its settings, its chart has another name in
    the index than in its own Chart.yaml.
    """
    in_place = target.in_place and upgrades_in_place(planned.manifest)
    return in_place or target.tried == chart_of(planned.manifest)


def platform_problems(reinstalls: Sequence[Reinstall]) -> Iterator[Problem]:
    """Refuse what no run may do: reinstall what all tenants of a cluster stand on."""
    if of_platform := [reinstall for reinstall in reinstalls if reinstall.of_platform]:
        yield error(
            REINSTALLS,
            f"Flux would uninstall a part of the platform and install it anew: {PLATFORM_GOES}\n{lines_of(of_platform)}",
            "; ".join(dict.fromkeys(_way(reinstall, of_platform) for reinstall in of_platform)),
        )


def _way(reinstall: Reinstall, all_of: Sequence[Reinstall]) -> str:
    """What to do instead. all_of: if add-ons alone get another namespace, it is their own, and not the platform's."""
    changed = {key: before for key, before, _ in reinstall.changes}
    if before := changed.get("storageNamespace"):
        if all(other.app for other in all_of):
            return f"give 'platform.addons.{reinstall.app}' the 'namespace' and 'account' that it had{_BESIDE}"
        return f"put 'platform.namespace: {before}' back; {_MOVE}"
    if CHART in changed:
        return _IN_PLACE
    fields = ", ".join(f"'{key}: {before}'" for key, before in changed.items())
    return f"put {fields} of add-on '{reinstall.app}' back{_BESIDE}" if reinstall.app else f"put {fields} back"


_MOVE = (
    "to move it without loss, decommission the remote clusters, delete their entries, and adopt them with the new value, a run for"
    " each"
)
_BESIDE = "; to move the add-on, declare it under another name beside, then off-board the old one"
_IN_PLACE = (
    "put the former chart back and run `tenantry up`, which sets upgrade.chartNameChangeStrategy: InPlaceUpdate (from Flux 2.9 on,"
    " and unless the file says Reinstall); the run after that changes the chart without a reinstallation"
)


CHARTS_GO = (
    "Helm deletes what {chart} made, with PersistentVolumeClaims and their data; claims from volumeClaimTemplates stay"
)
"""What an app loses that is a release. An uninstallation spares what carries `helm.sh/resource-policy: keep`."""
APPLIED_GOES = "Flux prunes what {it} applied, with PersistentVolumeClaims and their data"
"""What an app loses that is a Kustomization."""
PLATFORM_GOES = (
    "role bindings, quotas, network policies and all else that it made are gone meanwhile, and namespaces and claims without"
    " 'helm.sh/resource-policy: keep' lose their data"
)
"""What tenants lose with a baseline, and everybody with an add-on."""


def lost(reinstalls: Sequence[Reinstall]) -> str:
    """What apps lose, as the end of a sentence."""
    words = {True: CHARTS_GO.format(chart="their charts"), False: APPLIED_GOES.format(it="they")}
    kinds = {reinstall.release for reinstall in reinstalls}
    return "; ".join(words[release] for release in (True, False) if release in kinds)
