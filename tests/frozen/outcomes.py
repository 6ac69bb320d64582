"""What becomes of an input, as plain data: a function for each part of the corpus.

Files are texts by name, or lists of one text in base64 where they are not UTF-8. The first is the main file. Who rewrites an input
says under `places` where in the former text each place was: outcomes name former places.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from unittest.mock import patch

from pulumi.runtime import rpc

import components
from tenantry.cli.app import run
from tenantry.facts.objects import differences
from tenantry.facts.review import review
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Origin, Value
from tenantry.fleet.placed import (
    placed_app,
    placed_platform,
    placed_tenant,
    platform_entry,
    platform_times,
    tenant_entry,
)
from tenantry.guard.check import RunLimits, refusals, refusals_of_change
from tenantry.guard.claims import CLAIM_LABEL
from tenantry.guard.reading import Known, held
from tenantry.guard.removals import removals
from tenantry.kube.objects import KubeObject, ObjectId, labels_of, readable_id
from tenantry.load import load_fleet, plan_all, plan_one
from tenantry.messages.errors import InvalidFleet, Problem
from tenantry.plan.plan import Plan
from tenantry.render import file_name
from tests.components.plans import unchecked
from tests.components.recording import record
from tests.frozen.store import Input

Files: TypeAlias = Mapping[str, Any]
Places: TypeAlias = Mapping[str, str]


def fleet_of(files: Files) -> Fleet:
    """The fleet of files in a directory of their own. Raises: InvalidFleet."""
    contents = {Path(name): bytes_of(text) for name, text in files.items()}
    with TemporaryDirectory() as directory, chdir(directory):  # patterns find nothing else
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return load_fleet(next(iter(contents)))


def bytes_of(text: Any) -> bytes:
    return text.encode() if isinstance(text, str) else base64.b64decode(text[0])


# --- fleets: the objects of each environment, and every effective value with its place --------------------------------


def of_fleet(case: Input) -> Any:
    fleet = fleet_of(case["files"])
    plans = plan_all(fleet)
    return {
        "objects": {name: _objects(plan.objects) for name, plan in plans.items()},
        "waves": {name: _waves(plan) for name, plan in plans.items()},
        "values": {name: _values(fleet, plan, case.get("places", {})) for name, plan in plans.items()},
    }


def _objects(objects: Iterable[KubeObject]) -> dict[str, Any]:
    return {file_name(each.id): _with_flags(each) for each in sorted(objects, key=lambda each: each.id)}


def _with_flags(object: KubeObject) -> dict[str, Any]:
    flags = {"protect": object.protect, "retained": object.retained, "secret": object.secret is not None}
    return {"manifest": object.manifest, **{name: True for name, is_set in flags.items() if is_set}}


def _waves(plan: Plan) -> list[list[str]]:
    """The clusters of each wave of the environment."""
    return [[*wave.every] for wave in plan.rollout.waves] if plan.rollout else []


def _values(fleet: Fleet, plan: Plan, places: Places) -> dict[str, dict[str, Any]]:
    """By subject and cluster: `rocky/web`, `platform/dns`, `rocky`, `platform`."""
    environment, rows = plan.environment, partial(_rows_of, places)
    found: dict[str, dict[str, Any]] = {"platform": {"": rows(platform_times(fleet))}}
    installing = {each.cluster for each in plan.placements} - {plan.management}
    for cluster in clusters_of(fleet, environment):
        platform = placed_platform(fleet, environment, cluster, installs=cluster in installing)
        found["platform"][cluster] = rows((*platform, *platform_entry(fleet, environment, cluster)))
    for each in plan.placements:
        tenant = placed_tenant(fleet, environment, each.tenant, each.cluster)
        entry = tenant_entry(fleet, environment, each.tenant, each.cluster)
        found.setdefault(each.tenant, {})[each.cluster] = rows((*tenant, *entry))
    for app in plan.apps:
        values = placed_app(fleet, environment, app.at, app.cluster)
        found.setdefault(app.full_name, {})[app.cluster] = rows(values)
    return found


def _rows_of(places: Places, values: Iterable[Value]) -> list[Any]:
    """The path, the value, where it is from, and where a more specific level takes it away."""
    return [
        [".".join(map(str, each.path)), each.value, *(_place(places, at) for at in _origins(each))] for each in values
    ]


def _origins(value: Value) -> tuple[Origin | None, ...]:
    return (value.origin, value.removed) if value.removed else (value.origin,)


def _place(places: Places, origin: Origin | None) -> str:
    place = str(origin.location) if origin else ""
    return places.get(place, place)


# --- changes: which objects come, go and change in each environment, and the kinds of the dangers ---------------------


def of_change(case: Input) -> Any:
    one, other = (fleet_of(case[side]) for side in ("before", "after"))
    before, after = plan_all(one), plan_all(other)
    reviews = {each.environment: each for each in review(one, other, before, after)}
    found: dict[str, Any] = {}
    for each in differences(before, after):
        name = each.environment
        found[name] = {
            "removed": _names(object.id for object in each.removed),
            "added": _names(object.id for object in each.added),
            "changed": _names(object.id for object in each.changed),
            "dangers": sorted(str(danger.kind) for danger in reviews[name].dangers),
        }
    return found


def _names(ids: Iterable[ObjectId]) -> list[str]:
    return sorted(map(file_name, ids))


# --- mistakes: what is wrong where; nothing for a sound fleet ----------------------------------------------------------


def of_mistake(case: Input) -> Any:
    try:
        plan_all(fleet_of(case["files"]))
    except InvalidFleet as invalid:
        told = ((each.code, str(each.location)) for each in invalid.diagnostics)
        return [[code, case.get("places", {}).get(place, place)] for code, place in told]
    return []


# --- the guard: what a run would remove, and why it is refused ---------------------------------------------------------


def of_guard(case: Input) -> Any:
    """From what is live, which the fleet has made or not; or from another file, if the cluster holds exactly that."""
    environment = case["environment"]
    plan = plan_all(fleet_of(case["files"]))[environment]
    if "before" in case:
        before = plan_all(fleet_of(case["before"]))[environment]
        return {"refusals": _reasons(refusals_of_change(before, plan, _limits(case["limits"])))}
    live = case["live"]
    now = held(live, environment, _known(plan, live, case["known"]) if "known" in case else None)
    found: dict[str, Any] = {"removals": sorted(each.permit for each in removals(plan, now))}
    if "limits" in case:
        found["refusals"] = _reasons(refusals(plan, now, _limits(case["limits"], found["removals"])))
    return found


def _known(plan: Plan, live: list[Any], known: Mapping[str, Collection[int]]) -> Known:
    """known: the places in `live` of what a stack's state has, and of what no tenant can have made."""
    in_state = {readable_id(live[index]) for index in known["in_state"]}
    proven = [live[index] for index in known["proven"]]
    return Known({each.id for each in plan.objects}, in_state.__contains__, proven.__contains__)


