"""Renders all changed apps on both sides, each distinct input once and several at a time, and compares the results."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tenantry.compare.fields import FieldChange, changed_fields
from tenantry.compare.review.model import Effect
from tenantry.kube.objects import Manifest, ObjectId, readable_id
from tenantry.manifests import helm, kustomize
from tenantry.manifests.cache import Cache, Once
from tenantry.manifests.changed import decisive
from tenantry.manifests.documents import substituted, with_metadata
from tenantry.manifests.model import (
    AppChange,
    ChangedApp,
    Inputs,
    Left,
    NotFetched,
    NotRendered,
    ObjectChange,
    Options,
    Outcome,
    Problem,
    Rendered,
)
from tenantry.manifests.sources import Sources
from tenantry.messages.masking import HIDDEN_VALUE, without_secrets_of
from tenantry.messages.text import grouped, listed


def compared(before: Iterable[Manifest], after: Iterable[Manifest]) -> tuple[tuple[ObjectChange, ...], int]:
    """The changes, in the order removed, added, changed; and how many objects are the same."""
    old, new = _by_id(before), _by_id(after)
    removed = [ObjectChange(Effect.REMOVED, id) for key, (id, _) in old.items() if key not in new]
    added = [ObjectChange(Effect.ADDED, id) for key, (id, _) in new.items() if key not in old]
    both = [(new[key][0], old[key][1], new[key][1]) for key in new if key in old]
    changed = [ObjectChange(Effect.CHANGED, id, fields) for id, one, other in both if (fields := _fields(one, other))]
    return (*removed, *added, *changed), len(both) - len(changed)


def _by_id(objects: Iterable[Manifest]) -> dict[tuple[str, ...], tuple[ObjectId, Manifest]]:
    """By group instead of version: an object in another version of its API is the same object."""
    found: dict[tuple[str, ...], tuple[ObjectId, Manifest]] = {}
    for manifest in objects:
        id = readable_id(manifest) or _unnamed(manifest)
        group = id.api_version.rpartition("/")[0]
        found[(group, *id[1:])] = (id, manifest)
    return found


def _unnamed(manifest: Manifest) -> ObjectId:
    """An object whose name the API server makes up, or a malformed one."""
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = f"{metadata['generateName']}*" if "generateName" in metadata else "(without a name)"
    return ObjectId(
        str(manifest.get("apiVersion")), str(manifest.get("kind")), str(metadata.get("namespace", "")), name
    )


def _fields(before: Manifest, after: Manifest) -> tuple[FieldChange, ...]:
    return tuple(changed_fields(dict(before), dict(after)))


BEFORE, AFTER = "before", "after"


def compare_manifests(
    apps: Sequence[ChangedApp], options: Options, told: Callable[[int, int], None] = lambda _done, _all: None
) -> Outcome:
    """What the apps apply before and after. Args: told: is called with how many of how many apps are done."""
    with tempfile.TemporaryDirectory(prefix="tenantry-") as scratch:
        renderer = _Renderer(options, Path(scratch))
        apps, left = _within(apps, options.most)
        pairs = grouped(apps, lambda app: (_key(app.before), _key(app.after)))
        found: dict[tuple[str, str], _Pair] = {}
        with ThreadPoolExecutor(options.workers) as pool:
            running = {pool.submit(renderer.pair, same[0]): key for key, same in pairs.items()}
            try:
                done = 0
                for future in as_completed(running):
                    key = running[future]
                    found[key] = future.result()
                    done += len(pairs[key])
                    told(done, len(apps))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        outcomes = [(app, found[(_key(app.before), _key(app.after))]) for app in apps]
        with suppress(OSError):
            Cache(options.cache).prune()
        return Outcome(tuple(_grouped(outcomes)), renderer.renderings, options.cage.name, left)


def _within(apps: Sequence[ChangedApp], most: int | None) -> tuple[list[ChangedApp], tuple[Left, ...]]:
    """The apps to render, and the others: each rendering of a chart takes a while, whereas a build is shared."""
    seen: dict[tuple[str, ...], set[tuple[str, str]]] = {}
    chosen, left = [], []
    for app in apps:
        values = seen.setdefault((app.environment, app.tenant, app.name), set())
        key = (_key(app.before), _key(app.after))
        release = any(side and side.app["kind"] == "HelmRelease" for side in (app.before, app.after))
        if most is None or not release or key in values or len(values) < most:
            values.add(key)
            chosen.append(app)
        else:
            left.append(app)
    groups = grouped(left, lambda app: (app.environment, app.tenant, app.name))
    return chosen, tuple(
        Left(environment=environment, tenant=tenant, name=name, clusters=tuple(app.cluster for app in own))
        for (environment, tenant, name), own in groups.items()
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """What comes out for one pair of inputs; text: the same for equal results."""

    change: AppChange
    text: str


class _Renderer:
    def __init__(self, options: Options, scratch: Path) -> None:
        self._options = options
        self._sources = Sources(options, scratch)
        self._built: Once[str, bytes] = Once()
        self._released: Once[str, Rendered] = Once()

    @property
    def renderings(self) -> int:
        return len(self._built) + len(self._released)

    def pair(self, app: ChangedApp) -> _Pair:
        upgrade = app.before is not None and app.after is not None
        sides: list[Rendered] = []
        notes: list[str] = []
        problems: list[Problem] = []
        for side, inputs in ((BEFORE, app.before), (AFTER, app.after)):
            try:
                rendered = self._side(side, inputs, upgrade=upgrade) if inputs else Rendered(())
                sides.append(rendered)
                notes += rendered.notes
            except NotFetched as missing:
                problems.append(Problem(side, _told(missing.message, inputs), missing.fix))
            except NotRendered as refused:
                problems.append(Problem(side, _told(str(refused), inputs), failed=True))
            except Exception as unexpected:  # whatever a source contains costs the apps that take it
                problems.append(Problem(side, unreadable(unexpected), failed=True))
        try:
            changes, unchanged = compared(*_on_cluster(app, sides)) if len(sides) == 2 else ((), 0)
        except Exception as unexpected:  # the same
            changes, unchanged = (), 0
            problems.append(Problem("", unreadable(unexpected)))
        change = AppChange(
            environment=app.environment,
            tenant=app.tenant,
            name=app.name,
            clusters=(),
            changes=changes,
            unchanged=unchanged,
            notes=tuple(dict.fromkeys(notes)),
            problems=_joined(problems),
        )
        return _Pair(change, repr((change.changes, unchanged, change.notes, change.problems)))

    def _side(self, side: str, inputs: Inputs, *, upgrade: bool) -> Rendered:
        own = self._options.local_before if side == BEFORE else {}
        local = {**self._options.local, **own}
        place = f"{local.get(inputs.name, '')}"
        if inputs.app["kind"] == "HelmRelease":
            key = f"{upgrade} {place} {decisive(inputs)}"
            rendered = self._released.get(key, lambda: self._release(inputs, local, upgrade=upgrade))
            return _with_metadata(rendered, inputs)
        spec = inputs.app["spec"]
        without = {**inputs.app, "spec": {key: value for key, value in spec.items() if key not in _AFTER_BUILD}}
        built = self._built.get(f"{place} {decisive(replace(inputs, app=without))}", lambda: self._build(inputs, local))
        rendered = substituted(built.decode(errors="replace"), spec.get("postBuild") or {})
        return _with_metadata(_with_note(rendered), inputs)

    def _build(self, inputs: Inputs, local: dict[str, Path]) -> bytes:
        if "kustomize" not in self._options.programs:
            raise NotFetched("the command 'kustomize' is not installed", "install kustomize or kubectl")
        root, _ = self._sources.files(inputs, local)
        return kustomize.build(root, inputs.app["spec"], self._options.programs["kustomize"], self._options.cage)

    def _release(self, inputs: Inputs, local: dict[str, Path], *, upgrade: bool) -> Rendered:
        root, chart = self._sources.files(inputs, local)
        return helm.render(chart, root, inputs, self._options.programs, self._options.cage, upgrade=upgrade)


def _on_cluster(app: ChangedApp, sides: Sequence[Rendered]) -> Iterator[tuple[Mapping[str, Any], ...]]:
    """All objects of an app, before the change and after it."""
    before, after = (inputs.app["spec"] if inputs else None for inputs in (app.before, app.after))
    kept = helm.applied_crds(before, after, [side.crds for side in sides])
    for crds, side in zip(kept, sides, strict=True):
        yield (*crds, *side.objects)


_AFTER_BUILD = ("postBuild", "commonMetadata")
"""What is done with the result of a build, so that clusters with other variables share the build."""


def _key(inputs: Inputs | None) -> str:
    return f"{inputs.name} {decisive(inputs)}" if inputs else ""


_DATA = re.compile(r"(?:stringData|data)[\"']?\s{0,4}:")


def unreadable(found: Exception) -> str:
    """What is told of content that no step expects, without the content."""
    if isinstance(found, RecursionError):
        return "its directories or its YAML are nested too deeply"
    if isinstance(found, OSError):
        return f"its files cannot be used: {found.strerror or type(found).__name__}"
    return f"its content has a form that is not known here ({type(found).__name__})"


def _told(message: str, inputs: Inputs | None) -> str:
    """The message of a program, which can quote the app's values and patches, or a Secret of the source."""
    if "Secret" in message and (quoted := _DATA.search(message)):
        message = f"{message[: quoted.end()]} {HIDDEN_VALUE}"
    return without_secrets_of(inputs.app, message) if inputs else message


