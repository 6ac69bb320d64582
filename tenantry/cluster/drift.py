"""Where the management cluster does not hold what a plan says: objects that are missing, have other values, or have fields more.

Whether somebody changed an object by hand or the file was changed since the last run makes no difference here: both differ from the
plan. `Difference.by` names an author where the cluster knows one, for messages alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from tenantry.cluster import requests
from tenantry.cluster.inventory import fleet_kinds
from tenantry.cluster.reading import of_environment, read_objects, without_label
from tenantry.flux.schemas import kinds, schema_of
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, group_of, is_of_flux, labels_of, readable_id
from tenantry.kube.values import number_of
from tenantry.messages.data import ABSENT, mapping_at, mappings_in, value_at
from tenantry.messages.errors import NOT_ALLOWED, Refused
from tenantry.messages.text import one_line
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.plan.objects.scope import FIELD_MANAGER
from tenantry.rollout.change import Difference, FieldPath
from tenantry.rollout.flux_status import is_pulumi

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_SOURCES = "source.toolkit.fluxcd.io"
_NOT_CONTENT = frozenset({"apiVersion", "kind", "metadata", "status"})
_IN_METADATA = ("labels", "annotations")
_BY_HAND_ALONE = frozenset({("spec", "suspend")})
"""Fields that belong to whoever set them, as long as the plan does not: no run resumes what somebody suspended."""
_WITH_QUANTITIES = ("ResourceQuota", "LimitRange")
_CLOSED = ("ResourceQuota", "LimitRange", "NetworkPolicy", "ConfigMap", "Secret")
"""Kinds of Kubernetes in which a field that the plan does not set changes what the object means."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the cluster holds of an environment, beside its plan.

    differences: in the order of the plan. unplanned: objects with the environment's label that the plan does not have. flux: the
    planned objects of Flux.
    """

    differences: list[Difference]
    unplanned: list[Manifest]
    flux: Mapping[ObjectId, Manifest] = field(default_factory=dict)


def compare(
    client: Client,
    environment: str,
    objects: Iterable[KubeObject],
    *,
    secrets: bool = False,
    others: bool = True,
    read: Mapping[tuple[str, str], Iterable[Manifest]] = MappingProxyType({}),
) -> Comparison:
    """Compare planned objects with the live ones. Each kind is listed once, page by page; kinds are listed concurrently.

    What an API server adds by itself is no difference for Flux's kinds; for others, `confirmed` asks the server.

    Args:   secrets: whether values of Secrets are read, too; the objects have them then. others: whether kinds that no object
            has are listed, too, for `unplanned`. read: by API version and kind, what has been read already of all these.
    Raises: Refused: reading is not allowed. httpx2.RequestError: no answer.
    """
    planned = {item.id: item for item in objects}
    wanted = {(id.api_version, id.kind): True for id in planned}
    # Of a source that is no longer planned, its spec says what it needs itself.
    unread = {kind: group_of(kind[0]) == _SOURCES for kind in fleet_kinds() if kind not in wanted} if others else {}
    results: dict[ObjectId, Difference | None] = {}
    unplanned: list[Manifest] = []
    flux: dict[ObjectId, Manifest] = {}

    def take(kind: tuple[str, str], *, whole: bool) -> None:
        metadata_only = not whole or (kind == ("v1", "Secret") and not secrets)
        listed = read.get(kind)
        if listed is None:
            listed = of_environment(client, environment, kind, planned, labelled=True, metadata_only=metadata_only)
        for live in listed:
            id = readable_id(live)
            if id in planned:
                results[id] = _difference(planned[id], live)
                if is_of_flux(id.api_version):
                    flux[id] = live
            else:
                unplanned.append(live)

    requests.in_parallel(lambda item: take(item[0], whole=item[1]), {**wanted, **unread}.items())
    unseen = [id for id in planned if id not in results and (id.api_version, id.kind) not in read]
    values = ("v1", "Secret")
    unlabelled = without_label(client, environment, unseen, metadata_only=lambda kind: kind == values and not secrets)
    results |= {id: _difference(planned[id], live) for id, live in unlabelled.items()}
    flux |= {id: live for id, live in unlabelled.items() if is_of_flux(id.api_version)}
    unknown = client.unread or ()
    known = ((id, item) for id, item in planned.items() if id not in unknown)
    differences = (results[id] if id in results else Difference(item, None) for id, item in known)
    return Comparison([difference for difference in differences if difference], unplanned, flux)


def compare_again(client: Client, environment: str, before: Iterable[Difference]) -> list[Difference]:
    """Those of some differences that are still there, as the server confirms them. Raises: as `compare`.

    An object that was given up and is gone, because its deletion had begun before the run, is none.
    """
    planned = {difference.id: difference.planned for difference in before}
    live = read_objects(client, environment, planned)
    expected = (item for id, item in planned.items() if id in live or STATE_LABEL not in labels_of(item.manifest))
    return confirmed(client, filter(None, (_difference(item, live.get(item.id)) for item in expected)))


def _difference(planned: KubeObject, live: Manifest | None) -> Difference | None:
    if live is None:
        return Difference(planned, None)
    changed, extra = compared(planned.manifest, live)
    owned = {path: list(managers_of(live, path)) for path in extra}
    added = [path for path, owners in owned.items() if owners and not any(map(is_pulumi, owners))]
    dropped = [path for path, owners in owned.items() if any(map(is_pulumi, owners))]
    if not changed and not added and not dropped:
        return None
    by, at = _author(live, (*changed, *added))
    return Difference(planned, live, tuple(changed), tuple(added), by, at, tuple(dropped))


def compared(planned: Manifest, live: Manifest) -> tuple[list[FieldPath], list[FieldPath]]:
    """The planned fields that have other values, and the fields that only the live object has.

    live: with `data` left out, as a list of metadata has it, a Secret's values are not compared.
    """
    comparison = _Comparison(quantities=planned["kind"] in _WITH_QUANTITIES)
    for name in _IN_METADATA:
        existing = mapping_at(live, "metadata", name)
        for key, value in mapping_at(planned, "metadata", name).items():
            comparison.add(value, existing.get(key, ABSENT), {}, ("metadata", name, key))
    is_flux = planned["kind"] in kinds() and planned["apiVersion"] == schema_of(planned["kind"]).api_version
    schema = {"spec": schema_of(planned["kind"]).spec} if is_flux else {}
    unread = planned["kind"] == "Secret" and "data" not in live and "type" not in live
    for key in sorted({*planned, *live} - _NOT_CONTENT) if not unread else ():
        comparison.add(planned.get(key, ABSENT), live.get(key, ABSENT), schema.get(key, {}), (key,))
    closed = is_flux or planned["kind"] in _CLOSED
    return comparison.changed, [path for path in comparison.extra if closed and path not in _BY_HAND_ALONE]


class _Comparison:
    """Collects the fields in which planned and live data differ."""

    def __init__(self, *, quantities: bool) -> None:
        self.changed: list[FieldPath] = []
        self.extra: list[FieldPath] = []
        self._quantities = quantities

    def add(self, planned: Any, live: Any, schema: Mapping[str, Any], path: FieldPath) -> None:
        """Compare two values. schema: Flux's, with the defaults that an API server adds; empty if there is none."""
        if planned is live or (_is_empty(planned) and _is_empty(live)):
            return
        if isinstance(planned, Mapping) and isinstance(live, Mapping):
            known = schema.get("properties", {})
            for key in {**planned, **live}:
                self.add(planned.get(key, ABSENT), live.get(key, ABSENT), known.get(key, {}), (*path, key))
        elif _is_empty(planned):
            if live != schema.get("default", ABSENT) and not self._is_defaulted(live, schema):
                self.extra.append(path)
        elif not self._is_same(planned, live, schema):
            self.changed.append(path)

    def _is_defaulted(self, live: Any, schema: Mapping[str, Any]) -> bool:
        """Whether a mapping holds nothing but defaults."""
        known = schema.get("properties", {})
        return isinstance(live, Mapping) and all(
            key in known and (value == known[key].get("default", ABSENT) or self._is_defaulted(value, known[key]))
            for key, value in live.items()
        )

    def _is_same(self, planned: Any, live: Any, schema: Mapping[str, Any]) -> bool:
        if isinstance(planned, list) and isinstance(live, list):
            items = schema.get("items", {})
            return len(planned) == len(live) and all(
                self._is_same(item, live_item, items) for item, live_item in zip(planned, live, strict=True)
            )
        if isinstance(planned, Mapping) and isinstance(live, Mapping):
            inside = _Comparison(quantities=self._quantities)
            inside.add(planned, live, schema, ())
            return not inside.changed and not inside.extra
        if self._quantities and (number := number_of(planned)) is not None:
            return number == number_of(live)
        return bool(planned == live)


