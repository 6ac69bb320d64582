"""Overrides: what differs in an environment, on a cluster, or on the clusters with some labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from tenantry.edit.subjects.draft import Draft, Edit
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.references import Target
from tenantry.edit.subjects.selecting import DEFAULTS, owner_of
from tenantry.edit.subjects.subjects import require
from tenantry.messages.data import ABSENT, value_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import format_path, listed
from tenantry.model import AppPatch
from tenantry.model.document import SettingsPatch, TenantPatch

Labels = Mapping[str, str]


class Place:
    """Where something differs: exactly one of an environment, a cluster and labels. Raises: Refused."""

    def __init__(
        self, environment: str | None = None, cluster: str | None = None, labels: Labels | None = None
    ) -> None:
        if sum(map(bool, (environment, cluster, labels))) != 1:
            raise Refused(
                "an override is for one environment, one cluster, or the clusters with some labels",
                "give one of --environment NAME, --cluster NAME and --labels KEY=VALUE",
            )
        self.environment, self.cluster, self.labels = environment, cluster, dict(labels or {})

    def __str__(self) -> str:
        if self.labels:
            return f"on clusters with {listed(f'{key}={value}' for key, value in self.labels.items())}"
        return f"in environment '{self.environment}'" if self.environment else f"on cluster '{self.cluster}'"

    def check(self, draft: Draft) -> None:
        """Raises: Refused: the file does not declare the environment or the cluster."""
        if self.environment:
            require(draft, Target(Kind.ENVIRONMENT, self.environment))
        elif self.cluster:
            require(draft, Target(Kind.CLUSTER, self.cluster))

    def path(self, draft: Draft, owner: Path) -> Path:
        """Where the override is, or would be."""
        over = (*owner, "overrides")
        if self.environment:
            return (*over, "environments", self.environment)
        if self.cluster:
            return (*over, "clusters", self.cluster)
        entries = draft.value((*over, "where")) or []
        at = next((index for index, each in enumerate(entries) if each.get("labels") == self.labels), len(entries))
        return (*over, "where", at)


def model_of(owner: str, place: Place) -> type[AppPatch | SettingsPatch]:
    """What an override of an owner may hold; an app or an add-on has a slash in its name."""
    if "/" in owner:
        return AppPatch
    return TenantPatch if place.cluster and owner != DEFAULTS else SettingsPatch


def override(draft: Draft, text: str, place: Place, values: Sequence[tuple[Path, Any]]) -> Edit:
    """Raises: Refused: a value is set there already, or a name is not declared."""
    owner, who = owner_of(draft, text)
    place.check(draft)
    at = place.path(draft, owner)
    file = draft.file_for(at) if draft.holder(at) is None else draft.holder(at)
    for path, value in values:
        if (there := draft.value((*at, *path), ABSENT)) is not ABSENT:
            raise Refused(
                f"{format_path(path)} of {who} is {there!r} {place} already",
                f"tenantry set {format_path((*at, *path))} {value}",
            )
        if isinstance(at[-1], int):
            _in_where(draft, at, path, value, place, file)
        else:
            draft.put((*at, *path), value, file)
    return draft.edit(f"set {listed(format_path(path) for path, _ in values)} of {who} {place}")


def _in_where(draft: Draft, at: Path, path: Path, value: Any, place: Place, file: FilePath | None) -> None:
    """A value of an entry of `where`, which is added with its labels if it is not there."""
    if draft.value(at, ABSENT) is not ABSENT:
        draft.put((*at, *path), value, file)
        return
    for key in reversed(path):
        value = {key: value}
    entry = {"labels": place.labels, **value}
    if at[-1] == 0:
        draft.put(at[:-1], [entry], file)
    else:
        draft.append(at[:-1], entry, file or draft.main)


def remove_override(draft: Draft, text: str, place: Place, paths: Sequence[Path]) -> Edit:
    """Remove some values of an override, or all of it. Raises: Refused: there is none."""
    owner, who = owner_of(draft, text)
    at = place.path(draft, owner)
    for path in paths or ((),):
        file = draft.holder((*at, *path))
        if file is None:
            what = f"{format_path(path)} of {who}" if path else who
            raise Refused(
                f"{what} has no override {place}", f"see `tenantry explain`; overrides are under {format_path(owner)}"
            )
        draft.unset((*at, *path), file, keep=len(owner))
        _without_empty_entry(draft, at, file)
    return draft.edit(f"removed {listed(map(format_path, paths)) or 'all'} that {who} overrides {place}")


def _without_empty_entry(draft: Draft, at: Path, file: FilePath) -> None:
    """An entry of `where` with labels alone says nothing."""
    if isinstance(at[-1], int) and set(value_at(draft.data(file), at, ())) == {"labels"}:
        keep = at.index("overrides")
        path = at if len(value_at(draft.data(file), at[:-1])) > 1 else at[:-1]
        draft.unset(path, file, keep=keep)
