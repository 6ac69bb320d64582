"""`after`: a wave before the first, in the environment before. A changed app waits until that environment runs it ready."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenantry.cluster import connect
from tenantry.cluster.drift import compare
from tenantry.cluster.inventory import unmarked
from tenantry.cluster.reading import read_objects
from tenantry.fleet.fleet import Fleet
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Refused, refuse
from tenantry.messages.text import grouped, listed, printable
from tenantry.plan.engine_order import Chains, becomes_ready, following
from tenantry.plan.objects.lifecycle import is_marked
from tenantry.plan.plan import Plan, plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.blocked import Asking
from tenantry.rollout.change import Change, Evidence, Kind, Lines, Reason, change_of, wanted_of
from tenantry.rollout.waves import Rollout, Wave, members
from tenantry.stacks.file import HERE, NAMESPACE, target_of

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def waiting(
    client: Client, fleet: Fleet, change: Change, project: Path, now: datetime, ignored: Collection[str] = ()
) -> dict[str, Reason]:
    """Why changed apps wait for the environment before, by their full names.

    Args:   client: of the run's management cluster. project: where the stacks' files are. ignored: the apps that nothing is asked
            about.
    Raises: Refused: the environment before cannot be read, so nobody can tell.
    """
    after, planned = change.plan.after, change.plan
    changed = grouped((app for app in _changed(change) if app.full_name not in ignored), lambda app: app.full_name)
    if after is None or not changed:
        return {}
    before = plan(fleet, after.environment)
    known = grouped(before.apps, lambda app: app.full_name)
    follows, own, others = {*following(planned, before)}, Chains(planned), Chains(before)
    unproven: dict[str, str] = {}
    for name in (name for name in changed if name in known):
        # Where it is paused or leaves it shows nothing, and another cluster has to show it.
        chains = [chain for chain in (others.of(app.id) for app in known[name]) if becomes_ready(chain[-1])]
        # Of a branch or a range, the file does not know what it is.
        wanted = () if name in follows else [facets(own.of(app.id)) for app in changed[name]]
        running = [facets(chain) for chain in chains]
        missing = next((facet for facet in wanted if facet not in running), None)
        unproven[name] = "" if chains else "it is paused there, or leaves"
        if chains and missing:
            copies = f"`tenantry promote {before.environment} {planned.environment} {name}` copies what it has"
            unproven[name] = f"{_difference(before.environment, missing, running)}; {copies}"
    reasons = {name: Reason(Kind.WAITING, message) for name, message in unproven.items() if message}
    if asked := [name for name, message in unproven.items() if not message]:
        try:
            with _management(client, fleet, project, planned, before) as there:
                reasons |= _unready(there, before, asked, after.seconds, now)
        except Refused as refused:
            raise Refused(
                f"it is not known whether '{before.environment}' runs the change of {listed(asked, 5)}: {refused.message}",
                f"pulumi config set {NAMESPACE}:kubeconfig FILE --stack {before.environment}, a file that may read what it has;"
                f" in an emergency: tenantry up {planned.environment} --ignore after {' '.join(asked[:5])}",
            ) from None
    waits = f"waits until '{after.environment}' runs it{f', ready for {after.soak}' if after.soak else ' and is ready'}"
    return {name: Reason(Kind.WAITING, f"{waits}: {reason.message}", reason.until) for name, reason in reasons.items()}


def _changed(change: Change) -> Iterator[PlannedApp]:
    """The apps that a run creates or changes, or what they take.

    A rotated Secret waits for nothing. Neither does a mark for removal: the environment before loses the app too, or keeps it.
    """
    changed = {id for id, changed in change.changed.items() if id.kind != "Secret" and not changed.is_state_alone}
    for app in change.plan.apps:
        reconciler = change.lines.reconcilers[app.id]
        if is_marked(change.lines.objects[app.id].manifest):
            continue
        if not changed.isdisjoint((app.id, *reconciler.sources, *reconciler.inputs)):
            yield app


def _difference(environment: str, wanted: Mapping[str, Any], there: Sequence[Mapping[str, Any]]) -> str:
    """Such as: dev has helm.version 1.1.0, not helm.version 1.2.0"""
    keys = [key for key in wanted if wanted[key] not in [facets.get(key) for facets in there]] or [*wanted]
    has, wants = (listed([_format(facets, keys) for facets in of], 3) for of in (there, [wanted]))
    return printable(f"{environment} has {has}, not {wants}")


_REFS = {"GitRepository": "source.git.ref", "OCIRepository": "source.oci.ref"}


def facets(chain: Sequence[Manifest]) -> dict[str, Any]:
    """What has to be the same in both environments, by the key that a user would write. `tenantry promote` copies the same.

    chain: the source of an app, its chart and its reconciler, as planned.
    """
    facets: dict[str, Any] = {"kind": chain[-1]["kind"]}
    for manifest in chain:
        spec, kind = mapping_at(manifest, "spec"), manifest["kind"]
        if kind == "HelmChart":
            facets |= {"helm.chart": spec.get("chart"), "helm.version": str(spec.get("version", "*"))}
        elif kind in _REFS:
            facets[_REFS[kind]] = spec.get("ref")
    return facets


def _format(facets: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Such as: helm.version 1.1.0"""
    values = {key: facets.get(key) for key in keys}
    return ", ".join(
        f"{key} {' '.join(f'{name} {part}' for name, part in value.items()) if isinstance(value, Mapping) else value}"
        for key, value in values.items()
    )