def _limits(limits: Mapping[str, Any], removed: Collection[str] = ()) -> RunLimits:
    """removed: what a stack has to permit by name where the case lets everything go."""
    return RunLimits(
        protected=limits["protected"],
        deletions=limits["deletions"],
        allowed=(*limits["allowed"], *(removed if limits["emptying"] else ())),
        adopting=frozenset(limits["adopting"]),
        adopting_addons=frozenset(limits["adopting_addons"]),
    )


def _reasons(problems: Iterable[Problem]) -> list[Any]:
    return [[each.code, each.message] for each in problems]


# --- imports: the objects of the file that is made of a repository -----------------------------------------------------


def of_import(case: Input) -> Any:
    with TemporaryDirectory() as directory:
        root, target = Path(directory) / "input", Path(directory) / "tenants.yaml"
        (root / ".git").mkdir(parents=True)  # where a repository begins
        for name, text in case["files"].items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(bytes_of(text))

        def build(_root: Path, built: Path, *_: object, **_options: object) -> bytes:
            return bytes_of(case["built"][f"{'_'.join(built.relative_to(root).parts)}.yaml"])

        with (
            chdir(root),
            patch("tenantry.importing.kustomize.build", build),
            redirect_stdout(StringIO()),
            redirect_stderr(StringIO()),
        ):
            code = run(["import", *case["options"], "--to", str(target)])
        plans = plan_all(load_fleet(target)) if target.exists() else {}
    return {"code": code, "objects": {name: _objects(plan.objects) for name, plan in plans.items()}}


