"""What the environment before has to show before apps may change, and what is said of changes that it does not run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from tenantry.cluster.evidence import MISSING, Contents, Evidence, format_value, tolerated
from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at
from tenantry.messages.text import counted, grouped, listed, printable
from tenantry.plan.after import After
from tenantry.plan.engine_order import Chains, becomes_ready, bypass
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.flux_status import age, moment

_KIND = "kind"
_REFS = {"GitRepository": "source.git.ref", "OCIRepository": "source.oci.ref"}
Facets = Mapping[str, Any]
"""What has to be the same in both environments, by the key that a user would write. `tenantry promote` copies the same."""


@dataclass(slots=True)
class Question:
    """What changed apps need from the environment before.

    changed: how many apps. absent: those that the environment before does not have, so that nothing is asked about them.
    unproven: why an app is not proved, whatever the cluster says. different: those of them that have another version there.
    proofs: where the cluster has to prove the others.
    """

    changed: int = 0
    absent: list[str] = field(default_factory=list)
    unproven: dict[str, str] = field(default_factory=dict)
    different: list[str] = field(default_factory=list)
    proofs: list[PlannedApp] = field(default_factory=list)


def question(plan: Plan, changed: Iterable[PlannedApp], before: Plan) -> Question:
    """What is asked about changed apps of a plan. before: the plan of the environment before."""
    contents, contents_before = Contents(plan), Contents(before)
    known = grouped(before.apps, lambda app: app.full_name)
    by_name = grouped(changed, lambda app: app.full_name)
    asked = Question(len(by_name))
    own, others = Chains(plan), Chains(before)
    for name, apps in by_name.items():
        if name not in known:
            asked.absent.append(name)
            continue
        # Where it is paused or leaves it shows nothing, and another cluster has to show it.
        chains = [(app, contents_before.chain_of(app)) for app in known[name]]
        running = [(app, facets(chain)) for app, chain in chains if becomes_ready(chain[-1])]
        wanted, facets_before = [facets(contents.chain_of(app)) for app in apps], [facet for _, facet in running]
        # Of a branch or a range, the file does not know what it is.
        follows = any(bypass(app, own) for app in apps) or any(bypass(app, others) for app in known[name])
        if not running:
            asked.unproven[name] = f"it is paused in {before.environment}, or leaves"
        elif follows:
            asked.proofs += [app for app, _ in running]
        elif missing := [own for own in wanted if own not in facets_before]:
            asked.unproven[name] = _difference(before.environment, missing[0], facets_before)
            asked.different.append(name)
        else:
            asked.proofs += [app for app, own in running if own in wanted]
    return asked


def facets(chain: Sequence[Manifest]) -> Facets:
    """The facets of an app. chain: its source, its chart and its reconciler, as planned."""
    return dict(_facets(chain))


def _facets(chain: Sequence[Manifest]) -> Iterator[tuple[str, Any]]:
    for manifest in chain:
        spec, kind = mapping_at(manifest, "spec"), manifest["kind"]
        if kind == "HelmChart":
            yield "helm.chart", spec.get("chart")
            yield "helm.version", str(spec.get("version", "*"))
        elif kind in _REFS:
            yield _REFS[kind], spec.get("ref")
    yield _KIND, chain[-1]["kind"] if chain else ""


def _difference(environment: str, wanted: Facets, others: Sequence[Facets]) -> str:
    """Such as: dev has helm.version 1.1.0, not 1.2.0."""
    for key in dict.fromkeys((_KIND, *wanted, *(key for other in others for key in other))):
        values = [other.get(key) for other in others]
        if wanted.get(key) not in values:
            has = listed([format_value(value) for value in values], 3)
            label = "" if key == _KIND else f"{key} "
            return printable(f"{environment} has {label}{has}, not {format_value(wanted.get(key))}")
    return f"{environment} has other versions of it together"


class Unproven(NamedTuple):
    """Why the environment before does not prove an app, and until when, if only time is missing."""

    reason: str
    until: datetime | None = None


def unproven(evidence: Iterable[Evidence], before: Plan, after: After, now: datetime) -> dict[str, Unproven]:
    """The apps that the environment before does not prove, each with the first reason. What its rollout tolerates is no reason.

    before: the plan of the environment before.
    """
    proofs = tuple(evidence)
    passed_over = tolerated(before, proofs)
    reasons: dict[str, Unproven] = {}
    for proof in proofs:
        if proof.app.id not in passed_over and (reason := _reason(proof, after, now)):
            since = None if proof.problem else moment(proof.since)
            until = since + timedelta(seconds=after.seconds) if since else None
            reasons.setdefault(proof.app.full_name, Unproven(f"{reason} (on {proof.app.cluster})", until))
    return reasons


def _reason(evidence: Evidence, after: After, now: datetime) -> str:
    if evidence.problem.endswith(MISSING) and evidence.revision:
        # The name of a chart has its version.
        return printable(f"it still runs {evidence.revision}")
    if evidence.problem or not evidence.problem_after(after.seconds, now):
        return evidence.problem
    ready = age(evidence.since, now)
    return f"ready for {ready} of {after.soak}" if ready else "Flux does not say since when it has been ready"


_MOST = 5


def not_proved(environment: str, after: After, unproven: Mapping[str, str], absent: Sequence[str]) -> str:
    """Which apps wait for the environment before, and what is missing there."""
    apps = counted(len(unproven), "app")
    ready = f" and has been ready for {after.soak}" if after.soak else " and is ready"
    lines = [f"{apps} of '{environment}' would change before '{after.environment}' runs the change{ready}"]
    lines += [f"    {name}: {reason}" for name, reason in list(unproven.items())[:_MOST]]
    lines += [f"    and {len(unproven) - _MOST} more"] if len(unproven) > _MOST else []
    lines += [f"    {without(after, absent)}"] if absent else []
    return "\n".join(lines)


def unknown(environment: str, after: After, changed: Sequence[str], reason: str) -> str:
    """That nobody can tell."""
    head = (
        f"it is not known whether '{after.environment}' runs the change of {counted(len(changed), 'app')} of '{environment}'"
        f" ({listed(changed, _MOST)})"
    )
    return f"{head}\n    {reason}"


def without(after: After, absent: Sequence[str]) -> str:
    """The apps that nothing is asked about."""
    have = "is" if len(absent) == 1 else "are"
    return f"{counted(len(absent), 'changed app')} {have} not in '{after.environment}' and may change: {listed(absent, _MOST)}"


def ways_on(environment: str, after: After, different: Sequence[str], blocked: Sequence[str]) -> str:
    """What to type. different: apps that the environment before has in another version. blocked: all that wait."""
    first = after.environment
    how = f"give {first} the same version, run it there and wait" if different else "run it there first and wait"
    lines = [f"{how}: tenantry up --environment {first}"]
    if different:
        lines.append(f"or take what {first} has: tenantry promote {first} {environment} {different[0]}")
    named = " ".join(blocked[:_MOST]) or "TENANT/APP"
    lines.append(f"in an emergency: tenantry up {environment} --ignore after {named}")
    return "\n       ".join(lines)
