"""Moves tenants' resources from one stack's state into another's, so that no object is deleted or made anew.

`pulumi state move` cannot do this: with `--include-parents` it takes everything below the fleet's component along, and without
it a tenant loses its parent. So this works on whole states, as `pulumi stack export --show-secrets` gives them; `states` reads and
writes them. No command needs it yet: it is what a transfer between stacks or environments is made of.

The objects themselves stay as they are, so both stacks have to reach the same management cluster. Labels with the name of an
environment are changed by the next run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple, TypeAlias

from tenantry.guard.claims import MANAGER, Claim, claim_object
from tenantry.messages.errors import Problem, error
from tenantry.stacks.targets import GATE

Document: TypeAlias = dict[str, Any]
"""A stack's state, as exported."""
Resource: TypeAlias = dict[str, Any]

_TENANT, _FLEET, _STACK = "tenantry:index:Tenant", "tenantry:index:Fleet", "pulumi:pulumi:Stack"
_PROVIDER = "pulumi:providers:kubernetes"
_OF_GATES = "pulumi:providers:pulumi"
"""The provider of the gates between waves: Pulumi's own, which only a state with gates has."""
_FRAME = (_STACK, _PROVIDER, _OF_GATES, _FLEET)
"""The types of what every stack's state needs, one resource of each: the stack itself, the provider and the fleet's component."""
_CLAIM = "kubernetes:core/v1:ConfigMap"


class Side(NamedTuple):
    """A stack of a transfer. state: its state; without resources if the stack is new. claim: the stack's claim afterwards."""

    state: Document
    claim: Claim

    @property
    def _project(self) -> str:
        return self.claim.stack.rpartition("/")[0]

    @property
    def _stack(self) -> str:
        return self.claim.stack.rpartition("/")[2]

    @property
    def prefix(self) -> str:
        """The start of all URNs in the state."""
        return f"urn:pulumi:{self._stack}::{self._project}::"

    def urn_of(self, resource: Resource, source: Side) -> str:
        """The URN of a resource of the source's frame, as this stack has it or will have it."""
        kind = resource["type"]
        if own := next((each for each in resources_of(self.state) if each["type"] == kind), None):
            return str(own["urn"])
        names = {_STACK: f"{self._project}-{self._stack}", _FLEET: self.claim.environment}
        if kind in names:
            return f"{self.prefix}{kind}::{names[kind]}"
        return f"{self.prefix}{resource['urn'].removeprefix(source.prefix)}"


class Moved(NamedTuple):
    """A tenant whose resources were moved. resources: how many."""

    tenant: str
    resources: int


class Transferred(NamedTuple):
    """The states of both stacks after a transfer. Write that of the destination first: then no tenant is ever in none."""

    source: Document
    dest: Document
    moved: tuple[Moved, ...]


def unclean(stack: str, state: Document) -> Iterator[Problem]:
    """Why a stack's state cannot be changed: a run has not finished."""
    deployment = state.get("deployment") or {}
    pending = deployment.get("pending_operations") or []
    half = [resource["urn"] for resource in resources_of(state) if resource.get("delete")]
    if pending or half:
        yield error(
            "unfinished-run",
            f"the last run of stack '{stack}' was interrupted: its state has {len(pending)} pending operations and"
            f" {len(half)} objects that are still to be deleted",
            f"pulumi up --stack {stack}; if that fails: pulumi cancel --stack {stack}, then pulumi refresh --stack {stack}",
        )


def transferred(source: Side, dest: Side, tenants: Collection[str], platform: str) -> Transferred:
    """The states once the destination has the resources of the named tenants. Tenants that the source does not hold are left out.

    Args:   platform: the namespace of the claims.
    A tenant that both states hold, after an interruption, keeps the resources of the destination.
    """
    held, there = _by_tenant(source.state), _by_tenant(dest.state)
    moving = {tenant: resources for tenant, resources in held.items() if tenant and tenant in tenants}
    renaming = _Renaming.between(source, dest)
    gaining = _with_frame(source, dest, renaming)
    for tenant, resources in moving.items():
        if tenant not in there:
            gaining += [renaming.renamed(each) for each in resources]
    gone = {resource["urn"] for resources in moving.values() for resource in resources}
    losing = [each for each in deepcopy(resources_of(source.state)) if each["urn"] not in gone]
    exported = _exported((source.state, dest.state))
    return Transferred(
        _complete(source, losing, exported, platform),
        _complete(dest, gaining, exported, platform),
        tuple(Moved(tenant, len(resources)) for tenant, resources in moving.items()),
    )


def resources_of(state: Document) -> list[Resource]:
    return (state.get("deployment") or {}).get("resources") or []


def tenants_of(state: Document) -> dict[str, int]:
    """The tenants in a state, with how many resources each has."""
    return {tenant: len(resources) for tenant, resources in _by_tenant(state).items() if tenant}


