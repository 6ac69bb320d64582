"""What a name on the command line means, and whether the file declares it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path as FilePath
from typing import NamedTuple

from tenantry.edit.editor import Editor
from tenantry.kube.names import PLATFORM, dns_label_problem
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import closest, listed


class Kind(StrEnum):
    """What a name is the name of, as commands call it."""

    ENVIRONMENT = "environment"
    TENANT = "tenant"
    APP = "app"
    CLUSTER = "cluster"
    SOURCE = "source"
    ADDON = "addon"

    @property
    def word(self) -> str:
        """The kind in a sentence."""
        return "add-on" if self is Kind.ADDON else self.value

    @property
    def is_owned(self) -> bool:
        """Whether the name on the command line is `TENANT/NAME`."""
        return self in (Kind.APP, Kind.SOURCE)


class Target(NamedTuple):
    """Something with a name. owner: the tenant it belongs to, or `platform`; "" for what is the whole fleet's."""

    kind: Kind
    name: str
    owner: str = ""

    @property
    def path(self) -> tuple[str, ...]:
        """Where the entry is, or would be."""
        if self.kind is Kind.ADDON or self.owner == PLATFORM:
            return (PLATFORM, f"{self.kind}s", self.name)
        owner = ("tenants", self.owner) if self.owner else ()
        return (*owner, f"{self.kind}s", self.name)

    def __str__(self) -> str:
        """App 'web' of tenant 'rocky'"""
        whose = "the platform" if self.owner == PLATFORM else f"tenant '{self.owner}'"
        return f"{self.kind.word} '{self.name}'" + (f" of {whose}" if self.owner else "")


def target_named(kind: Kind, text: str) -> Target:
    """What an argument such as `rocky/web` names. Raises: Refused."""
    owner, slash, name = text.rpartition("/")
    if kind.is_owned:
        if not owner or not name or "/" in owner:
            raise Refused(f"'{text}' does not say whose {kind.word} it is", "write TENANT/NAME, such as 'rocky/web'")
        if owner == PLATFORM and kind is Kind.APP:
            message = f"'{text}' is not a tenant's {kind.word}"
            raise Refused(message, f"the platform has add-ons: use 'addon {name}'")
        return Target(kind, name, owner)
    if slash and (kind is not Kind.ADDON or owner != PLATFORM):
        raise Refused(f"'{text}' is not the name of a {kind.word}", "write the name alone")
    return Target(kind, name)


def existing(editor: Editor, kind: Kind, text: str) -> Target:
    """What an argument names, if the file declares it. Raises: Refused."""
    target = target_named(kind, text)
    _require_owner(editor, target)
    require(editor, target)
    return target


def new(editor: Editor, kind: Kind, text: str) -> Target:
    """What an argument names, if the file does not declare it yet. Raises: Refused: the name is taken, or not valid."""
    target = target_named(kind, text)
    if problem := dns_label_problem(target.name):
        raise Refused(f"name '{target.name}' {problem}", "choose another name")
    _require_owner(editor, target)
    if files := editor.files_with(target.path):
        where = f" in {files[-1]}" if files[-1] != editor.main else ""
        raise Refused(f"{target} exists already{where}", "choose another name")
    return target


def require(editor: Editor, target: Target) -> None:
    """Raises: Refused: the file does not declare the target."""
    known = editor.names(*target.path[:-1])
    if target.name not in known:
        near = closest(target.name, known)
        whose = f" of {str(target).partition(' of ')[2]}" if target.owner else ""
        those = f"declared: {', '.join(known[:8])}{', ...' if len(known) > 8 else ''}" if known else "none is declared"
        added = ", or add it: tenantry add tenant " + target.name if target.kind is Kind.TENANT else ""
        raise Refused(
            f"there is no {target.kind.word} '{target.name}'{whose}; {those}",
            f"did you mean '{near}'?" if near else f"correct the name{added}",
            code=UNKNOWN_NAME,
        )


def _require_owner(editor: Editor, target: Target) -> None:
    if target.owner and target.owner != PLATFORM:
        require(editor, Target(Kind.TENANT, target.owner))


def file_named(editor: Editor, name: FilePath) -> FilePath:
    """The file of the fleet that a path names. Raises: Refused: it is none of them."""
    for file in editor.documents:
        if file.resolve() == name.resolve():
            return file
    raise Refused(
        f"{name} is not one of the fleet's files: {listed(editor.documents)}",
        f"create it with the line 'tenants: {{}}' or 'clusters: {{}}', and name it under 'include:' of {editor.main}",
    )
