"""Which addresses are known to be secrets by themselves."""

from __future__ import annotations

from tenantry.fleet.rules.references import secrets_of
from tenantry.model import Provider
from tests.table import table


def why(kind: str, address: str) -> str | None:
    """What is told of an address, without what is told of all."""
    found = list(secrets_of(Provider.model_validate({"type": kind, "address": address}), ("p",)))
    assert all(address not in f"{each.message} {each.fix} {each.notes}" for each in found)
    return found[0].message.removeprefix("the address ").partition("; ")[0] if found else None


WEBHOOK = "is a webhook, and anyone who knows it can post to it"


@table(
    ("kind", "address"),
    [
        ("slack", "https://hooks.slack.com/services/T0/B0/x"),
        ("generic", "HTTPS://Hooks.Slack.com/workflows/T0/x"),
        ("slack", "https://hooks.slack-gov.com/services/T0/B0/x"),
        ("slack", "https://mattermost.example.com/hooks/x"),
        ("rocket", "https://chat.example.com:3000/hooks/a/b"),
        ("discord", "https://discord.com/api/webhooks/1/x"),
        ("discord", "https://canary.discordapp.com/api/v10/webhooks/1/x"),
        ("msteams", "https://example.webhook.office.com/webhookb2/x"),
        ("msteams", "https://outlook.office.com/webhook/x"),
        ("msteams", "https://prod-1.westus.logic.azure.com:443/workflows/x"),
        ("lark", "https://open.larksuite.com/open-apis/bot/v2/hook/x"),
        ("generic", "https://api.telegram.org/bot1:x/sendMessage"),
    ],
)
def test_webhooks_are_secrets(kind: str, address: str) -> None:
    assert why(kind, address) == WEBHOOK


@table(
    ("address", "expected"),
    [
        ("https://me:x@example.com/a", "contains a password"),
        ("amqp://me:x@example.com", "contains a password"),
        ("https://chat.googleapis.com/v1/spaces/A/messages?key=x", "contains a token"),
        ("https://example.com/a?team=a&access_token=x", "contains a token"),
        ("Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=x", "contains a token"),
    ],
)
def test_passwords_and_tokens_in_addresses_are_secrets(address: str, expected: str) -> None:
    assert why("generic", address) == expected


@table(
    ("kind", "address"),
    [
        ("slack", "https://slack.com/api/chat.postMessage"),
        ("generic", "https://ci.example.com/hooks/deploy?team=rocky"),
        ("sentry", "https://public@sentry.example.com/1"),
        ("github", "https://github.com/rocky/manifests"),
        ("gitlab", "ssh://git@git.example.com/rocky/manifests"),
        ("nats", "nats://nats.example.com:4222"),
        ("alertmanager", "http://alertmanager.monitoring:9093/api/v2/alerts/"),
        ("generic", "https://example.com/a?monkey=x&key="),
    ],
)
def test_other_addresses_are_not(kind: str, address: str) -> None:
    assert why(kind, address) is None