def _by_tenant(state: Document) -> dict[str, list[Resource]]:
    """The resources of each tenant in the order of the state; "" for the shared ones."""
    tenant: dict[str, str] = {}
    found: dict[str, list[Resource]] = {}
    for resource in resources_of(state):
        tenant[resource["urn"]] = _tenant(resource) or tenant.get(resource.get("parent", ""), "")
        found.setdefault(tenant[resource["urn"]], []).append(resource)
    return found


def _tenant(resource: Resource) -> str:
    """The tenant that a component names: its own component, or the gates between the waves of its apps."""
    name: str = resource["urn"].rpartition("::")[2]
    if resource["type"] == GATE:
        tenant, *rest = name.split("/")
        return tenant if len(rest) == len(("app", "wave")) else ""
    return name if resource["type"] == _TENANT else ""


def _frame(state: Document) -> list[Resource]:
    return [resource for resource in resources_of(state) if resource["type"] in _FRAME]


class _Renaming(NamedTuple):
    """From one stack to another. urns: of the frame, before and after; references: by type of provider, as resources name it."""

    before: str
    after: str
    urns: Mapping[str, str]
    references: Mapping[str, str]

    @classmethod
    def between(cls, source: Side, dest: Side) -> _Renaming:
        urns = {each["urn"]: dest.urn_of(each, source) for each in _frame(source.state)}
        # The destination's own come last, and count.
        providers = [
            each for side in (source, dest) for each in _frame(side.state) if each["type"] in (_PROVIDER, _OF_GATES)
        ]
        references = {
            provider["type"]: f"{urns.get(provider['urn'], provider['urn'])}::{provider['id']}"
            for provider in providers
        }
        return cls(source.prefix, dest.prefix, urns, references)

    def renamed(self, resource: Resource) -> Resource:
        """A resource as the other stack has it, with that stack's provider. Inputs and outputs never name a stack."""
        made = {
            key: deepcopy(value) if key in ("inputs", "outputs") else self._changed(value)
            for key, value in resource.items()
        }
        reference = self.references.get(_OF_GATES if resource["type"] == GATE else _PROVIDER)
        return {**made, "provider": reference} if made.get("provider") else made

    def _changed(self, value: Any) -> Any:
        match value:
            case str() if value in self.urns:
                return self.urns[value]
            case str() if value.startswith(self.before):
                return self.after + value.removeprefix(self.before)
            case list():
                return [self._changed(each) for each in value]
            case dict():
                return {key: self._changed(each) for key, each in value.items()}
            case _:
                return value


def _with_frame(source: Side, dest: Side, renaming: _Renaming) -> list[Resource]:
    """The destination's own resources, and of the frame what it lacks."""
    own = deepcopy(resources_of(dest.state))
    known = {each["type"] for each in own}
    for resource in _frame(source.state):
        if resource["type"] not in known:
            made = renaming.renamed(resource)
            own.append({**made, "outputs": {}} if resource["type"] == _STACK else made)
    return own


def _complete(side: Side, resources: list[Resource], exported: Mapping[str, Any], platform: str) -> Document:
    """A side's state with these resources, as the stack's next run would leave it."""
    left = _cut(_claimed(resources, side.claim, platform))
    complete = _with_outputs(left, exported, side.claim.environment)
    return {**side.state, "deployment": {**(side.state.get("deployment") or {}), "resources": complete}}


def _claimed(resources: list[Resource], claim: Claim, platform: str) -> list[Resource]:
    """The resources with the stack's claim as the program will register it, so that the next run changes nothing."""
    logical = f"{platform}/{claim.name}"
    fleet = next(each for each in resources if each["type"] == _FLEET)
    provider = next(each for each in resources if each["type"] == _PROVIDER)
    urn = f"{fleet['urn'].rpartition('::')[0]}${_CLAIM}::{logical}"
    manifest = deepcopy(dict(claim_object(platform, claim).manifest))
    # The provider compares with `__inputs`, not with the resource's own inputs.
    outputs = {"data": manifest["data"], "__inputs": manifest}
    others = [resource for resource in resources if resource["urn"] != urn]
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
    stack = next(resource for resource in resources if resource["type"] == _STACK)
    mine = tenants_of({"deployment": {"resources": resources}})
    stack["outputs"] = {
        **(stack.get("outputs") or {}),
        "environment": environment,
        "objects": sum(each["type"].startswith("kubernetes:") for each in resources),
        "tenants": {tenant: exported[tenant] for tenant in sorted(exported) if tenant in mine},
    }
    return resources


def _exported(states: Iterable[Document]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for state in states:
        for resource in resources_of(state):
            if resource["type"] == _STACK:
                found |= (resource.get("outputs") or {}).get("tenants") or {}
    return found


def _cut(resources: list[Resource]) -> list[Resource]:
    """The resources without dependencies on what another state holds now. The program registers none of these, either."""
    urns = {each["urn"] for each in resources}
    for resource in resources:
        if "dependencies" in resource:
            resource["dependencies"] = [other for other in resource["dependencies"] or () if other in urns]
        depends = resource.get("propertyDependencies")
        if depends:
            resource["propertyDependencies"] = {
                key: on and [other for other in on if other in urns] for key, on in depends.items()
            }
    return resources
