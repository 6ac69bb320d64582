"""Which stack runs an environment, and what its state holds that its settings do not name any more."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner, group_of, holds_data, readable_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Problem, Refused, error
from tenantry.messages.text import lines_of, listed
from tenantry.plan.objects.lifecycle import is_given_up
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL, MANAGED_BY
from tenantry.plan.plan import Plan

CLAIM_LABEL = "tenantry/claim"
"""Holds the environment; all claims on a management cluster are found by it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An environment and the stack that runs it, as `project/stack`.

    kept: the namespaces that were left with their data. They make no other claim, and no more does what follows.
    """

    environment: str
    stack: str
    kept: tuple[Kept, ...] = field(default=(), compare=False)

    @property
    def name(self) -> str:
        """Of the ConfigMap."""
        return f"tenantry-{self.environment}"

    @property
    def data(self) -> dict[str, str]:
        """Of the ConfigMap."""
        kept = {KEPT_KEY: format_kept(self.kept)} if self.kept else {}
        return {"environment": self.environment, "stack": self.stack, **kept}


def claim_object(platform: str, claim: Claim) -> KubeObject:
    """What the stack keeps in the platform's namespace of its management cluster."""
    metadata = {
        "name": claim.name,
        "namespace": platform,
        "labels": {**MANAGED_BY, ENVIRONMENT_LABEL: claim.environment, CLAIM_LABEL: claim.environment},
    }
    return KubeObject({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": claim.data}, Owner())


def claimed(plan: Plan, platform: str, claim: Claim) -> Plan:
    """The plan as a stack applies it: its claim first."""
    return replace(plan, objects=(claim_object(platform, claim), *plan.objects))


def claims(manifests: Iterable[Manifest]) -> Iterator[Claim]:
    """The claims among ConfigMaps. A ConfigMap that somebody emptied claims nothing.

    Raises: Refused: what one records of kept namespaces is malformed.
    """
    for manifest in manifests:
        data = manifest.get("data") or {}
        if "environment" in data and "stack" in data:
            at = readable_id(manifest)
            kept = _kept_in(data.get(KEPT_KEY), data["environment"], f"{at.namespace}/{at.name}" if at else "")
            yield Claim(data["environment"], data["stack"], kept)


def other_claims(mine: Claim, claims: Iterable[Claim], platform: str) -> Iterator[Problem]:
    """Problems with a stack's claim: it runs something else, or another stack runs the same."""
    for claim in claims:
        if claim.stack == mine.stack and claim.environment != mine.environment:
            yield error(
                "other-environment",
                f"stack '{mine.stack}' runs environment '{claim.environment}', and would delete all of it for '{mine.environment}'",
                f"pulumi config set tenantry:environment {claim.environment}; run '{mine.environment}' from a stack of its own;"
                f" to remove '{claim.environment}', run `tenantry destroy --environment {claim.environment}` first",
            )
        elif claim.environment == mine.environment and claim.stack != mine.stack:
            patch = f'{{"data":{{"stack":"{mine.stack}"}}}}'
            yield error(
                "other-stack",
                f"environment '{mine.environment}' is run by stack '{claim.stack}', and this is stack '{mine.stack}'",
                f"pulumi stack select {claim.stack.rpartition('/')[2]}; if that stack was renamed or is gone: kubectl --namespace"
                f" {platform} patch configmap {mine.name} --type merge --patch '{patch}'",
            )


_FLEET = "tenantry:index:Fleet"


def foreign(mine: Claim, urns: Iterable[str]) -> Iterator[Problem]:
    """Problems with a stack's own state. urns: of all resources in it."""
    parts = (urn.split("::", 3) for urn in urns)
    named = {part[3] for part in parts if len(part) == 4 and part[2].rpartition("$")[2] == _FLEET}
    other = sorted(named - {mine.environment})
    if other:
        yield error(
            "other-environment",
            f"the state of stack '{mine.stack}' holds environment '{listed(other)}', which it would delete for"
            f" '{mine.environment}'",
            f"pulumi config set tenantry:environment {other[0]}; run '{mine.environment}' from a stack of its own",
        )


def unmarked(resources: Iterable[Mapping[str, Any]], planned: Collection[ObjectId]) -> Iterator[Problem]:
    """A problem if Pulumi would delete what can hold data and was not off-boarded.

    A stack that was last run by a version of Tenantry without such marks has none. resources: all in its state.
    """
    lost: list[str] = []
    for resource in resources:
        inputs = mapping_at(dict(resource), "inputs")
        id = readable_id(inputs)
        if id and id not in planned and holds_data(group_of(id.api_version), id.kind):
            lost += [] if resource.get("retainOnDelete") or is_given_up(inputs) else [str(id)]
    if lost:
        yield error(
            "not-marked-yet",
            "this run would remove objects that Pulumi does not keep yet, and they would be deleted with their data\n"
            f"{lines_of(sorted(lost))}",
            "put back what is missing and run `tenantry up`, which marks them; then remove it; to delete them, set"
            " 'state: offboarding' instead",
        )


# --- namespaces that were left with their data, which a claim records until they are declared again ---------------------

KEPT_KEY = "kept"
"""The key of a claim's ConfigMap."""
_FIELDS = ("cluster", "namespace", "tenant", "since")


class Kept(NamedTuple):
    """A namespace on a cluster that no stack manages any more.

    tenant: whose data it holds; "" for an add-on's. since: the time in RFC 3339. environment: whose claim records it.
    """

    cluster: str
    namespace: str
    tenant: str
    since: str
    environment: str

    @property
    def owner(self) -> str:
        """Whose data it holds, in words."""
        return f"tenant '{self.tenant}'" if self.tenant else "an add-on"


def format_kept(entries: Iterable[Kept]) -> str:
    """The record as JSON, sorted; "" if there is nothing to record."""
    records = [{field: getattr(entry, field) for field in _FIELDS} for entry in sorted(entries)]
    return json.dumps(records, separators=(",", ":")) if records else ""


def _kept_in(text: Any, environment: str, where: str) -> tuple[Kept, ...]:
    """The record in a claim; where: the ConfigMap as `namespace/name`.

    Raises: Refused: it is malformed, so nobody knows whose data lies where.
    """
    if not text:
        return ()
    try:
        entries = [Kept._make((*(entry[field] for field in _FIELDS), environment)) for entry in json.loads(text)]
        if all(isinstance(part, str) for entry in entries for part in entry):
            return tuple(entries)
    except (ValueError, TypeError, LookupError):
        pass  # as what is no text
    namespace, _, name = where.partition("/")
    raise Refused(
        f"key '{KEPT_KEY}' of ConfigMap {where} is malformed, so nobody knows which namespaces hold whose data: it has to be a"
        f" JSON list of objects with {', '.join(_FIELDS)}",
        f"correct it: kubectl --namespace {namespace} edit configmap {name}",
    )
