"""What an object uses as it lives now: its source, chart, configs, Secrets, account, and what it depends on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from tenantry.kube.objects import Manifest, ObjectId, object_id, readable_id
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.plan.engine_order import reference_of
from tenantry.rollout.flux_status import Readiness
from tenantry.rollout.readiness import Live, Standing, source_problems

Target: TypeAlias = tuple[str, str, str]
"""Kind, namespace and name."""


def by_target(objects: Iterable[Manifest]) -> dict[Target, Manifest]:
    """Objects by what a reference names: it has no version."""
    return {id[1:]: manifest for manifest in objects if (id := readable_id(manifest))}


def used_by(live: Manifest, removed: Mapping[Target, Manifest]) -> Iterator[ObjectId]:
    """What an object refers to, and what that refers to, as far as it is among removed objects."""
    seen: set[Target] = set()
    rest = [live]
    while rest:
        manifest = rest.pop()
        if (own := readable_id(manifest)) is None:
            continue
        spec = mapping_at(manifest, "spec")
        account = ("ServiceAccount", own.namespace, str(spec.get("serviceAccountName")))
        targets = _references(own.kind, spec, own.namespace)
        for target in (("Namespace", "", own.namespace), account, *targets):
            if target in removed and target not in seen:
                seen.add(target)
                yield object_id(removed[target])
                rest.append(removed[target])


def _references(kind: str, spec: Mapping[str, Any], namespace: str) -> Iterator[Target]:
    """All that the fields of a spec refer to, apart from the values of a chart. A reference without a kind is to a Secret."""
    for key, value in spec.items():
        if key == "values":
            continue
        inside = [value] if isinstance(value, dict) else mappings_in(value)
        default = {"repository": "GitRepository", "dependsOn": kind}.get(key, "Secret")
        if key.endswith(("Ref", "From")) or key in ("repository", "dependsOn"):
            for reference in inside:
                yield (
                    str(reference.get("kind", default)),
                    str(reference.get("namespace") or namespace),
                    str(reference.get("name")),
                )
        else:
            for inner in inside:
                yield from _references(kind, inner, namespace)


def reference_in(live: Manifest, namespace: str) -> Target | None:
    """As `reference_of`, for an object that others may have written."""
    try:
        return reference_of(live, namespace)
    except (KeyError, TypeError, AttributeError):
        return None


def missing_artifact(chain: tuple[ObjectId, ...], live: Live, now: datetime) -> Standing | None:
    """Why the last of a source and its chart has no artifact of what its spec says now; None: it has one."""
    problems = list(source_problems(chain, live, now))
    absent = [problem for problem in problems if problem.readiness is Readiness.MISSING]
    own = [problem for problem in problems if problem.cause == chain[-1]]
    # A chart that has arrived does not need its source any more.
    if not absent and not own and value_at(live[chain[-1]], ("status", "artifact")):
        return None
    first = next(iter(absent or problems), None)
    return first or Standing(Readiness.PROGRESSING, f"{chain[-1]} has no artifact yet", chain[-1])
