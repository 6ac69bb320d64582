"""The steps that adopt an imported fleet without a deletion or a restart.

Adoption is `tenantry up` with `adopt: true`: server-side apply takes the objects over and keeps their identity. Three things
need a hand: what applies the objects today must stop and must not prune them, fields that server-side apply cannot remove
have to be removed, and objects that get other names stay beside the new ones. No command deletes anything: the steps say what
is left and how to see what uses it, and the reader decides.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tenantry.cluster.kubectl import (
    chart_patch,
    chart_patch_back,
    copy_secret_key,
    create_namespace,
    get,
    leave_alone,
    resume,
    server_of_kubeconfig,
    source_patch,
    suspend,
    users_of_sources,
)
from tenantry.importing.appliers import Applier, applier_of
from tenantry.importing.equivalence import NAMESPACES_OF_SOURCES
from tenantry.importing.model import Draft, Held, Inventory, Proof, Read, key_of
from tenantry.importing.reading import ORIGIN
from tenantry.kube.objects import ObjectId, is_of_flux, labels_of, object_id
from tenantry.messages.data import mapping_at
from tenantry.messages.text import counted, format_path, grouped
from tenantry.plan.plan import Plan

_KUSTOMIZATION = "kustomize.toolkit.fluxcd.io/v1"
_INSTALLS = ("Kustomization", "HelmRelease")
_SOURCES = ("GitRepository", "OCIRepository", "HelmRepository", "Bucket", "HelmChart")


@dataclass(frozen=True, slots=True)
class Step:
    """text: what to do and why, in sentences; commands: ready to copy, one on each line; back: those that undo it."""

    text: str
    commands: tuple[str, ...] = ()
    back: tuple[str, ...] = ()


READ_WHAT_IS_LEFT = Step('Go through "Left over or renamed" in this report, and do what it says.')
_DECIDE = Step("Follow the comments in tenants.yaml that begin with 'decide:', and delete them.")


class _Place(NamedTuple):
    """An object, and the context of the kubeconfig with its cluster; empty if there is one management cluster only."""

    id: ObjectId
    context: str


def steps(
    inventory: Inventory,
    proof: Proof,
    renamed: Iterable[Read],
    plans: Mapping[str, Plan],
    draft: Draft,
    *,
    project: bool,
    changes: bool,
    left_over: bool,
    decisions: bool,
) -> tuple[Step, ...]:
    """The steps in their order. project: whether a Pulumi project has to be made around tenants.yaml."""
    hubs = tuple(dict.fromkeys(plan.management for plan in plans.values()))
    contexts = {name: plan.management if len(hubs) > 1 else "" for name, plan in plans.items()}
    old = [_Place(object_id(each.manifest), contexts[each.environment]) for each in renamed]
    return (
        *((_DECIDE,) if decisions else ()),
        *_same(draft.held, contexts),
        *_copies(draft.held, contexts),
        *_project(plans, needed=project),
        *_check(hubs, plans, changes=changes),
        *_owners(inventory, proof, draft, contexts),
        *_suspended(old),
        *_charts(proof, contexts),
        *_references(proof, contexts),
        *_up(plans),
        *_left(old),
        *((READ_WHAT_IS_LEFT,) if left_over else ()),
        *_protected(draft),
    )


def _same(held: Iterable[Held], contexts: Mapping[str, str]) -> Iterator[Step]:
    """The kubeconfigs that are taken for one cluster's, to be compared by the address of its API server alone."""
    for each in held:
        if len(each.namespaces) > 1 and each.kind == "Secret":
            yield Step(
                f"{counted(len(each.namespaces), 'Secret')} named {each.name} are taken for kubeconfigs of one cluster,"
                f" {each.cluster}. See that they name the same server. One that does not is another cluster's: give it another"
                " name, there and where Flux objects name it, and import again:",
                tuple(
                    server_of_kubeconfig(namespace, each.name, each.key, contexts[each.environment])
                    for namespace in each.namespaces
                ),
            )