def _is_empty(value: Any) -> bool:
    """API servers leave out most empty values."""
    return value is ABSENT or value is None or value in ({}, [])


# --- authors ---------------------------------------------------------------------------------------------------------


def managers_of(live: Manifest, path: FieldPath) -> Iterator[Mapping[str, Any]]:
    """The entries of `managedFields` that own a field, or what it is part of."""
    for entry in mappings_in(mapping_at(live, "metadata").get("managedFields")):
        if not entry.get("subresource") and _owns(mapping_at(entry, "fieldsV1"), path):
            yield entry


def _owns(fields: Mapping[str, Any], path: FieldPath) -> bool:
    for key in path:
        inside = fields.get(f"f:{key}")
        if not isinstance(inside, dict):
            return False
        if not inside:
            return True
        fields = inside
    return True


def is_applied(live: Manifest) -> bool:
    """Whether Pulumi says of an object that it has applied it. Anybody who may write the object can say the same."""
    return any(map(is_pulumi, mappings_in(mapping_at(live, "metadata").get("managedFields"))))


def _author(live: Manifest, paths: Iterable[FieldPath]) -> tuple[str, str]:
    others = [entry for path in paths for entry in managers_of(live, path) if not is_pulumi(entry)]
    last = max(others, key=lambda entry: str(entry.get("time", "")), default={})
    return str(last.get("manager", "")), str(last.get("time", ""))


