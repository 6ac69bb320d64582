"""Rules about receivers: the sources that they fetch, and what Flux needs to check a call."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.rules import keys
from tenantry.fleet.rules.unused import may_be_filled
from tenantry.messages.errors import Finding
from tenantry.messages.findings import doubtful
from tenantry.messages.placeholders import is_unfilled
from tenantry.model import Receiver

_WITHOUT_SECRET = "generic-oidc"
"""The one type whose calls carry a signed token of an issuer."""
_KEYS = {"gcr": ("token", "email", "audience")}
_KEY = ("token",)


def receivers_name_declared_sources(fleet: Fleet) -> Iterator[Finding]:
    for at, receiver in walk.receivers(fleet):
        yield from walk.undeclared(fleet, at, "sources", receiver.sources or (), ("sources", "source"))


def receivers_name_sources_that_flux_fetches(fleet: Fleet) -> Iterator[Finding]:
    for at, receiver in walk.receivers(fleet):
        for index, name in enumerate(receiver.sources or ()):
            source = walk.source_of(fleet, at, name)
            if source and source.externalArtifact:
                yield Finding(
                    (*at, "sources", index),
                    "no-effect",
                    f"source '{name}' is an external artifact: another controller makes it, and Flux fetches nothing",
                    fix="name another source, or remove it",
                )


def receivers_say_what_their_type_needs(fleet: Fleet) -> Iterator[Finding]:
    """As written; `lacking` looks again at the type that variables give."""
    for at, receiver in walk.receivers(fleet):
        yield from lacking(fleet, at, receiver)


def lacking(fleet: Fleet, at: tuple[str, ...], receiver: Receiver) -> Iterator[Finding]:
    """What is wrong with the credentials of a receiver at a path. Flux would accept it, and refuse every call."""
    kind = receiver.type
    if is_unfilled(kind):
        return
    if kind == _WITHOUT_SECRET:
        if receiver.credentials:
            yield Finding(
                (*at, "credentials"),
                "bad-combination",
                f"a receiver of type '{kind}' takes no credentials: its callers show a token of an issuer",
                fix="remove it, or change the type",
                at_key=True,
            )
        return
    needed = _KEYS.get(kind, _KEY)
    if receiver.credentials is None:
        yield _lacking(at, kind, needed, "declare them, and add 'credentials:'")
        return
    there = keys.keys_of_credentials(fleet, at, receiver.credentials)
    if missing := tuple(key for key in needed if there is not None and key not in there):
        what = "it" if len(missing) == 1 else "them"
        yield _lacking((*at, "credentials"), kind, missing, f"add {what} to the keys, or name other credentials")


def receivers_have_sources_to_fetch(fleet: Fleet) -> Iterator[Finding]:
    """One that names sources is silent: what is declared and never used has a warning of its own."""
    for at, receiver in walk.receivers(fleet):
        if receiver.sources is None and not _may_fetch(fleet, at) and not may_be_filled(fleet, at):
            whose, what = ("the platform", "add-on") if at[0] == "platform" else (f"tenant '{at[1]}'", "source")
            yield doubtful(
                at,
                "unused",
                f"receiver '{at[-1]}' is declared, but never used: {whose} has no {what} that Flux fetches",
                fix=f"declare {'an' if what == 'add-on' else 'a'} {what}, or remove it",
                at_key=True,
            )


def _may_fetch(fleet: Fleet, at: tuple[str, ...]) -> bool:
    document = fleet.document
    names = document.platform.addons if at[0] == "platform" else document.tenants[at[1]].sources
    found = (walk.source_of(fleet, at, name) for name in names)
    return any(source and not source.externalArtifact for source in found)


def _lacking(at: tuple[str, ...], kind: str, needed: tuple[str, ...], fix: str) -> Finding:
    listed = " and ".join(f"'{key}'" for key in needed)
    what = "key" if len(needed) == 1 else "keys"
    return Finding(
        at, "missing-key", f"a receiver of type '{kind}' needs credentials with the {what} {listed}", fix=fix
    )
