"""Whether a cluster has the admission policies of `tenantry cluster bootstrap`, as this version makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tenantry.compare.fields import changed_fields, projected
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.problems import Problem, warning


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


def policed_since(wanted: Iterable[Manifest], read: Callable[[ObjectId], Manifest | None]) -> str:
    """Since when the cluster has had policies as this version makes them (RFC 3339); "" if it does not have all of them.

    Args:   as of `check_policies`. Raises: Refused: one cannot be read.
    """
    times = []
    for each in wanted:
        there = read(object_id(each))
        if there is None or _differs(there, each):
            return ""
        managers = mappings_in(mapping_at(there, "metadata").get("managedFields"))
        written = [str(entry.get("time", "")) for entry in managers if not entry.get("subresource")]
        times.append(max(written, default=""))
    return max(times) if times and all(times) else ""


def _differs(there: Manifest, wanted: Manifest) -> bool:
    return any(changed_fields(projected(there["spec"], wanted["spec"]), wanted["spec"]))
