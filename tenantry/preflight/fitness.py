"""Whether a cluster has the admission policies as this version makes them, and what follows for the labels of its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from tenantry.facts.fields import changed_fields, projected
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Problem, Refused, warning
from tenantry.plan.admission import label_policies


def check_policies(
    wanted: Iterable[Manifest],
    cluster: str,
    read: Callable[[ObjectId], Manifest | None],
    fix: str,
) -> Iterator[Problem]:
    """Yields a warning if any is missing, and one if any is different.

    Args:   wanted: the policies and their bindings. cluster: in words. read: an object of the cluster.
    Raises: Refused: one cannot be read.
    """
    policies = [(object_id(policy), policy, read(object_id(policy))) for policy in wanted]
    missing = [str(id) for id, _, live in policies if live is None]
    other = [str(id) for id, wanted, live in policies if live and _differs(live, wanted)]
    if missing:
        message = f"{cluster} has no {', '.join(missing)}: a tenant can reach what is not its own"
        yield warning("no-policy", message, fix)
    if other:
        verb = "differs" if len(other) == 1 else "differ"
        message = f"{', '.join(other)} on {cluster} {verb} from what this version of Tenantry creates"
        yield warning("other-policy", message, fix)


class Policed:
    """Whether an object was made when the admission policies, as this version makes them, kept tenants from the fleet's labels.

    Then its labels prove whose it is, in a tenant's namespace too. The policies are read when somebody asks first.
    """

    def __init__(self, read: Callable[[ObjectId], Manifest | None]) -> None:
        self._read = read

    def __call__(self, manifest: Manifest) -> bool:
        made = str(mapping_at(manifest, "metadata").get("creationTimestamp") or "")
        return bool(self._since) and made > self._since

    @cached_property
    def _since(self) -> str:
        """As RFC 3339; "" if the cluster does not have all of the policies, or does not say since when."""
        times = []
        for policy in label_policies():
            try:
                live = self._read(object_id(policy))
            except Refused:
                return ""
            if live is None or _differs(live, policy):
                return ""
            managers = mappings_in(mapping_at(live, "metadata").get("managedFields"))
            times.append(max((str(entry.get("time", "")) for entry in managers), default=""))
        return max(times) if all(times) else ""


def _differs(live: Manifest, wanted: Manifest) -> bool:
    return any(changed_fields(projected(live["spec"], wanted["spec"]), wanted["spec"]))
