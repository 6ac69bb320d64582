"""Divides the states of an environment's stacks anew: each tenant's resources into the state of the stack that will run it.

`pulumi state move` cannot do this: with `--include-parents` it takes everything below the fleet's component along, and without
it a tenant loses its parent. So this works on whole states, as `pulumi stack export --show-secrets` gives them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from tenantry.guard.claims import MANAGER, Claim, claim_object
from tenantry.messages.problems import Problem, error
from tenantry.plan.shards import shard_of
from tenantry.stacks.targets import GATE

Document: TypeAlias = dict[str, Any]
"""A stack's state, as exported."""
Resource: TypeAlias = dict[str, Any]

_TENANT, _FLEET, _STACK = "tenantry:index:Tenant", "tenantry:index:Fleet", "pulumi:pulumi:Stack"
_PROVIDER = "pulumi:providers:kubernetes"
_OF_GATES = "pulumi:providers:pulumi"
"""The provider of the gates between waves: Pulumi's own, which only a state with gates has."""
_CLAIM = "kubernetes:core/v1:ConfigMap"


class Move(NamedTuple):
    """A tenant whose resources go from one stack's state to another's. resources: how many."""

    tenant: str
    source: str
    dest: str
    resources: int


@dataclass(frozen=True, slots=True)
class Divided:
    """states: of all stacks, by name, after the moves."""

    states: Mapping[str, Document]
    moves: tuple[Move, ...]


def unclean(stack: str, state: Document) -> Iterator[Problem]:
    """Why a stack's state cannot be divided: a run has not finished."""
    deployment = state.get("deployment") or {}
    pending = deployment.get("pending_operations") or []
    half = [each["urn"] for each in resources_of(state) if each.get("delete")]
    if pending or half:
        yield error(
            "unfinished-run",
            f"the last run of stack '{stack}' was interrupted: its state has {len(pending)} pending operations and"
            f" {len(half)} objects that are still to be deleted",
            f"pulumi up --stack {stack}; if that fails: pulumi cancel --stack {stack}, then pulumi refresh --stack {stack}",
        )


def divided(states: Mapping[str, Document], claims: Sequence[Claim], platform: str) -> Divided:
    """The states once each tenant is where its name says.

    Args: states: by stack, also of stacks that will run nothing; states without resources are stacks that are new.
          claims: of the stacks that will run the shards, the first shard first. platform: the namespace of the claims.
    A tenant that two states hold, after an interruption, keeps the resources of the state that it belongs in.
    """
    names = [claim.stack.rpartition("/")[2] for claim in claims]
    tenants = {name: _by_tenant(state) for name, state in states.items()}
    frame = _frame(states[names[0]])
    bases = {name: _base(name, states[name], frame) for name in names}
    moves: list[Move] = []
    for source, held in tenants.items():
        for tenant, resources in held.items():
            dest = names[shard_of(tenant, len(names)) - 1] if tenant else source
            if dest != source:
                moves.append(Move(tenant, source, dest, len(resources)))
                if tenant not in tenants.get(dest, {}):
                    bases[dest] += _provider_of_gates(states[source], source, dest, bases[dest])
                    bases[dest] += [_renamed(each, source, dest, bases[dest]) for each in resources]
    gone = {(each.tenant, each.source) for each in moves}
    exported = _exported(states.values())
    made: dict[str, Document] = {}
    for claim, (name, resources) in zip(claims, bases.items(), strict=True):
        left = _cut(_left(name, resources, gone, claim, platform))
        made[name] = _with(states[name], _with_outputs(left, exported, claim.environment))
    return Divided({**{name: _with(state, []) for name, state in states.items()}, **made}, tuple(moves))


def resources_of(state: Document) -> list[Resource]:
    return (state.get("deployment") or {}).get("resources") or []


def tenants_of(state: Document) -> dict[str, int]:
    """The tenants in a state, with how many resources each has."""
    return {tenant: len(resources) for tenant, resources in _by_tenant(state).items() if tenant}


def _by_tenant(state: Document) -> dict[str, list[Resource]]:
    """The resources of each tenant in the order of the state; "" for the shared ones."""
    tenant: dict[str, str] = {}
    found: dict[str, list[Resource]] = {}
    for each in resources_of(state):
        tenant[each["urn"]] = _tenant(each) or tenant.get(each.get("parent", ""), "")
        found.setdefault(tenant[each["urn"]], []).append(each)
    return found


def _tenant(resource: Resource) -> str:
    """The tenant that a component names: its own component, or the gates between the waves of its apps."""
    name = _name(resource["urn"])
    if resource["type"] == GATE:
        tenant, *rest = name.split("/")
        return tenant if len(rest) == len(("app", "wave")) else ""
    return name if resource["type"] == _TENANT else ""


def _frame(first: Document) -> list[Resource]:
    """What every stack's state needs: the stack itself, the provider and the fleet's component, as the first shard has them."""
    return [each for each in resources_of(first) if each["type"] in (_STACK, _PROVIDER, _FLEET)]