# --- the management cluster of the environment before -----------------------------------------------------------------


@contextmanager
def _management(client: Client, fleet: Fleet, project: Path, planned: Plan, before: Plan) -> Iterator[Client]:
    """A client for the management cluster of the environment before. Raises: Refused: it cannot be asked."""
    if before.management == planned.management:
        yield client
        return
    reach = target_of(project, before.environment).reach
    if reach == HERE:
        raise Refused(f"environment '{before.environment}' names no kubeconfig in the settings of its stack")
    with connect.connected(reach) as there:
        refuse(unmarked(there, fleet, before))
        yield there


def _unready(client: Client, before: Plan, names: Collection[str], soak: float, now: datetime) -> dict[str, Reason]:
    """Which of some apps do not run as the environment before is planned, ready for so many seconds, and why.

    Its own waves say what is tolerated; without any, all of its clusters are one. Raises: Refused: reading is not allowed.
    """
    lines = Lines(_in_waves(before, soak))
    ids = {id for id, subjects in lines.subjects.items() if not {*names}.isdisjoint(subjects) and id.kind != "Secret"}
    # A namespace that is not the tenant's proves nothing.
    spaces = {ObjectId("v1", "Namespace", "", id.namespace) for id in ids} & lines.objects.keys()
    # Of Secrets, a plan does not know the values, and these credentials may not read them.
    wanted = {id for id in wanted_of(Change(lines, {}), ids) if id.kind != "Secret"} | ids | spaces
    live = read_objects(client, before.environment, wanted)
    read = grouped(live.values(), lambda manifest: (str(manifest["apiVersion"]), str(manifest["kind"])))
    objects = [planned for planned in before.objects if planned.id in ids | spaces]
    kinds = {kind: read.get(kind, []) for kind in {(planned.id.api_version, planned.id.kind) for planned in objects}}
    differences = compare(client, before.environment, objects, others=False, read=kinds).differences
    asking = Asking(change_of(lines, differences), Evidence(live=live, is_foreign=True), now, applied=ids)
    reasons = {name: reason for name in names if (reason := asking.unready_line(name))}
    differing = {difference.id.name for difference in differences if difference.id in spaces}
    for app in before.apps:
        if app.full_name in names and app.id.namespace in differing:
            message = f"namespace '{app.id.namespace}' there is not as the file says"
            reasons[app.full_name] = Reason(Kind.WAITING, message)
    return reasons


def _in_waves(before: Plan, soak: float) -> Plan:
    """The environment before, with every app in a wave that soaks."""
    apps = {app.id: app.full_name for app in before.apps}
    clusters = tuple(sorted({app.cluster for app in before.apps}))
    waves = before.rollout.waves if before.rollout else (Wave(1, before.environment, clusters),)
    rollout = Rollout(tuple(replace(wave, soak=round(soak)) for wave in waves))
    return replace(before, rollout=rollout, members=members(before.objects, apps, rollout, frozenset()))
