"""The keys of tenants.yaml whose change is dangerous by itself: the only place of `facts` that names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from tenantry.facts.changes import ChangedValue, Effect, Occurrence
from tenantry.facts.dangers.danger import ClusterDanger, DangerKind
from tenantry.facts.subjects import Kind
from tenantry.messages.data import ABSENT
from tenantry.messages.text import format_path, listed
from tenantry.model.durations import seconds_of


class Row(NamedTuple):
    """A key of a kind of subject, as a pattern; whether a change of its value is dangerous; and what that means.

    of_new: whether it is dangerous on a subject that is new, too, as permissions are.
    """

    of: tuple[Kind, ...]
    path: str
    is_dangerous: Callable[[Any, Any], bool]
    kind: DangerKind
    text: str
    of_new: bool = False


def _is_true(_: Any, after: Any) -> bool:
    return after is True


def _was_set(before: Any, _: Any) -> bool:
    return before is not ABSENT


def _is_shorter(before: Any, after: Any) -> bool:
    return before is not ABSENT and (after is ABSENT or seconds_of(str(after)) < seconds_of(str(before)))


_ROWS = (
    Row(
        (Kind.ENVIRONMENT,), "management", _was_set, DangerKind.DELETION,
        "every object is deleted on the former management cluster, and created on the new one",
    ),
    Row(
        (Kind.ENVIRONMENT,), "protected", lambda before, _: before is True, DangerKind.PROTECTION,
        "it is no longer protected: `pulumi destroy` can delete it, and runs can remove what was not marked before",
    ),
    Row(
        (Kind.ENVIRONMENT,), "after.environment", _was_set, DangerKind.GATE,
        "changes no longer wait for the environment before",
    ),
    Row((Kind.ENVIRONMENT,), "after.soak", _is_shorter, DangerKind.GATE, "changes wait less"),
    Row(
        (Kind.PLATFORM,), "sharedIdentity", _is_true, DangerKind.RIGHTS,
        "tenants may use the cloud identity of Flux's controllers", of_new=True,
    ),
    Row(
        (Kind.CLUSTER,), "chart.*", _was_set, DangerKind.RIGHTS,
        "the chart that installs baselines changes, and acts with the platform's rights",
    ),
    Row(
        (Kind.CLUSTER,), "kubeconfig.*", _was_set, DangerKind.KUBECONFIG,
        "Flux uses another kubeconfig: if it leads to another cluster, everything on the old one stays there",
    ),
    Row(
        (Kind.TENANT,), "clusterAdmin", _is_true, DangerKind.RIGHTS,
        "it may give cluster-admin from now on", of_new=True,
    ),
    Row(
        (Kind.TENANT,), "namespace", _was_set, DangerKind.NAMESPACE,
        "it gets another namespace: what is in the old one does not come along, and its data stays there",
    ),
    Row(
        (Kind.TENANT,), "receivers.*.type", lambda before, _: before is ABSENT, DangerKind.RIGHTS,
        "a receiver listens for webhooks", of_new=True,
    ),
    Row(
        (Kind.TENANT, Kind.ADDON), "adopt", _is_true, DangerKind.ADOPTION,
        "it takes over objects that exist already", of_new=True,
    ),
    Row(
        (Kind.APP, Kind.ADDON), "waves", lambda _, after: after is False, DangerKind.ROLLOUT,
        "it leaves the waves: its changes reach all of its clusters at the same time",
    ),
)  # fmt: skip


def of_facts(changes: Iterable[Occurrence]) -> Iterator[ClusterDanger]:
    """The dangers of the keys that differ; of several keys in one row, one danger."""
    for subject, cluster, effect, values in changes:
        for row in _ROWS:
            if subject.kind in row.of and (row.of_new or effect is Effect.CHANGED):
                own = [value for value in values if fnmatchcase(format_path(value.path), row.path)]
                if any(row.is_dangerous(value.before, value.after) for value in own):
                    sides = listed(map(_sides, own))
                    yield ClusterDanger(row.kind, subject, cluster, f"{row.text} ({sides})")


def _sides(value: ChangedValue) -> str:
    """Such as `adopt: true`, `management: hub -> far`."""
    before, after = (_text(side) for side in (value.before, value.after))
    return f"{format_path(value.path)}: {after if value.before is ABSENT else f'{before} -> {after}'}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "unset" if value is ABSENT else listed(value) if isinstance(value, list) else str(value)
