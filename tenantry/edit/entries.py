"""What a name on the command line means; a new tenant, app, source, add-on or cluster from settings; and what removes one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tenantry.edit.editor import Editor
from tenantry.edit.paths import assignment, ranks_at
from tenantry.kube.names import PLATFORM, dns_label_problem
from tenantry.load import load_fleet
from tenantry.messages.data import ABSENT, value_at
from tenantry.messages.errors import UNKNOWN_NAME, InvalidFleet, Path, Problem, Refused
from tenantry.messages.text import counted, declared, format_path
from tenantry.model.selector import wanted_labels
from tenantry.source.parsed_file import override_of

KINDS = ("tenant", "app", "cluster", "source", "addon")
"""What has a name, as commands call it."""


class Target(NamedTuple):
    """Something with a name. path: where its entry is, or would be; words: what messages call it."""

    path: tuple[str, ...]
    words: str


def named(editor: Editor, kind: str, text: str) -> Target:
    """What an argument such as `rocky/web` names. Raises: Refused: it is no such name, or its tenant is not declared."""
    owner, slash, name = text.rpartition("/")
    word = "add-on" if kind == "addon" else kind
    if kind not in ("app", "source"):
        if slash and (kind != "addon" or owner != PLATFORM):
            raise Refused(f"'{text}' is not the name of a {word}", "write the name alone")
        return Target((*((PLATFORM,) if kind == "addon" else ()), f"{kind}s", name), f"{word} '{name}'")
    if not owner or not name or "/" in owner:
        raise Refused(f"'{text}' does not say whose {word} it is", "write TENANT/NAME, such as 'rocky/web'")
    if owner == PLATFORM and kind == "app":
        raise Refused(f"'{text}' is not a tenant's {word}", f"the platform has add-ons: use 'addon {name}'")
    if owner == PLATFORM:
        return Target((PLATFORM, f"{kind}s", name), f"{word} '{name}' of the platform")
    tenant = Target(("tenants", owner), f"tenant '{owner}'")
    require(editor, tenant)
    return Target((*tenant.path, f"{kind}s", name), f"{word} '{name}' of {tenant.words}")


def require(editor: Editor, target: Target) -> None:
    """Raises: Refused: the file does not declare the target."""
    names = editor.names(*target.path[:-1])
    if target.path[-1] not in names:
        raise Refused(f"there is no {target.words}", declared("declared", target.path[-1], names), code=UNKNOWN_NAME)


Entry = dict[str, Any]
_SHOWN = 5
_CLUSTERS_OF_WHEN = ("when", "clusters", "names")


class Edit(NamedTuple):
    """What an edit did. done: sentences in the past tense; notes: what else."""

    done: Sequence[str]
    notes: Sequence[str] = ()


def add(editor: Editor, kind: str, name: str, settings: Sequence[str]) -> Edit:
    """Add an entry. Args: settings: `quota.pods=40`. Raises: Refused: it exists, or a name or a setting is wrong."""
    target = named(editor, kind, name)
    if problem := dns_label_problem(target.path[-1]):
        raise Refused(f"name '{target.path[-1]}' {problem}", "choose another name")
    # A team's file may speak of a tenant before the platform declares it.
    undeclared = editor.teams if kind == "tenant" else frozenset()
    if files := [file for file in editor.files_with(target.path) if file not in undeclared]:
        where = f" in {files[-1]}" if files[-1] != editor.main else ""
        raise Refused(f"{target.words} exists already{where}", "choose another name")
    entry: Entry = {}
    for text in settings:
        (*above, key), value = assignment(target.path, text)
        holder = entry
        for part in above:
            holder = holder.setdefault(str(part), {})
        holder[str(key)] = value
    ranks = ranks_at(target.path)
    entry = {key: entry[key] for key in sorted(entry, key=lambda key: ranks.get(key, len(ranks)))}
    editor.set(target.path, entry, file=editor.main if kind == "tenant" else None)
    return Edit([f"added {target.words}"])


def selector(text: str) -> Entry:
    """`all`, `hub-dev,edge-1` or `tier=edge,region=eu,region=us` as a selector; a key of labels with several values may have any.

    Raises: Refused: names and labels are mixed.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    pairs = [part for part in parts if "=" in part]
    if not parts or len(pairs) not in (0, len(parts)):
        fix = "write 'all', names ('hub-dev,edge-1') or labels ('tier=edge')"
        raise Refused(f"'{text}' does not select clusters", fix)
    if pairs:
        return {"labels": wanted_labels(pairs)}
    return {"all": True} if parts == ["all"] else {"names": parts}


