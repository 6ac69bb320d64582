"""Rules about alerts and receivers: whether an event can reach anybody, and what Flux needs to check a call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from unicodedata import normalize

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.leaks import secrets_of
from tenantry.fleet.rules import references
from tenantry.fleet.rules.references import keys_of_credentials
from tenantry.flux.credentials import ADDRESS, GCR, PROVIDERS, RECEIVER, Use, format_keys
from tenantry.messages.errors import Problem
from tenantry.messages.placeholders import is_unfilled
from tenantry.messages.problems import shown
from tenantry.model import COMMIT_STATUS, Alert, App, Receiver

_COMMENTS = ("giteapullrequestcomment", "githubpullrequestcomment", "gitlabmergerequestcomment")
_CHANNEL = ("googlepubsub", "matrix", "nats", "pagerduty", "telegram", "webex", "zulip")
"""Types of providers that do not know where to without a channel."""
_NO_ADDRESS = "telegram"
_SLACK_API = "https://slack.com/api/"
"""Where Slack knows by a token who posts, and by nothing where to. The address of a webhook says both."""
_OWNED_METADATA = {"tenants": ("environment", "tenant", "cluster"), "platform": ("cluster",)}
"""Keys of messages by which the fleet says whose an object is."""


def alerts_name_declared_apps(fleet: Fleet) -> Iterator[Problem]:
    for at, alert in walk.alerts(fleet):
        yield from walk.undeclared_names(fleet, at, "apps", alert.apps or (), ("apps", "app"))


def alerts_leave_the_fleets_metadata_alone(fleet: Fleet) -> Iterator[Problem]:
    """Who reads a message has to be able to believe whose an object is."""
    for at, alert in walk.alerts(fleet):
        metadata = alert.flux.get("eventMetadata")
        for key in metadata if isinstance(metadata, dict) else ():
            if _as_shown(key) in _OWNED_METADATA[at[0]]:
                yield Problem(
                    (*at, "eventMetadata", key),
                    "owned-key",
                    f"'{key}' of messages is set by the fleet",
                    fix="remove it, or choose another key",
                    at_key=True,
                )


def _as_shown(key: str) -> str:
    """A key as a reader of a chat would take it: ` Tenant` and one with invisible characters look like `tenant`."""
    return "".join(char for char in normalize("NFKC", key) if char.isprintable() and not char.isspace()).casefold()


def addresses_of_providers_hold_no_secret(fleet: Fleet) -> Iterator[Problem]:
    """As written; the plan checks it again with its placeholders filled."""
    for at, alert in walk.alerts(fleet):
        yield from secrets_of(alert.provider, (*at, "provider"))


def providers_have_what_their_type_needs(fleet: Fleet) -> Iterator[Problem]:
    """As written; `missing_in_alert` looks again at the values that variables give."""
    for at, alert in walk.alerts(fleet):
        yield from missing_in_alert(fleet, at, alert)


def missing_in_alert(fleet: Fleet, at: tuple[str, ...], alert: Alert) -> Iterator[Problem]:
    """A finding for each setting that an alert's provider needs and lacks. Flux would accept it, and fail at every event."""
    kind, flux = alert.provider.type, alert.provider.flux
    if kind in _CHANNEL and not flux.get("channel"):
        yield _incomplete((*at, "provider"), kind, "a channel", "add 'channel:'")
    if kind != _NO_ADDRESS and not flux.get("address") and not _may_hold(fleet, at, alert, ADDRESS):
        yield _incomplete(
            (*at, "provider"), kind, "an address", "add 'address:', or name credentials with the key 'address'"
        )
    if kind == "slack" and str(flux.get("address", "")).startswith(_SLACK_API):
        if not flux.get("channel"):
            yield _incomplete((*at, "provider"), kind, "a channel with this address", "add 'channel:'")
        if not _may_hold(fleet, at, alert, RECEIVER):
            what = "credentials with the key 'token' with this address"
            yield _incomplete(at, kind, what, "set 'credentials:', or write the address of a webhook")
    if (use := PROVIDERS.get(kind)) and not _may_hold(fleet, at, alert, use):
        where = (*at, "credentials") if alert.credentials else at
        yield _incomplete(
            where, kind, f"credentials with the key {use.words}", "set 'credentials:', or add the key to them"
        )


