"""Transfers: apps of one tenant become another's with the namespace that they run in, and nothing is installed again."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit
from tenantry.edit.subjects.marks import MARKS, drop_marks
from tenantry.edit.subjects.moving import bring, needed_by, relocate
from tenantry.edit.subjects.names import Kind, Target
from tenantry.edit.subjects.references import existing, new, references_to
from tenantry.messages.data import ABSENT, mapping_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import format_path, listed

_PLACES = ("targetNamespace", "storageNamespace")
_INSTEAD = "to install it anew there, without its data: tenantry move app {app} {to}"


class _Shared(NamedTuple):
    """A namespace beside the main one of a tenant, by its key, and the apps in it."""

    tenant: str
    key: str
    apps: tuple[str, ...]

    @property
    def at(self) -> Path:
        return ("tenants", self.tenant, "namespaces", self.key)


def transfer_app(editor: Editor, text: str, to: str) -> Edit:
    """Give an app, and all others in its namespace, to another tenant.

    Raises: Refused: the app has no namespace that can go with it, something else refers to one of the apps, or the other tenant
    lacks what they refer to.
    """
    app, owner = existing(editor, Kind.APP, text), existing(editor, Kind.TENANT, to).name
    if owner == app.owner:
        raise Refused(f"{app} is of tenant '{owner}' already", "name another tenant")
    place = _place_of(editor, app, owner)
    apps = [Target(Kind.APP, name, app.owner) for name in place.apps]
    moved = [new(editor, Kind.APP, f"{owner}/{each.name}") for each in apps]
    _require_unused(editor, apps)
    needed = {target for each in apps for target in needed_by(editor, each) if target not in apps}
    notes = [
        note
        for target in sorted(needed)
        for note in bring(editor, target, target._replace(owner=owner), app, with_sources=True)
    ]
    notes += [f"app '{each.name}' goes with it, as it is in the same namespace" for each in apps if each != app]
    for each, there in zip(apps, moved, strict=True):
        _keep_places(editor, each, owner)
        relocate(editor, each.path, there.path)
        notes += drop_marks(editor, there)
    key = _give_namespace(editor, place, owner)
    notes.append(f"its namespace goes with it, and is 'namespaces.{key}' of tenant '{owner}' now")
    adopts: Path = ("tenants", owner, "adopt")
    if editor.value(adopts) is not True:
        editor.set(adopts, value=True, file=editor.main)
        notes.append(f"tenant '{owner}' may take over what exists (adopt: true)")
    hint = (
        "nothing is installed again: names of objects stay, and rights change. When every environment has it: `tenantry unset"
        f" tenants.{owner}.adopt`"
    )
    return Edit(f"gave {app} to tenant '{owner}'", notes, [hint], same_apps=True)


def _place_of(editor: Editor, app: Target, to: str) -> _Shared:
    """The namespace that goes with an app. Raises: Refused: it is the tenant's main one, or Helm has its records in another."""
    block = _block_of(editor, app)
    key = block.get("targetNamespace")
    own = editor.names("tenants", app.owner, "namespaces")
    instead = _INSTEAD.format(app=f"{app.owner}/{app.name}", to=to)
    if key not in own:
        message = f"{app} is in the main namespace of tenant '{app.owner}', which has more than this app"
        if key is not None:
            message = f"'{key}' is no key of 'namespaces' of tenant '{app.owner}', so nobody knows what goes with {app}"
        raise Refused(
            message, f"give the whole tenant another name: tenantry transfer tenant {app.owner} NAME; or {instead}"
        )
    apps = tuple(
        name
        for name in editor.names("tenants", app.owner, "apps")
        if _block_of(editor, Target(Kind.APP, name, app.owner)).get("targetNamespace") == key
    )
    for each in (Target(Kind.APP, name, app.owner) for name in apps):
        entry = editor.value(each.path)
        if entry != editor.value_or_of_class(each.path):
            raise Refused(f"{each} has a part from a class", "write the whole app into the tenant first")
        if differing := [path for path in _paths(entry.get("overrides", {})) if path[-1] in _PLACES]:
            at = format_path((*each.path, "overrides", *differing[0]))
            raise Refused(
                f"{at} puts the app into another namespace somewhere", "take the app off these clusters first"
            )
        if "helm" in entry and _block_of(editor, each).get("storageNamespace") != key:
            raise Refused(
                f"Helm keeps its records of {each} in the main namespace of tenant '{app.owner}', and would uninstall the app"
                " without them",
                f"only an app that was installed with 'storageNamespace: {key}' can be given away; {instead}",
            )
    return _Shared(app.owner, key, apps)


