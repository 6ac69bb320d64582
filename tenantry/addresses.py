"""Addresses that hold a secret: who writes one into tenants.yaml shows it to everyone who reads the file, the plan or a cluster.

Only forms are known here, so what is found is a secret, but what is not found may be one all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenantry.errors import Finding, Path
from tenantry.model import Provider
from tenantry.wording import holds_password

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
"""Whoever knows such a URL may post to it."""
_OWN_HOST = re.compile(r"https?://[^/]+/hooks/\S+")
"""The same of Rocket.Chat and Mattermost, which run on hosts of their users' own."""
_TOKEN = re.compile(
    r".*([?&](access_?token|api_?key|code|key|password|secret|sig|signature|token)=[^&]|SharedAccessKey=).*",
    re.IGNORECASE,
)


def secrets_of(provider: Provider, at: Path) -> Iterator[Finding]:
    """What of a provider at a path should not be read by everyone; the values themselves are never told."""
    for key in ("address", "proxy"):
        value = provider.flux.get(key)
        if isinstance(value, str) and (why := _secret_in(value, provider.type)):
            where = "credentials: NAME' beside the provider" if key == "address" else "proxySecretRef: {name: NAME}'"
            yield Finding(
                (*at, key),
                "secret-in-url",
                f"the {key} {why}, and everyone who reads the file or the plan could see it",
                fix=f"remove it, and revoke it; declare credentials with the key 'address' for a new one, and write '{where}",
            )


def _secret_in(address: str, provider: str) -> str | None:
    """What makes a secret of the address of a provider of some type, such as `slack`; None: nothing that is known."""
    if holds_password(address):
        return "holds a password"
    if _WEBHOOKS.match(address) or (provider in ("rocket", "slack") and _OWN_HOST.match(address)):
        return "is a webhook to which whoever knows it can post"
    return "holds a token" if _TOKEN.match(address) else None