def _joined(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """The same problem of both sides is told once."""
    if len(problems) == 2 and replace(problems[0], side="") == replace(problems[1], side=""):
        return (replace(problems[0], side=""),)
    return tuple(problems)


def _with_note(rendered: Rendered) -> Rendered:
    """Says which objects Flux would decrypt, which is not possible here."""
    encrypted = [
        str(readable_id(each) or "an object") for each in rendered.objects if isinstance(each.get("sops"), dict)
    ]
    if not encrypted:
        return rendered
    note = f"encrypted with SOPS, and compared without decryption: {listed(encrypted)}"
    return replace(rendered, notes=(*rendered.notes, note))


def _with_metadata(rendered: Rendered, inputs: Inputs) -> Rendered:
    return replace(rendered, objects=with_metadata(rendered.objects, inputs.app["spec"]))


def _grouped(outcomes: Iterable[tuple[ChangedApp, _Pair]]) -> list[AppChange]:
    """The clusters with the same outcome of an app together, in the order of the first."""
    groups = grouped(outcomes, lambda each: (each[0].environment, each[0].tenant, each[0].name, each[1].text))
    return [
        replace(
            pair.change,
            environment=app.environment,
            tenant=app.tenant,
            name=app.name,
            clusters=tuple(dict.fromkeys(each.cluster for each, _ in same)),
        )
        for same in groups.values()
        for app, pair in same[:1]
    ]
