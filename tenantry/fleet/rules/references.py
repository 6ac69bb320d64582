"""Rules about what sources, apps, alerts and receivers need of credentials and configs, and whether an event can reach anybody."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from unicodedata import normalize

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.templates import is_shared
from tenantry.flux.credentials import (
    ADDRESS,
    GCR,
    PROVIDERS,
    RECEIVER,
    SLACK_API,
    Use,
    forms,
    misfit,
    needed,
    use_of,
)
from tenantry.flux.references import references
from tenantry.flux.texts import yaml_documents
from tenantry.kube.objects import REGISTRY_KEY
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.placeholders import is_unfilled
from tenantry.messages.problems import holds_password, shown
from tenantry.messages.text import declared
from tenantry.model import COMMIT_STATUS, Alert, Credentials, Provider, Receiver

# Flux's own check, in fluxcd/pkg/kustomize.
_VARIABLE = re.compile(r"[_A-Za-z][_A-Za-z0-9]*")


_VALUES_KEY = "values.yaml"
"""Where Flux looks for values by default."""


class _Named(NamedTuple):
    """A reference to credentials or a config: its place, its content, the name, and the keys of the named entry."""

    at: Path
    entry: dict[str, Any]
    what: str
    keys: tuple[str, ...]


def substitutions_are_named_as_variables(fleet: Fleet) -> Iterator[Problem]:
    for named in _entries(fleet, "Kustomization", "postBuild", "substituteFrom"):
        for key in named.keys:
            if not _VARIABLE.fullmatch(key):
                yield Problem(
                    (*named.at, "name"),
                    "bad-substitution",
                    f"{named.what} has the key '{key}', which is not a valid variable name, so Flux would substitute nothing",
                    fix="declare the substitutions separately, with keys of letters, digits and '_'",
                )


def values_come_from_declared_keys(fleet: Fleet) -> Iterator[Problem]:
    for named in _entries(fleet, "HelmRelease", "valuesFrom"):
        key = named.entry.get("valuesKey", _VALUES_KEY)
        if isinstance(key, str) and key not in named.keys and not is_unfilled(key):
            yield Problem(
                (*named.at, "valuesKey" if "valuesKey" in named.entry else "name"),
                "unknown-key-of-values",
                f"{named.what} has no key '{key}'",
                (declared("keys", key, named.keys),),
                fix="name another key with 'valuesKey', or declare this one",
            )


def misfitting_keys(
    credentials: Mapping[str, Credentials], kind: str, spec: Mapping[str, Any], origin: Callable[[Path], Path]
) -> Iterator[Problem]:
    """Credentials that do not have what Flux reads where a spec names them. `existing` ones may have everything.

    Args: credentials: of the spec's owner. origin: where in the document the value at a path of the spec is written.
    """
    for reference in references(kind, dict(spec)):
        use = use_of(kind, spec, reference.path[:-1]) if reference.kind == "Secret" else None
        if use and (mistake := _mistake(credentials, use, reference.name, str(spec.get("url", "")))):
            yield Problem(origin(reference.path), "wrong-keys", mistake[0], fix=mistake[1])
    if missing := needed(kind, spec):
        path, use = missing
        where = (
            "credentials: NAME' beside the block" if path == ("secretRef",) else "secretRef: {name: NAME}' in 'verify:'"
        )
        yield _missing_credentials(origin(("url",)), use, where)


def _mistake(credentials: Mapping[str, Credentials], use: Use, name: str, url: str = "") -> tuple[str, str] | None:
    """Why credentials do not have what Flux reads, and the fix; None: they may have it, or another rule has named them."""
    declared_as = credentials.get(name)
    if declared_as is None or declared_as.existing:
        return None
    return misfit(use, name, declared_as.keys or (), declared_as.registry or "", url)


def _missing_credentials(at: Path, use: Use, where: str = "credentials: NAME'") -> Problem:
    message = f"{use.what} needs credentials, of which Flux reads {use.words}"
    return Problem(at, "missing-credentials", message, fix=f"declare {forms(use)}, and write '{where}")


def values_of_configs_are_yaml(fleet: Fleet) -> Iterator[Problem]:
    """What an app takes as a whole is parsed by helm-controller. A text with placeholders is something else on each cluster."""
    problems: dict[Path, Problem] = {}
    for named in _entries(fleet, "HelmRelease", "valuesFrom"):
        key, name = named.entry.get("valuesKey", _VALUES_KEY), named.entry["name"]
        owner = named.at[:2] if named.at[0] == "tenants" else named.at[:1]
        at = (*owner, "configs", name, "data", key)
        text = value_at(fleet.source.data, at)
        if named.entry.get("kind") != "ConfigMap" or "targetPath" in named.entry or not isinstance(text, str):
            continue
        documents = None if is_unfilled(text) else yaml_documents(text)
        if isinstance(documents, Problem):
            problems[at] = Problem(at, "bad-yaml", f"'{key}' of {named.what} {documents.message}", fix=documents.fix)
        elif documents and not (len(documents) == 1 and isinstance(documents[0], dict | None)):
            message = f"'{key}' of {named.what} is no mapping, and an app takes its values from it"
            problems[at] = Problem(
                at, "bad-yaml", message, fix="write values, such as 'replicas: 2', or name a 'targetPath:'"
            )
    yield from problems.values()


def _entries(fleet: Fleet, flux_kind: str, *path: str) -> Iterator[_Named]:
    """The entries of a list of references whose keys are known."""
    for at, model, block in fleet.blocks:
        if is_shared(at):
            continue
        listed = mapping_at(block, *path[:-1]).get(path[-1]) if model.flux_kind == flux_kind else None
        for index, entry in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(entry, dict) and (named_keys := _keys(fleet, at, entry)):
                yield _Named((*at, *path, index), entry, *named_keys)


def _keys(fleet: Fleet, at: Path, entry: dict[str, Any]) -> tuple[str, tuple[str, ...]] | None:
    """The named entry, in words, and its keys; None: it is created elsewhere or not declared."""
    owner = fleet.document.tenants.get(str(at[1])) if at[0] == "tenants" else fleet.document.platform
    name = entry.get("name")
    if owner is None or not isinstance(name, str):
        return None
    if entry.get("kind") == "ConfigMap":
        config = owner.configs.get(name)
        return (f"config '{name}'", tuple(config.data)) if config and config.data else None
    if entry.get("kind") != "Secret":
        return None  # a placeholder, which each placement fills in
    secret = owner.credentials.get(name)
    keys = (REGISTRY_KEY,) if secret and secret.registry else tuple(secret.keys or ()) if secret else ()
    return (f"credentials '{name}'", keys) if keys else None


_CHANNEL = ("googlepubsub", "matrix", "nats", "pagerduty", "telegram", "webex", "zulip")
"""Types of providers that do not know where to without a channel."""


_NO_ADDRESS = "telegram"


_SLACK_API = "https://slack.com/api/"
"""Where Slack knows by a token who posts, and by nothing where to. The address of a webhook says both."""


_OWNED_METADATA = {"tenants": ("environment", "tenant", "cluster"), "platform": ("cluster",)}
"""Keys of messages by which the fleet says whose an object is."""


def alerts_leave_the_fleets_metadata_alone(fleet: Fleet) -> Iterator[Problem]:
    """Who reads a message has to be able to believe whose an object is."""
    for at, alert in walk.declared(fleet, Alert):
        metadata = alert.flux.get("eventMetadata")
        for key in metadata if isinstance(metadata, dict) else ():
            # As a reader of a chat would take it: ` Tenant` and one with invisible characters look like `tenant`.
            shown_key = "".join(char for char in normalize("NFKC", key) if char.isprintable() and not char.isspace())
            if shown_key.casefold() in _OWNED_METADATA[at[0]]:
                yield Problem(
                    (*at, "eventMetadata", key),
                    "owned-key",
                    f"'{key}' of messages is set by the fleet",
                    fix="remove it, or choose another key",
                    at_key=True,
                )


def addresses_of_providers_hold_no_secret(fleet: Fleet) -> Iterator[Problem]:
    """As written, also of an alert that is planned nowhere; the plan checks it again with its placeholders filled."""
    for at, alert in walk.declared(fleet, Alert):
        yield from secrets_of(alert.provider, (*at, "provider"))


_WEBHOOKS = re.compile(
    r"https?://("
    r"hooks\.slack(-gov)?\.com/(services|triggers|workflows)/"
    r"|([-\w]+\.)?discord(app)?\.com/api/(v\d+/)?webhooks/"
    r"|[^/]+\.webhook\.office\.com/|outlook\.office(365)?\.com/webhook/"
    r"|[^/]+\.(logic\.azure|powerplatform)\.com(:\d+)?/"
    r"|open\.(larksuite\.com|feishu\.cn)/open-apis/bot/"
    r"|api\.telegram\.org/bot"
    r").*",
    re.IGNORECASE,
)
"""Anyone who knows such a URL can post to it."""
_OWN_HOST = re.compile(r"https?://[^/]+/hooks/\S+")
"""The same of Rocket.Chat and Mattermost, which run on hosts of their users' own."""
_TOKEN = re.compile(
    r".*([?&](access_?token|api_?key|code|key|password|secret|sig|signature|token)=[^&]|SharedAccessKey=).*",
    re.IGNORECASE,
)