def _base(name: str, state: Document, frame: list[Resource]) -> list[Resource]:
    """A stack's own resources, and of the frame what it lacks."""
    own = deepcopy(resources_of(state))
    known = {each["type"] for each in own}
    for each in frame:
        if each["type"] not in known:
            made = _renamed(each, _stack(each["urn"]), name, own)
            own.append({**made, "outputs": {}} if each["type"] == _STACK else made)
    return own


def _provider_of_gates(state: Document, source: str, dest: str, there: list[Resource]) -> list[Resource]:
    """The provider of the gates of a state, if the other state has none."""
    if any(each["type"] == _OF_GATES for each in there):
        return []
    return [_renamed(each, source, dest, there) for each in resources_of(state) if each["type"] == _OF_GATES]


def _left(
    name: str, resources: list[Resource], gone: set[tuple[str, str]], claim: Claim, platform: str
) -> list[Resource]:
    """What a stack keeps and gets, with its claim."""
    state = _by_tenant({"deployment": {"resources": resources}})
    kept = [each for tenant, theirs in state.items() if (tenant, name) not in gone for each in theirs]
    urns = {each["urn"] for each in kept}
    return _claimed([each for each in resources if each["urn"] in urns], claim, platform)


def _claimed(resources: list[Resource], claim: Claim, platform: str) -> list[Resource]:
    """The resources with the stack's claim as the program will register it, so that the next run changes nothing."""
    logical = f"{platform}/{claim.name}"
    fleet = next(each for each in resources if each["type"] == _FLEET)
    provider = next(each for each in resources if each["type"] == _PROVIDER)
    urn = f"{fleet['urn'].rpartition('::')[0]}${_CLAIM}::{logical}"
    manifest = deepcopy(dict(claim_object(platform, claim).manifest))
    # The provider compares with `__inputs`, not with the resource's own inputs.
    outputs = {"data": manifest["data"], "__inputs": manifest}
    others = [each for each in resources if each["urn"] != urn]
    made = next((each for each in resources if each["urn"] == urn), None) or {
        "urn": urn,
        "custom": True,
        "id": logical,
        "type": _CLAIM,
        "outputs": {**manifest, "__initialApiVersion": "v1", "__fieldManager": MANAGER},
        "parent": fleet["urn"],
        "provider": f"{provider['urn']}::{provider['id']}",
    }
    made = {**made, "inputs": manifest, "outputs": {**made["outputs"], **outputs}}
    place = 1 + max(others.index(fleet), others.index(provider))
    return [*others[:place], made, *others[place:]]


def _with_outputs(resources: list[Resource], exported: Mapping[str, Any], environment: str) -> list[Resource]:
    """The resources with the stack's outputs as its next run exports them. exported: those of all tenants, by name."""
    stack = next(each for each in resources if each["type"] == _STACK)
    mine = tenants_of({"deployment": {"resources": resources}})
    stack["outputs"] = {
        "environment": environment,
        "objects": sum(each["type"].startswith("kubernetes:") for each in resources),
        "tenants": {tenant: exported[tenant] for tenant in sorted(exported) if tenant in mine},
    }
    return resources


def _exported(states: Iterable[Document]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for state in states:
        for each in resources_of(state):
            if each["type"] == _STACK:
                found |= (each.get("outputs") or {}).get("tenants") or {}
    return found


def _cut(resources: list[Resource]) -> list[Resource]:
    """The resources without dependencies on what another state holds now. The program registers none of these, either."""
    urns = {each["urn"] for each in resources}
    for each in resources:
        if "dependencies" in each:
            each["dependencies"] = [other for other in each["dependencies"] or () if other in urns]
        depends = each.get("propertyDependencies")
        if depends:
            each["propertyDependencies"] = {
                key: on and [other for other in on if other in urns] for key, on in depends.items()
            }
    return resources


def _renamed(resource: Resource, source: str, dest: str, there: list[Resource]) -> Resource:
    """A resource as the other stack has it, with that stack's provider. Inputs and outputs never name a stack."""
    before, after = f"urn:pulumi:{source}::", f"urn:pulumi:{dest}::"

    def changed(value: Any) -> Any:
        match value:
            case str() if value.startswith(before):
                project, kind, *_ = value.removeprefix(before).split("::")
                # The stack itself is the only resource whose name holds the stack's.
                return (
                    f"{after}{project}::{kind}::{project}-{dest}"
                    if kind == _STACK
                    else after + value.removeprefix(before)
                )
            case list():
                return [changed(each) for each in value]
            case dict():
                return {key: changed(each) for key, each in value.items()}
            case _:
                return value

    made = {key: deepcopy(each) if key in ("inputs", "outputs") else changed(each) for key, each in resource.items()}
    kind = _OF_GATES if resource["type"] == GATE else _PROVIDER
    provider = next((each for each in there if each["type"] == kind), None)
    if provider and made.get("provider"):
        made["provider"] = f"{provider['urn']}::{provider['id']}"
    return made


def _with(state: Document, resources: list[Resource]) -> Document:
    return {**state, "deployment": {**(state.get("deployment") or {}), "resources": resources}}


def _stack(urn: str) -> str:
    return urn.split("::")[0].removeprefix("urn:pulumi:")


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]
