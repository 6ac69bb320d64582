"""What Flux would uninstall and install anew: baselines, add-ons and apps of which a changed field gives them another target.

If a part of a target changes, Flux deletes what it installed and installs it anew. helm-controller compares the release that it
has recorded in the status, not an earlier spec (reason `ReleaseTargetChanged`), so the plan is compared with that, and not with the
live spec: that may hold the change already. kustomize-controller records none of this: it prunes whatever has another name or
namespace than before. A changed kubeconfig is judged by `guard.removals`, and another kind of Flux object is a removal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tenantry.guard.places import label
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, labels_of
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Problem, error
from tenantry.messages.text import lines_of
from tenantry.plan.objects.apps import IN_PLACE
from tenantry.plan.objects.lifecycle import STATE_LABEL, is_given_up
from tenantry.plan.objects.scope import APP_LABEL, RECONCILERS
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.guard.held import Held

CHART = "chart"
"""The part that is a chart's name."""
_MOVES = ("targetNamespace", "namePrefix", "nameSuffix")
"""Fields of a Kustomization on which the identities of its objects depend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """parts: by the field that sets it, or `CHART`.

    leaving: an earlier run has given it up. in_place: a changed name of the chart upgrades the release.
    tried: the `chartRef` with which helm-controller has got past its comparison, as (kind, namespace, name).
    """

    parts: Mapping[str, str]
    leaving: bool = False
    in_place: bool = False
    tried: tuple[str, str, str] | None = None


class Charts:
    """The names of the charts that planned releases install, as far as a plan knows them.

    In a Git repository or bucket the name stands in the chart's own Chart.yaml. A whole OCIRepository can hold a chart of any name;
    by the convention of registries it is the last part of the address.
    """

    def __init__(self, plan: Plan) -> None:
        self._names: dict[tuple[str, ...], tuple[str, bool]] = {}
        for id, manifest in ((planned.id, planned.manifest) for planned in plan.objects):
            if id.kind in ("HelmChart", "OCIRepository"):
                spec = mapping_at(manifest, "spec")
                place = label(spec, "chart" if id.kind == "HelmChart" else "url").rstrip("/").rpartition("/")[2]
                is_name = mapping_at(spec, "sourceRef").get("kind") == "HelmRepository"
                self._names[id.kind, id.namespace, id.name] = (place, is_name)

    def of(self, release: Manifest) -> str | None:
        """The name of a release's chart; None: nobody knows it before Flux has fetched it."""
        name, is_known = self._names.get(chart_of(release), ("", False))
        return name if is_known else None

    def guess(self, release: Manifest) -> str:
        """The name of a release's chart, or the last part of the path or address that it comes from; "": not even that."""
        return self._names.get(chart_of(release), ("", False))[0]


def chart_of(release: Manifest) -> tuple[str, str, str]:
    """What a release names as its chart: kind, namespace, name; "" for what is missing or malformed."""
    reference = mapping_at(release, "spec", "chartRef")
    namespace = label(reference, "namespace") or label(mapping_at(release, "metadata"), "namespace")
    return label(reference, "kind"), namespace, label(reference, "name")


def live_target(manifest: Manifest) -> Target | None:
    """What a live object has installed; None: nothing, or the object does not say what."""
    release = manifest.get("kind") == "HelmRelease"
    if release:
        return _target(manifest, dict(_recorded(manifest)))
    # What the names of the objects in its inventory depend on.
    is_applied = mapping_at(manifest, "status", "inventory").get("entries")
    return _target(manifest, _named(manifest) if is_applied else {})


def planned_targets(plan: Plan) -> dict[ObjectId, Target]:
    """What the objects of a plan install, if nothing else is known of them."""
    charts = Charts(plan)
    targets: dict[ObjectId, Target] = {}
    for id, manifest in ((planned.id, planned.manifest) for planned in plan.objects):
        if id.kind in RECONCILERS:
            parts = _named(manifest) if id.kind == "Kustomization" else planned_parts(manifest, charts)
            if target := _target(manifest, parts):
                targets[id] = target
    return targets


def planned_parts(manifest: Manifest, charts: Charts) -> dict[str, str]:
    """The parts that a planned object asks for, as far as a plan knows them. Empty: Flux deletes nothing if they change."""
    spec = mapping_at(manifest, "spec")
    if manifest.get("kind") == "Kustomization":
        return _named(manifest) if spec.get("prune") else {}
    metadata, chart = mapping_at(manifest, "metadata"), charts.of(manifest)
    namespace, name = (label(metadata, key) for key in ("namespace", "name"))
    target = label(spec, "targetNamespace")
    return {
        "storageNamespace": label(spec, "storageNamespace") or namespace,
        "targetNamespace": target or namespace,
        "releaseName": label(spec, "releaseName") or "-".join(filter(None, (target, name))),
        **({CHART: chart} if chart else {}),
    }


