"""What is rendered, and what comes out: the Flux objects of an app on each side, its changes, and what stands in the way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenantry.compare.fields import FieldChange
from tenantry.compare.review.model import Effect
from tenantry.kube.objects import Manifest, ObjectId

if TYPE_CHECKING:
    from tenantry.manifests.cage import Cage


class NotFetched(Exception):
    """A source cannot be fetched from here. fix: what to do instead."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class NotRendered(Exception):
    """A source was fetched, but yields no objects: the path does not exist, or kustomize or helm refuses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The Flux objects that decide what an app applies.

    app: the Kustomization or HelmRelease; chart: the HelmChart, None if the source is the chart itself or there is none.
    name: what the fleet calls the source, such as `rocky/manifests` or `platform/ingress`.
    """

    app: Manifest
    chart: Manifest | None
    source: Manifest
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedApp:
    """An app on a cluster. None: the app does not exist on that side."""

    environment: str
    tenant: str
    cluster: str
    name: str
    before: Inputs | None
    after: Inputs | None


def require_url(url: str, form: re.Pattern[str]) -> None:
    """Raises: NotFetched: the URL has another form than the ones that are fetched."""
    if not form.fullmatch(url):
        raise NotFetched(f"'{url}' is not a URL that can be fetched")


@dataclass(frozen=True, slots=True)
class Rendered:
    """notes: what is unknown here, as sentences without full stops; crds: those of a chart's directory, which follow a policy."""

    objects: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()
    crds: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a side is missing. side: "before", "after", or "" for both. failed: the app cannot be rendered anywhere."""

    side: str
    message: str
    fix: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An object that the app applies on one side only, or with other fields. Secret values are already hidden."""

    effect: Effect
    id: ObjectId
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AppChange:
    """The same outcome of an app on all of these clusters. unchanged: how many objects are the same."""

    environment: str
    tenant: str
    name: str
    clusters: tuple[str, ...]
    changes: tuple[ObjectChange, ...] = ()
    unchanged: int = 0
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A release that is not rendered for some clusters, because its values differ on very many."""

    environment: str
    tenant: str
    name: str
    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """apps: those whose settings differ, also if they apply the same as before. renderings: of kustomize and helm.

    cage: in which they ran; "" for none.
    """

    apps: tuple[AppChange, ...]
    renderings: int
    cage: str
    left: tuple[Left, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """local: directories to use instead of fetching, by the name of the source; local_before: for the side before alone.

    programs: where kustomize, helm and git are; kustomize has several words if kubectl contains it.
    cage: in which kustomize and helm run.
    most: for how many different values a release is rendered in an environment; None: for all.
    """

    cache: Path
    programs: Mapping[str, tuple[str, ...]]
    cage: Cage
    local: Mapping[str, Path] = field(default_factory=dict)
    local_before: Mapping[str, Path] = field(default_factory=dict)
    workers: int = 4
    most: int | None = 10