def secrets_of(provider: Provider, at: Path) -> Iterator[Problem]:
    """The parts of a provider at a path that not everyone may read; the values themselves are never shown."""
    for key in ("address", "proxy"):
        value = provider.flux.get(key)
        if isinstance(value, str) and (why := _secret_in(value, provider.type)):
            where = "credentials: NAME' beside the provider" if key == "address" else "proxySecretRef: {name: NAME}'"
            yield Problem(
                (*at, key),
                "secret-in-url",
                f"the {key} {why}; anyone who reads the file or the plan could see it",
                fix=f"remove it, and revoke it; declare credentials with the key 'address' for a new one, and write '{where}",
            )


def _secret_in(address: str, provider: str) -> str | None:
    """Why the address of a provider of a type, such as `slack`, is secret; None: it is not known to be."""
    if holds_password(address):
        return "contains a password"
    if _WEBHOOKS.match(address) or (provider in ("rocket", "slack") and _OWN_HOST.match(address)):
        return "is a webhook, and anyone who knows it can post to it"
    return "contains a token" if _TOKEN.match(address) else None


def missing_in_alert(fleet: Fleet, at: tuple[str, ...], alert: Alert) -> Iterator[Problem]:
    """A finding for each setting that an alert's provider needs and lacks. Flux would accept it, and fail at every event."""
    kind, flux, name = alert.provider.type, alert.provider.flux, alert.credentials
    by_api = kind == "slack" and str(flux.get("address", "")).startswith(_SLACK_API)
    if (by_api or kind in _CHANNEL) and not flux.get("channel"):
        message = f"a provider of type '{kind}' needs a channel{' with this address' if by_api else ''}"
        yield Problem((*at, "provider"), "missing-key", message, fix="add 'channel:'")
    if kind != _NO_ADDRESS and not flux.get("address") and any(_unmet(fleet, at, name, ADDRESS)):
        fix = "add 'address:', or name credentials with the key 'address'"
        yield Problem((*at, "provider"), "missing-key", f"a provider of type '{kind}' needs an address", fix=fix)
    if use := SLACK_API if by_api else PROVIDERS.get(kind):
        yield from _unmet(fleet, at, name, use)


def _unmet(fleet: Fleet, at: tuple[str, ...], name: str | None, use: Use) -> Iterator[Problem]:
    """A finding if the credentials beside something at a path do not have what Flux reads of them, or if there are none."""
    if name is None:
        yield _missing_credentials(at, use)
    elif mistake := _mistake(walk.owner_of(fleet, at).credentials, use, name):
        yield Problem((*at, "credentials"), "wrong-keys", mistake[0], fix=mistake[1])


def alerts_report_what_their_provider_takes(fleet: Fleet) -> Iterator[Problem]:
    """Flux sets the status of a commit for what has a commit as its revision."""
    for at, alert in walk.declared(fleet, Alert):
        kind = alert.provider.type
        is_platforms = at[0] == "platform"
        apps = fleet.document.platform.addons if is_platforms else fleet.document.tenants[at[1]].apps
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


_WITHOUT_SECRET = "generic-oidc"
"""The one type whose calls carry a signed token of an issuer."""


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
    else:
        yield from _unmet(fleet, at, receiver.credentials, GCR if kind == "gcr" else RECEIVER)


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