def upgrades_in_place(manifest: Manifest) -> bool:
    """Whether a release stays if only the name of its chart changes."""
    return mapping_at(manifest, "spec", "upgrade").get("chartNameChangeStrategy") == IN_PLACE


def history_problem(manifest: Manifest) -> str:
    """What cannot be read of the releases in a status; "" if they are as helm-controller writes them."""
    history = mapping_at(manifest, "status").get("history") or []
    sound = isinstance(history, list) and all(isinstance(entry, dict) for entry in history)
    return "" if sound else "status.history is not a list of mappings"


def _target(manifest: Manifest, parts: dict[str, str]) -> Target | None:
    if not parts:
        return None
    # Whether helm-controller has gone on to install or upgrade with the present spec.
    tried = mapping_at(manifest, "status").get("lastAttemptedGeneration")
    was_tried = tried is not None and tried == mapping_at(manifest, "metadata").get("generation")
    return Target(
        parts=parts,
        leaving=is_given_up(manifest),
        in_place=upgrades_in_place(manifest),
        tried=chart_of(manifest) if was_tried else None,
    )


def _recorded(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """What helm-controller has recorded of the newest release. Without it, nothing is uninstalled."""
    status = mapping_at(manifest, "status")
    history, storage = status.get("history"), label(status, "storageNamespace")
    newest = history[0] if isinstance(history, list) and history else None
    if not (storage and isinstance(newest, dict)):
        return
    yield "storageNamespace", storage
    for part, key in (("targetNamespace", "namespace"), ("releaseName", "name"), (CHART, "chartName")):
        if value := label(newest, key):
            yield part, value


def _named(manifest: Manifest) -> dict[str, str]:
    spec = mapping_at(manifest, "spec")
    return {key: label(spec, key) for key in _MOVES}


# --- the plan against them ---------------------------------------------------------------------------------------------

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
        what = f"the baseline of tenant '{self.tenant}'" if self.tenant else "the namespaces of add-ons"
        if self.app:
            what = f"app '{self.app}' of tenant '{self.tenant}'" if self.tenant else f"add-on '{self.app}'"
        return f"{what} on {self.cluster} ({changed})"


def reinstalls(plan: Plan, now: Held) -> list[Reinstall]:
    """What Flux would uninstall and install anew. What an earlier run has given up is left out."""
    if not now.targets:
        return []
    charts = Charts(plan)
    judged = ((planned, now.targets.get(planned.id)) for planned in plan.objects)
    return sorted({reinstall for object, target in judged if target and (reinstall := _judged(object, target, charts))})


def _judged(planned: KubeObject, target: Target, charts: Charts) -> Reinstall | None:
    if target.leaving or labels_of(planned.manifest).get(STATE_LABEL) == "decommissioned":
        return None
    wanted = planned_parts(planned.manifest, charts)
    changes = [(key, before, wanted[key]) for key, before in target.parts.items() if wanted.get(key, before) != before]
    # Another name of the chart reinstalls nothing if the release is upgraded in place. A HelmChart can change before the release
    # that uses it, so the live release has to say InPlaceUpdate as well. And if helm-controller has accepted the same HelmChart,
    # whose name contains a digest of its settings, its chart has another name in the index than in its own Chart.yaml.
    in_place = target.in_place and upgrades_in_place(planned.manifest)
    if in_place or target.tried == chart_of(planned.manifest):
        changes = [change for change in changes if change[0] != CHART]
    if not changes:
        return None
    app = label(labels_of(planned.manifest), APP_LABEL)
    return Reinstall(*planned.owner, app=app, changes=tuple(changes), release=planned.id.kind == "HelmRelease")


def platform_problems(reinstalls: Sequence[Reinstall]) -> Iterator[Problem]:
    """Refuse what no run may do: reinstall what all tenants of a cluster stand on."""
    if of_platform := [reinstall for reinstall in reinstalls if reinstall.of_platform]:
        yield error(
            REINSTALLS,
            f"Flux would uninstall a part of the platform and install it anew: {PLATFORM_GOES}\n{lines_of(of_platform)}",
            "put back what changed; a chart's name may change in the run after one that sets"
            " upgrade.chartNameChangeStrategy: InPlaceUpdate (from Flux 2.9 on); to move an add-on, declare it under another name"
            " beside, then off-board the old one",
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
