"""Finds secrets in keys, values or addresses of the file: anyone who can read the repository or the plan could use them.

Only a certain secret is refused. `messages.redact` keeps possible secrets out of messages. Addresses are recognised by
known forms, so an address that is not reported may still contain a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import holds_password, pasted_secret
from tenantry.messages.redact import kind_of
from tenantry.model import Provider


def pasted_secrets(data: dict[str, Any]) -> Iterator[Problem]:
    """One finding for every key or value of a file's data that holds a secret."""
    # Nearly every file holds none, and one look at all of its text is much quicker than one at each part.
    places = tuple(_places(data, ()))
    if kind_of("\n".join(text for _, text, _ in places)) is None:
        return
    for path, text, at_key in places:
        if kind := kind_of(text):
            yield pasted_secret(path, kind, at_key=at_key)


def _places(data: Any, at: Path) -> Iterator[tuple[Path, str, bool]]:
    """Every text with its path and whether it is the key there."""
    if isinstance(data, str):
        yield at, data, False
    elif isinstance(data, dict):
        for key, value in data.items():
            yield (*at, key), key, True
            yield from _places(value, (*at, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _places(value, (*at, index))


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
