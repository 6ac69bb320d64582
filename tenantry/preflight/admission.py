"""Whether a cluster has the admission policies of `tenantry cluster bootstrap`, as this version makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tenantry.compare.fields import changed_fields, projected
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Problem, Refused, warning
from tenantry.plan.admission import label_policies


def check_policies(
    wanted: Iterable[Manifest], cluster: str, read: Callable[[ObjectId], Manifest | None], fix: str
) -> Iterator[Problem]:
    """Yields a warning if any is missing, and one if any is different.

    Args:   wanted: the policies and their bindings. cluster: in words. read: an object of the cluster.
    Raises: Refused: one cannot be read.
    """
    found = [(object_id(each), each, read(object_id(each))) for each in wanted]
    missing = [str(id) for id, _, there in found if there is None]
    other = [str(id) for id, wanted, there in found if there and _differs(there, wanted)]
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
        self._since: str | None = None

    def __call__(self, manifest: Manifest) -> bool:
        if self._since is None:
            self._since = self._policed_since()
        made = str(mapping_at(manifest, "metadata").get("creationTimestamp") or "")
        return bool(self._since) and made > self._since

    def _policed_since(self) -> str:
        """As RFC 3339; "" if the cluster does not have all of the policies, or does not say since when."""
        times = []
        for each in label_policies():
            try:
                there = self._read(object_id(each))
            except Refused:
                return ""
            if there is None or _differs(there, each):
                return ""
            managers = mappings_in(mapping_at(there, "metadata").get("managedFields"))
            times.append(max((str(entry.get("time", "")) for entry in managers), default=""))
        return max(times) if all(times) else ""


def _differs(there: Manifest, wanted: Manifest) -> bool:
    return any(changed_fields(projected(there["spec"], wanted["spec"]), wanted["spec"]))