def _block_of(editor: Editor, app: Target) -> dict[str, Any]:
    entry = editor.value(app.path, {})
    return mapping_at(entry, "helm") or mapping_at(entry, "kustomize")


def _paths(value: Any) -> Iterator[Path]:
    """The path of each key below a value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ()):
        yield (key,)
        yield from ((key, *path) for path in _paths(inner))


def _require_unused(editor: Editor, apps: Collection[Target]) -> None:
    """Raises: Refused: something that stays refers to one of the apps."""
    own = [each.path for each in apps]
    for app in apps:
        users = [
            f"{editor.place(user.path, file)} {format_path(user.path)}"
            for file, user in references_to(editor, app)
            if not any(user.path[: len(path)] == path for path in own)
        ]
        if users:
            raise Refused(f"{app} is in use: {listed(users)}", "change these places first")


def _keep_places(editor: Editor, app: Target, owner: str) -> None:
    """Write down where the app is, if the other tenant would have it elsewhere."""
    for key, anywhere in (("clusters", ABSENT), ("environments", editor.names("environments"))):
        if editor.value((*app.path, key)) is not ABSENT:
            continue
        before, after = (_said(editor, tenant, key) for tenant in (app.owner, owner))
        there = anywhere if before is ABSENT else before
        if before != after and there is not ABSENT:
            editor.set((*app.path, key), there)


def _said(editor: Editor, tenant: str, key: str) -> Any:
    own = editor.value_or_of_class(("tenants", tenant, key))
    return editor.value(("defaults", key)) if own is ABSENT else own


def _give_namespace(editor: Editor, place: _Shared, owner: str) -> str:
    """Move the entry of a namespace, and say whose it was. Returns: its key there."""
    there = editor.names("tenants", owner, "namespaces")
    key = place.key if place.key not in there else f"{place.tenant}-{place.key}"
    at = ("tenants", owner, "namespaces", key)
    if key in there:
        raise Refused(f"tenant '{owner}' has a namespace '{key}' already", "rename its entry first")
    owners = _former_owners(editor, place)
    relocate(editor, place.at, at)
    if editor.value((*at, "state"), None) in MARKS:
        editor.unset((*at, "state"))
    editor.set((*at, "formerly"), owners, file=editor.main)
    if key != place.key:
        if editor.value((*at, "name")) is ABSENT:
            editor.set((*at, "name"), f"{{namespace}}-{place.key}", file=editor.main)
        for app in place.apps:
            path = ("tenants", owner, "apps", app)
            block = "helm" if "helm" in editor.value(path) else "kustomize"
            for each in _PLACES if block == "helm" else _PLACES[:1]:
                editor.set((*path, block, each), key)
    return key


def _former_owners(editor: Editor, place: _Shared) -> list[dict[str, Any]]:
    """All tenants that had the namespace, the oldest first. Apps keep the tenant in whose name they were installed."""
    owners = [dict(each) for each in editor.value((*place.at, "formerly"), [])]
    known = {app for each in owners for app in each.get("apps", ())}
    # Names of objects contain the oldest name of a tenant, and labels the one of today.
    names = [*editor.value(("tenants", place.tenant, "formerly"), []), place.tenant]
    for name in names:
        if all(each["tenant"] != name for each in owners):
            owners.append({"tenant": name})
    if fresh := [app for app in place.apps if app not in known]:
        first = next(each for each in owners if each["tenant"] == names[0])
        first["apps"] = [*first.get("apps", ()), *fresh]
    return owners