def alerts_report_what_their_provider_takes(fleet: Fleet) -> Iterator[Problem]:
    """Flux sets the status of a commit for what has a commit as its revision, and comments where an annotation says on what."""
    for at, alert in walk.alerts(fleet):
        kind = alert.provider.type
        apps: Mapping[str, App] = _apps(fleet, at)
        reported = {name: app for name, app in apps.items() if alert.apps is None or name in alert.apps}
        if kind in COMMIT_STATUS and reported and all(app.kind == "helm" for app in reported.values()):
            names = ", ".join(f"'{name}'" for name in reported)
            yield Problem(
                (*at, "apps") if alert.apps else at,
                "no-commit",
                f"'{kind}' sets commit statuses, but no release has a commit ({names}): its revision is the version of"
                " its chart",
                fix="name apps with 'kustomize:', or use another type of provider",
            )
        if kind in _COMMENTS:
            status = kind.removesuffix("comment").removesuffix("pullrequest").removesuffix("mergerequest")
            yield Problem(
                (*at, "provider", "type"),
                "no-effect",
                f"'{kind}' comments only on objects with the annotation event.toolkit.fluxcd.io/change_request, and"
                " Tenantry's objects do not have it",
                fix=f"use '{status}', which sets commit statuses, or another type",
            )


def _apps(fleet: Fleet, at: tuple[str, ...]) -> Mapping[str, App]:
    """The apps or add-ons that the alert at a path may report."""
    return fleet.document.platform.addons if at[0] == "platform" else fleet.document.tenants[at[1]].apps


def _may_hold(fleet: Fleet, at: tuple[str, ...], alert: Alert, use: Use) -> bool:
    """Whether the alert's credentials may have what Flux reads; what is not declared, another rule has named."""
    if alert.credentials is None:
        return False
    keys = keys_of_credentials(fleet, at, alert.credentials)
    return keys is None or use.missing(keys) == ()


def _incomplete(at: tuple[str, ...], kind: str, what: str, fix: str) -> Problem:
    return Problem(at, "missing-key", f"a provider of type '{kind}' needs {what}", fix=fix)


_WITHOUT_SECRET = "generic-oidc"
"""The one type whose calls carry a signed token of an issuer."""


def receivers_name_declared_sources(fleet: Fleet) -> Iterator[Problem]:
    for at, receiver in walk.receivers(fleet):
        yield from walk.undeclared_names(fleet, at, "sources", receiver.sources or (), ("sources", "source"))


def receivers_have_what_their_type_needs(fleet: Fleet) -> Iterator[Problem]:
    """As written; `missing_in_receiver` looks again at the type that variables give."""
    for at, receiver in walk.receivers(fleet):
        yield from missing_in_receiver(fleet, at, receiver)


def missing_in_receiver(fleet: Fleet, at: tuple[str, ...], receiver: Receiver) -> Iterator[Problem]:
    """What is wrong with the credentials of a receiver at a path. Flux would accept it, and refuse every call."""
    kind = receiver.type
    if is_unfilled(kind):
        return
    yield from _unknown_events(at, kind, receiver.flux.get("events"))
    if kind == _WITHOUT_SECRET:
        if receiver.credentials:
            yield Problem(
                (*at, "credentials"),
                "bad-combination",
                f"a receiver of type '{kind}' takes no credentials: its callers show a token of an issuer",
                fix="remove it, or change the type",
                at_key=True,
            )
        return
    use = GCR if kind == "gcr" else RECEIVER
    if receiver.credentials is None:
        yield _missing_credentials(at, kind, use.ways[0], "declare them, and add 'credentials:'")
        return
    keys = references.keys_of_credentials(fleet, at, receiver.credentials)
    if missing := tuple(key for key in use.ways[0] if keys is not None and key not in keys):
        what = "it" if len(missing) == 1 else "them"
        yield _missing_credentials(
            (*at, "credentials"), kind, missing, f"add {what} to the keys, or name other credentials"
        )


_EVENTS = {
    "bitbucket": (re.compile(r"[a-z_]+(:[a-z_]+)+", re.IGNORECASE), "repo:refs_changed"),
    "cdevents": (re.compile(r"dev\.cdevents\..+", re.IGNORECASE), "dev.cdevents.change.merged.0.2.0"),
    "github": (re.compile(r"[a-z_]+", re.IGNORECASE), "push"),
    "gitlab": (re.compile(r".+ hook", re.IGNORECASE), "Push Hook"),
}
"""Type of a receiver -> what its service calls an event in the header that Flux compares, in any case, and one of them."""


def _unknown_events(at: tuple[str, ...], kind: str, events: Any) -> Iterator[Problem]:
    """Flux refuses a call with another event than the listed ones."""
    form, usual = _EVENTS.get(kind, (None, ""))
    for index, event in enumerate(events if form and isinstance(events, list) else ()):
        if form and isinstance(event, str) and not is_unfilled(event) and not form.fullmatch(event):
            message = (
                f"no call of type '{kind}' has the event {shown(event)}, so Flux would refuse those that are meant"
            )
            fix = f"write it as in '{usual}'"
            yield Problem((*at, "events", index), "unknown-event", message, fix=fix)


def _missing_credentials(at: tuple[str, ...], kind: str, needed: tuple[str, ...], fix: str) -> Problem:
    what = f"{'key' if len(needed) == 1 else 'keys'} {format_keys(needed)}"
    return Problem(at, "missing-key", f"a receiver of type '{kind}' needs credentials with the {what}", fix=fix)