def _copies(held: Iterable[Held], contexts: Mapping[str, str]) -> Iterator[Step]:
    """The kubeconfigs that have to lie elsewhere. Owners are not copied: they lie in the old namespace."""
    copied = (each for each in held if not each.is_there)
    for (environment, to), each in grouped(copied, lambda one: (one.environment, one.to)).items():
        secrets = [one for one in each if one.kind == "Secret"]
        configs = [one for one in each if one.kind != "Secret"]
        context = contexts[environment]
        commands = (
            create_namespace(to, context),
            *(copy_secret_key(one.namespaces[0], one.name, one.key, to, context) for one in secrets),
            *(get(ObjectId("v1", one.kind, one.namespaces[0], one.name), context) for one in configs),
        )
        more = (
            f" Create what the last {counted(len(configs), 'command')} shows in namespace {to}, too." if configs else ""
        )
        yield Step(
            f"Copy the kubeconfigs into namespace {to}, which no tenant has. The old ones stay, and Flux reads them until the last"
            f" step; to go back, leave them where they are.{more} What renews an old one has to renew its copy, too:",
            commands,
        )


def _project(plans: Mapping[str, Plan], *, needed: bool) -> Iterator[Step]:
    """The project with a stack for each environment."""
    if needed:
        stacks = tuple(
            line
            for name in map(shlex.quote, plans)
            for line in (f"pulumi stack init {name}", f"pulumi config set tenantry:kubeconfig FILE --stack {name}")
        )
        yield Step(
            "Make a Pulumi project around tenants.yaml, and do what its README.md says about the installation. Each stack takes"
            " the kubeconfig of its management cluster:",
            ("tenantry init --yes", *stacks),
        )


def _check(hubs: Sequence[str], plans: Mapping[str, Plan], *, changes: bool) -> Iterator[Step]:
    clusters = dict.fromkeys((*hubs, *(app.cluster for plan in plans.values() for app in plan.apps)))
    bootstraps = (f"tenantry bootstrap {shlex.quote(cluster)} --kubeconfig FILE --context NAME" for cluster in clusters)
    yield Step(
        "Check the file, and prepare each cluster with an administrator's kubeconfig and context for it; existing objects stay:",
        ("tenantry validate", *bootstraps),
    )
    if changes:
        yield Step(
            'Go through "Adoption changes" in this report, and correct tenants.yaml where something has to stay as it is.'
        )
    preflights = tuple(f"tenantry preflight --environment {shlex.quote(each)} --dry-run" for each in plans)
    yield Step(
        "Have the live cluster say what adoption changes, as a dry run: nothing is changed yet. It also names what applies these"
        " objects today; the next steps stop that. Run it again before `tenantry up`:",
        preflights,
    )


def _owners(inventory: Inventory, proof: Proof, draft: Draft, contexts: Mapping[str, str]) -> Iterator[Step]:
    """What applies the objects today. Kustomizations of Flux write their name into labels of what they apply."""
    replaced = {id(each.read) for each in draft.left_over if each.fate == "replaced" and not each.field}
    ending = {(each.environment, *key_of(each.manifest)[1:]) for each in inventory.objects if id(each) in replaced}
    taken = {id(each.read) for each in draft.became} | replaced
    going_on = {(each.environment, _owner(each)) for each in inventory.objects if id(each) not in taken}
    found = grouped(proof.kept, lambda kept: (kept.read.environment, _owner(kept.read)))
    for (environment, owner), objects in found.items():
        ids, context = [each.planned.id for each in objects], contexts[environment]
        if owner is None:
            ids = [each.planned.id for each in objects if each.read.origin != ORIGIN]
            if ids:
                yield _alone(f"What applies {_of_these(ids)} was not read.", ids, context)
        elif (environment, *owner) in ending and (environment, owner) not in going_on:
            yield _handover(_Place(ObjectId(_KUSTOMIZATION, *owner), context), len(ids))
        else:
            who = f"{owner.kind} {owner.namespace}/{owner.name}"
            yield _alone(f"{who} applies {_of_these(ids)}, and others that it goes on applying.", ids, context)


def _of_these(ids: Sequence[ObjectId]) -> str:
    return f"{counted(len(ids), 'object')} of these"


def _alone(who: str, ids: Sequence[ObjectId], context: str) -> Step:
    return Step(
        f"{who} Have Flux leave {'it' if len(ids) == 1 else 'them'} alone. Otherwise it"
        " sets back what Tenantry changes; and if you delete the files from the repository, it deletes the objects and everything"
        " they installed. The annotation stays. After `tenantry up`, remove the files of these objects from the repository, and"
        " of no others.",
        leave_alone(ids, context),
        leave_alone(ids, context, back=True),
    )


