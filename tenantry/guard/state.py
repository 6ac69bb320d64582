"""What a stack's state holds that its settings do not name any more: Pulumi would delete it as no longer declared.

The claim on the cluster shows this first. If somebody deletes the claim and changes `tenantry:environment` or `tenantry:shard`,
only the state still knows what the stack has run before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.guard.claims import Claim
from tenantry.messages.problems import Problem, error
from tenantry.messages.text import counted, listed

_FLEET, _TENANT, _OBJECT = "tenantry:index:Fleet", "tenantry:index:Tenant", "kubernetes:"
_LISTED = 10


def foreign(mine: Claim, urns: Iterable[str]) -> Iterator[Problem]:
    """Problems with a stack's own state. urns: of all resources in it."""
    named = [_split(each) for each in urns]
    other = sorted({name for types, name in named if types[-1] == _FLEET and name != mine.environment})
    if other:
        yield error(
            "other-environment",
            f"the state of stack '{mine.stack}' holds environment '{listed(other)}', which it would delete for"
            f" '{mine.environment}'",
            f"pulumi config set tenantry:environment {other[0]}; run '{mine.environment}' from a stack of its own",
        )
        return
    tenants = sorted({name for types, name in named if types[-1] == _TENANT and not mine.shard.holds(name)})
    shared = not mine.shard.holds("") and any(_is_shared(mine, types, name) for types, name in named)
    if tenants or shared:
        named_tenants = f"{counted(len(tenants), 'tenant')} ({listed(tenants, _LISTED)})" if tenants else ""
        held = filter(None, (named_tenants, "shared objects" if shared else ""))
        yield error(
            "other-shard",
            f"the state of stack '{mine.stack}' holds {' and '.join(held)} of '{mine.environment}', which are not in"
            f" {mine.shard.in_words}: it would delete them",
            "set tenantry:shard to what it was (`pulumi config rm tenantry:shard` if the stack ran everything) and run"
            f" `tenantry up --environment {mine.environment}`; then move the tenants from state to state:"
            f" tenantry shards move --environment {mine.environment} --to {mine.shard.count}",
        )


def _split(urn: str) -> tuple[list[str], str]:
    """The types of a resource and of what it is below, the resource's own last; and its name."""
    parts = urn.split("::", 3)
    return (parts[2].split("$"), parts[3]) if len(parts) == 4 else ([""], "")


def _is_shared(mine: Claim, types: list[str], name: str) -> bool:
    """Whether a resource is an object of no tenant; a claim belongs to its stack."""
    is_claim = name.rpartition("/")[2].partition(".")[0] == f"tenantry-{mine.environment}"
    return types[-1].startswith(_OBJECT) and _TENANT not in types and not is_claim