# --- what the server says --------------------------------------------------------------------------------------------


class Confirmed(NamedTuple):
    """The differences that a run would change, and why the API server refuses some of them."""

    differences: list[Difference]
    refused: dict[ObjectId, str]


def confirmed(client: Client, differences: Iterable[Difference]) -> list[Difference]:
    """The differences that a run would change, as a dry run on the server says; as `asked`."""
    return asked(client, differences).differences


def asked(client: Client, differences: Iterable[Difference], namespaces: Collection[str] = ()) -> Confirmed:
    """The answer of a dry run on the server about differences.

    Values that the server writes in another way, and fields that admission writes at each change, are none. Where the server
    refuses the dry run, or these credentials may not ask, the difference stays.

    Args:   namespaces: those that exist: what is missing in one of them, or in none, is asked about, too.
    Raises: httpx2.RequestError: no answer.
    """

    def ask(difference: Difference) -> tuple[Difference | None, str]:
        try:
            if difference.live is None:
                if difference.id.namespace in ("", *namespaces) and namespaces:
                    requests.applied(client, difference.id, difference.planned.manifest, manager=FIELD_MANAGER)
                return difference, ""
            if _is_replaced(difference):
                return difference, ""
            return _confirmed(client, difference), ""
        except Refused as refused:
            return difference, "" if refused.code == NOT_ALLOWED else _refusal(difference.id, refused)

    answers = requests.in_parallel(ask, differences)
    refused = {difference.id: message for difference, message in answers if difference and message}
    return Confirmed([difference for difference, _ in answers if difference], refused)


def _is_replaced(difference: Difference) -> bool:
    """Whether Pulumi makes the object anew, as it does a Secret of another type. The dry run of a patch would be refused."""
    return difference.id.kind == "Secret" and ("type",) in difference.changed


_NO_DRY_RUN = "does not support dry run"


def _refusal(id: ObjectId, refused: Refused) -> str:
    """Why the server refuses an object; of a Secret without its reason, which can repeat a value."""
    if _NO_DRY_RUN in refused.message:
        return ""
    reason = "" if id.kind == "Secret" else refused.message.removeprefix(f"cannot change {id}: ")
    return f"the API server refuses {id}{f': {one_line(reason)}' if reason else ''}"


def _confirmed(client: Client, difference: Difference) -> Difference | None:
    """Raises: Refused."""
    changed = False
    if difference.live and (difference.changed or difference.dropped):
        manager = manager_of(difference.live)  # as Pulumi applies it
        after = requests.applied(client, difference.id, difference.planned.manifest, manager=manager)
        changed = after is None or essence(after) != essence(difference.live)
    rewritten = _readded(client, difference, dry_run=True)
    removed = tuple(path for path in difference.added if path not in rewritten)
    if not changed and not removed:
        return None
    if changed:
        return replace(difference, added=removed)
    return replace(difference, changed=(), dropped=(), added=removed)


def manager_of(live: Manifest) -> str:
    """As which field manager Pulumi applies an object."""
    entries = mappings_in(mapping_at(live, "metadata").get("managedFields"))
    return next((str(entry["manager"]) for entry in entries if is_pulumi(entry)), FIELD_MANAGER)


def essence(manifest: Manifest) -> dict[str, Any]:
    """What is in an object, without its identity and what the API server writes. Labels and annotations are there, empty or not."""
    content = {key: value for key, value in manifest.items() if key not in _NOT_CONTENT}
    return {**content, "metadata": {name: mapping_at(manifest, "metadata", name) for name in _IN_METADATA}}


def _readded(client: Client, difference: Difference, *, dry_run: bool) -> set[FieldPath]:
    """The added fields that have the same value again when they have been taken off, because admission writes them."""
    if not difference.added:
        return set()
    patch: dict[str, Any] = {}
    for path in difference.added:
        inside = patch
        for key in path[:-1]:
            inside = inside.setdefault(key, {})
        inside[path[-1]] = None
    after = requests.patched(client, difference.id, patch, manager=FIELD_MANAGER, dry_run=dry_run)
    return {path for path in difference.added if after and value_at(after, path) == value_at(difference.live, path)}


def take_off_added(client: Client, differences: Iterable[Difference]) -> dict[ObjectId, str]:
    """Remove the fields that others have added. Pulumi cannot: it leaves alone what it has not set.

    Returns: why the server does not let some of them be removed.
    """

    def take_off(difference: Difference) -> tuple[ObjectId, str]:
        try:
            _readded(client, difference, dry_run=False)
        except Refused as refused:
            return difference.id, _refusal(difference.id, refused)
        return difference.id, ""

    return {id: message for id, message in requests.in_parallel(take_off, differences) if message}