def _owner(read: Read) -> Applier | None:
    return applier_of(labels_of(read.manifest), "Kustomization")


def _handover(owner: _Place, count: int) -> Step:
    return Step(
        f"{owner.id} applies {counted(count, 'object')} of these from its repository, and nothing else that was read. While it"
        " does, it sets back what Tenantry changes. Suspend it: a Kustomization that is suspended deletes nothing, also when it"
        " is deleted itself. After `tenantry up`, remove its own manifest and its files from the repository.",
        (suspend(*owner),),
        (resume(*owner),),
    )


def _suspended(old: Iterable[_Place]) -> Iterator[Step]:
    if ending := [each for each in old if each.id.kind in _INSTALLS and is_of_flux(each.id.api_version)]:
        yield Step(
            "These get other names. Suspend them: then Flux no longer changes what they installed, and leaves it there also if"
            " they are deleted:",
            tuple(suspend(*each) for each in ending),
            tuple(resume(*each) for each in ending),
        )


def _charts(proof: Proof, contexts: Mapping[str, str]) -> Iterator[Step]:
    releases = [each for each in proof.kept if each.planned.id.kind == "HelmRelease"]
    with_chart = [release for release in releases if "chart" in (release.read.manifest.get("spec") or {})]
    if with_chart:
        yield Step(
            "Right before `tenantry up`, replace `spec.chart` of these releases by the `spec.chartRef` of the plan. The API"
            " server refuses objects with both, and an apply cannot remove a field of others. The releases are not"
            " ready until `tenantry up` creates their charts; Helm installs and upgrades nothing:",
            tuple(chart_patch(each.planned, contexts[each.read.environment]) for each in with_chart),
            tuple(
                chart_patch_back(each.planned, each.read.manifest["spec"]["chart"], contexts[each.read.environment])
                for each in with_chart
            ),
        )


def _references(proof: Proof, contexts: Mapping[str, str]) -> Iterator[Step]:
    """The apps whose sources lay in another namespace. An apply would leave that namespace in the reference."""
    moved = [each for each in proof.kept if any(field.path in NAMESPACES_OF_SOURCES for field in each.changed)]
    if moved:
        yield Step(
            "Right before `tenantry up`, have these objects take the sources of the plan, which lie beside them: an apply"
            " leaves the old namespace in the reference, where no such source is. They are not ready until `tenantry up`"
            " creates the sources; Flux deletes nothing:",
            tuple(source_patch(each.planned, context=contexts[each.read.environment]) for each in moved),
            tuple(source_patch(each.planned, each.read.manifest, contexts[each.read.environment]) for each in moved),
        )


def _up(plans: Mapping[str, Plan]) -> Iterator[Step]:
    commands = tuple(f"tenantry up --environment {shlex.quote(plan)}" for plan in plans)
    yield Step("Take everything over; this waits until every app is ready:", commands)


def _left(old: Sequence[_Place]) -> Iterator[Step]:
    """What keeps its old name. The commands only read."""
    if old:
        contexts = dict.fromkeys(each.context for each in old if each.id.kind in _SOURCES)
        yield Step(
            "These objects keep their old names, beside those of Tenantry. See what they hold, and which sources Flux still"
            " reads. They can stay; if you delete one yourself, make sure that nothing uses it. With a namespace, everything in"
            " it goes:",
            (*(get(*each) for each in old), *map(users_of_sources, contexts)),
        )


_NAMES = 10
"""The most add-ons that have a command each."""


def _protected(draft: Draft) -> Iterator[Step]:
    """What import leaves off, so that nothing changes, and what protects data."""
    addons = mapping_at(dict(draft.data), "platform", "addons")
    bare = [name for name in addons if mapping_at(addons, name).get("keepCRDs") is False]
    if bare:
        more = f" These are {_NAMES} of {len(bare)}." if len(bare) > _NAMES else ""
        yield Step(
            "When everything runs, have the CustomResourceDefinitions of add-ons outlive them, with all objects of their kinds."
            " Today they go with the add-on. Helm upgrades a release once when its line goes, so take them one at a time, and run"
            f" `tenantry up` after each.{more}",
            tuple(
                f"tenantry set {shlex.quote(format_path(('platform', 'addons', name, 'keepCRDs')))} null"
                for name in bare[:_NAMES]
            ),
        )