# --- states: what the program registers, as the state of a stack has it that the real provider made ----------------------


def of_state(case: Input) -> Any:
    """What is registered for a plan, without an engine. The frozen outcome is an exported state."""
    plan = plan_one(fleet_of(case["files"]), case["environment"])
    fleet = partial(components.Fleet, plan.environment, run=unchecked(plan))
    urns: dict[str, str] = {}
    return resources_of(_resource(each, urns) for each in record(fleet, stack=plan.environment).requests)


def _resource(request: Any, urns: dict[str, str]) -> Input:
    """A request, as a state has the resource. urns: of the requests before; the recording knows of parents only the last type."""
    above = urns.get(_last(request.parent), "")
    types = f"{above.split('::')[2]}${request.type}" if above else request.type
    urn = f"urn:pulumi:dev::tenantry::{types}::{request.name}"
    urns[f"{request.type}::{request.name}"] = urn
    return {
        "urn": urn,
        "parent": above,
        "inputs": rpc.deserialize_properties(request.object),
        "dependencies": [urns[_last(each)] for each in request.dependencies],
        "protect": request.protect,
        "retainOnDelete": request.retainOnDelete,
    }


def _last(urn: str) -> str:
    """The last type and the name in a URN."""
    *_, types, name = urn.split("::")
    return f"{types.rpartition('$')[2]}::{name}"


def resources_of(state: Iterable[Mapping[str, Any]]) -> Any:
    """What Pulumi would replace or delete a resource for, by its URN without stack and project: of providers, the URN alone.

    Without what a run of its own adds: the claim on the cluster, the rollout's gates, and values of Secrets.
    """
    found: dict[str, dict[str, Any]] = {}
    for each in state:
        name = _in_any_stack(each["urn"])
        types = name.partition("::")[0]
        kind = types.rpartition("$")[2].removeprefix("pulumi:providers:").partition(":")[0]
        if kind not in ("kubernetes", "tenantry") or _is_claim(each.get("inputs") or {}):
            continue
        found[name] = {"parent": _in_any_stack(each.get("parent") or "")}
        if "kubernetes:" in types and "pulumi:providers" not in types:
            inputs = {key: value for key, value in each["inputs"].items() if key not in ("data", "stringData")}
            found[name]["inputs"] = inputs if inputs["kind"] == "Secret" else each["inputs"]
            found[name]["dependencies"] = sorted(
                other
                for other in map(_in_any_stack, each.get("dependencies") or ())
                if other.partition("::")[0].rpartition("$")[2] != "pulumi:index:Stash"
            )
            found[name] |= {key: True for key in ("protect", "retainOnDelete") if each.get(key)}
    return _sorted(found)


def _sorted(data: Any) -> Any:
    """Data without its order of keys, which a state does not keep, nor whether a whole number is an integer."""
    if isinstance(data, dict):
        return {key: _sorted(data[key]) for key in sorted(data)}
    if isinstance(data, float) and data.is_integer():
        return int(data)
    return [_sorted(item) for item in data] if isinstance(data, list) else data


def _in_any_stack(urn: str) -> str:
    """A URN without stack and project. The recording's types begin with the stack's, other than an engine's."""
    return (
        "" if "::pulumi:pulumi:Stack::" in urn else "::".join(urn.split("::")[2:]).removeprefix("pulumi:pulumi:Stack$")
    )


def _is_claim(inputs: Mapping[str, Any]) -> bool:
    return inputs.get("kind") == "ConfigMap" and bool({CLAIM_LABEL, "tenantry/record"} & labels_of(inputs).keys())


OUTCOMES: Mapping[str, Callable[[Input], Any]] = {
    "fleets": of_fleet,
    "changes": of_change,
    "mistakes": of_mistake,
    "guard": of_guard,
    "imports": of_import,
    "states": of_state,
}