# --- removals ----------------------------------------------------------------------------------------------------------


def remove(editor: Editor, kind: str, name: str, *, cascade: bool = False) -> Edit:
    """Raises: Refused: there is no such entry, or something refers to it that cannot be removed with it."""
    target = named(editor, kind, name)
    require(editor, target)
    known, before = {problem.message for problem in _unknown_names(editor)}, Editor(editor.main)
    editor.unset(target.path)
    count = 0
    while problems := [problem for problem in _unknown_names(editor) if problem.message not in known]:
        held = [problem for problem in problems if not (cascade and _can_go(editor, problem.path, problems))]
        if held:
            raise _in_use(before, target, held, cascade=cascade)
        for problem in sorted(problems, key=_from_the_end, reverse=True):
            _drop(editor, problem.path)
        count += len(problems)
    notes = [f"{counted(count, 'reference')} removed with it"] if count else []
    empty = [file for file, document in editor.documents.items() if not any(document.data.values())]
    notes += [f"{file} declares nothing any more: delete it" for file in empty if file != editor.main]
    return Edit([f"removed {target.words}"], notes)


def _unknown_names(editor: Editor) -> Sequence[Problem]:
    """The names in the edited files that are not declared."""
    try:
        load_fleet(editor.main, editor.read)
    except InvalidFleet as invalid:
        return [problem for problem in invalid.diagnostics if problem.code.startswith("unknown-") and problem.path]
    return ()


def _from_the_end(problem: Problem) -> tuple[tuple[int, int | str], ...]:
    """The order in which places stand; they are changed from the end, so that indexes of lists stay right."""
    return tuple((1, part) if isinstance(part, int) else (0, part) for part in problem.path)


def _can_go(editor: Editor, path: Path, problems: Sequence[Problem]) -> bool:
    """Whether a reference can be removed: nothing has to take its place, and what holds it means the same without it."""
    above, inner = path[:-1], path[len(override_of(path)) :]
    if not isinstance(path[-1], int):
        # Without the removed entry the override has no effect.
        return len(inner) == 2 and inner[0] in ("apps", "sources", "addons")
    may_be_empty = "dependsOn" in above[-1:] or "exclude" in above[-2:] or inner[:-1] == _CLUSTERS_OF_WHEN
    return may_be_empty or len(editor.value(above)) > sum(problem.path[:-1] == above for problem in problems)


def _drop(editor: Editor, path: Path) -> None:
    above, override = path[:-1], override_of(path)
    if len(value_at(editor.value(above), ())) > 1 or not isinstance(path[-1], int):
        editor.unset(path)
    elif path[len(override) : -1] == _CLUSTERS_OF_WHEN:
        editor.unset(override)  # without names it would hold nowhere
    elif above[-1] == "dependsOn" and (
        override or (len(above) == 3 and editor.value(("defaults", "dependsOn")) is not ABSENT)
    ):
        editor.set(above, [])  # without the list, another one would apply instead
    else:
        editor.unset(above)


def _in_use(before: Editor, target: Target, held: Sequence[Problem], *, cascade: bool) -> Refused:
    places = (before.place(problem.path) if before.files_with(problem.path) else problem.location for problem in held)
    lines = [f"{place} {format_path(problem.path)}" for place, problem in zip(places, held[:_SHOWN], strict=False)]
    more = f"; and {len(held) - _SHOWN} more" if len(held) > _SHOWN else ""
    fix = "change these places first"
    fix += "" if cascade else ", or add --cascade, which removes them where that is safe"
    return Refused(f"{target.words} is in use: {'; '.join(lines)}{more}", fix)
