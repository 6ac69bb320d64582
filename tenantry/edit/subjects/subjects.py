"""The subjects of edits: where their entries are in the file, and how they are named on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tenantry.edit.subjects.draft import Draft
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.references import Target
from tenantry.kube.names import PLATFORM, dns_label_problem
from tenantry.messages.errors import UNKNOWN_NAME, Path, Refused
from tenantry.messages.text import closest


class Subject(NamedTuple):
    """A kind of entry. word: for messages; at: the mapping with the entries, in which `*` stands for the tenant."""

    word: str
    at: tuple[str, ...]

    @property
    def is_owned(self) -> bool:
        """Whether the name on the command line is `TENANT/NAME`."""
        return "*" in self.at


SUBJECTS: Mapping[Kind, Subject] = {
    Kind.TENANT: Subject("tenant", ("tenants",)),
    Kind.APP: Subject("app", ("tenants", "*", "apps")),
    Kind.SOURCE: Subject("source", ("tenants", "*", "sources")),
    Kind.CREDENTIALS: Subject("credentials", ("tenants", "*", "credentials")),
    Kind.CONFIG: Subject("config", ("tenants", "*", "configs")),
    Kind.CLUSTER: Subject("cluster", ("clusters",)),
    Kind.GROUP: Subject("group", ("clusterGroups",)),
    Kind.ENVIRONMENT: Subject("environment", ("environments",)),
    Kind.ADDON: Subject("add-on", ("platform", "addons")),
    Kind.FRAME: Subject("frame", ("selfService",)),
}


def path_of(target: Target) -> tuple[str, ...]:
    """Where the entry of a target is, or would be."""
    at = SUBJECTS[target.kind].at
    if target.owner == PLATFORM and "*" in at:
        return (PLATFORM, at[-1], target.name)
    return (*(target.owner if part == "*" else part for part in at), target.name)


def in_words(target: Target) -> str:
    """App 'web' of tenant 'rocky'"""
    word = SUBJECTS[target.kind].word
    if not target.owner:
        return f"{word} '{target.name}'"
    whose = "the platform" if target.owner == PLATFORM else f"tenant '{target.owner}'"
    return f"{word} '{target.name}' of {whose}"


def target_named(kind: Kind, text: str) -> Target:
    """What an argument such as `rocky/web` names. Raises: Refused."""
    owner, slash, name = text.rpartition("/")
    if SUBJECTS[kind].is_owned:
        if not owner or not name or "/" in owner:
            word = SUBJECTS[kind].word
            raise Refused(f"'{text}' does not say whose {word} it is", "write TENANT/NAME, such as 'rocky/web'")
        if owner == PLATFORM and kind in (Kind.APP, Kind.SOURCE):
            raise Refused(
                f"'{text}' is not a tenant's {SUBJECTS[kind].word}", f"the platform has add-ons: use 'addon {name}'"
            )
        return Target(kind, name, owner)
    if slash and kind is Kind.ADDON and owner == PLATFORM:
        return Target(kind, name)
    if slash:
        raise Refused(f"'{text}' is not the name of a {SUBJECTS[kind].word}", "write the name alone")
    return Target(kind, text)


def existing(draft: Draft, kind: Kind, text: str) -> Target:
    """What an argument names, if the file declares it. Raises: Refused."""
    target = target_named(kind, text)
    if target.owner:
        require_owner(draft, target.owner)
    require(draft, target)
    return target


def require(draft: Draft, target: Target) -> None:
    """Raises: Refused: the file does not declare the target."""
    known = draft.names(*path_of(target)[:-1])
    if target.name not in known:
        near = closest(target.name, known)
        whose = f" of {in_words(target).partition(' of ')[2]}" if target.owner else ""
        listed = f"declared: {', '.join(known[:8])}{', ...' if len(known) > 8 else ''}" if known else "none is declared"
        raise Refused(
            f"there is no {SUBJECTS[target.kind].word} '{target.name}'{whose}; {listed}",
            f"did you mean '{near}'?" if near else "correct the name",
            code=UNKNOWN_NAME,
        )


def require_owner(draft: Draft, owner: str) -> None:
    """Raises: Refused: there is no such tenant."""
    if owner != PLATFORM:
        require(draft, Target(Kind.TENANT, owner))


def new(draft: Draft, kind: Kind, text: str) -> Target:
    """What an argument names, if the file does not declare it yet. Raises: Refused: the name is taken, or not valid."""
    target = target_named(kind, text)
    if problem := dns_label_problem(target.name):
        raise Refused(f"name '{target.name}' {problem}", "choose another name")
    if target.owner:
        require_owner(draft, target.owner)
    require_free(draft, target)
    return target


def require_free(draft: Draft, target: Target) -> None:
    """Raises: Refused: the file declares it already."""
    path: Path = path_of(target)
    if (file := draft.holder(path)) is not None:
        where = f" in {file}" if file != draft.main else ""
        raise Refused(f"{in_words(target)} exists already{where}", "choose another name")
