"""What is taken for a secret, and what is not."""

from __future__ import annotations

import base64

from tenantry.messages.redact import is_sensitive, kind_of, presentable, redacted, shorten, without_credentials
from tests.hostile.secrets import RANDOM, SECRETS, parts
from tests.table import table

NONE = [
    "https://git.example.com/rocky",
    "ssh://git@git.example.com:22/rocky",
    "https://user@example.com/a:b",
    "postgres://app:$(PASSWORD)@db/app",
    "amqp://user:${PASSWORD}@mq",
    "https://{{ .user }}:{{ .password }}@example.com",
    "redis://:<password>@cache",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMIIB").decode(),
    "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kudlxwkjsx0h0n2",
    "ENC[AES256_GCM,data:abc,iv:def,tag:ghi,type:str]",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "risk-management-for-small-enterprises",
    "AKIA",
    "npm_config_cache",
    "eyJhbGciOiJIUzI1NiJ9",
    "hf_transfer",
    "task-sk-long-name-of-something",
]
NAMES = [
    "edge-1-tenantry-tenantry-objects-0e38124e",
    "a1-b2-c3-d4-e5-f6-g7-h8-i9",
    "namespace-of-a-tenant-with-a-very-long-name-in-production",
    "./Deployments/Team1/overlays-production/kustomization.yaml",
    "toolkit.fluxcd.io/tenant",
    "HelmRepositoryHelmReleaseKustomization",
    "kustomize.toolkit.fluxcd.io/v1beta3",
    "s" * 63,
    "0" * 40,
]


@table("kind", SECRETS)
def test_a_known_form_is_a_secret_for_certain_also_within_other_text(kind: str) -> None:
    secret = SECRETS[kind]
    for text in (secret, f"token: {secret}", f"\t{secret}\n"):
        assert kind_of(text) is not None


@table("text", NONE)
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert kind_of(text) is None


@table("shift", [0, 1, 2])
def test_a_private_key_in_base64_is_found_however_its_bytes_fall(shift: int) -> None:
    text = f"-----BEGIN {'X' * shift}{' ' if shift else ''}PRIVATE KEY-----\nMIIEvQIBADANBg"
    assert kind_of(base64.b64encode(text.encode()).decode()) == "a private key"


@table("secret", [*SECRETS.values(), *RANDOM.values()])
def test_a_message_holds_no_part_of_a_secret(secret: str) -> None:
    for text in (f"name '{secret}' is not allowed", f"app '{shorten(secret)}'", presentable(f"x {secret}")):
        shown = redacted(text)
        assert "(a secret?)" in shown
        assert not [part for part in parts(secret) if part in shown]


@table(
    "text",
    [
        "Applied revision: main@sha1:6f2b9c1d04e7a83b5c6d7e8f9a0b1c2d3e4f5a6b",
        "stored artifact for digest sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        'failed to get secret: secrets "login" not found',
        "ssh://git@git.example.com/rocky: handshake failed: basic authentication is required",
    ],
)
def test_messages_of_flux_are_shown_whole(text: str) -> None:
    assert without_credentials(text) == text


def test_credentials_in_messages_of_flux_are_left_out() -> None:
    shown = without_credentials(
        "clone https://ci:hunter2@x/y?token=abc123: password: hunter2, api_key=hunter2; Basic aHVudGVyMg=="
    )
    assert shown == (
        "clone https://(a secret?)@x/y?token=(a secret?) password: (a secret?), api_key=(a secret?); (a secret?)"
    )


def test_a_secret_within_a_long_word_is_hidden_with_all_of_it() -> None:
    assert "x (a secret?) y" == redacted(f"x {'customize' * 30}{RANDOM['password']}{'customize' * 30} y")


@table("name", NAMES)
def test_names_and_paths_are_shown_whole(name: str) -> None:
    assert name == redacted(name)


@table(
    ("key", "expected"),
    [
        ("password", True),
        ("secretRef", True),
        ("credentials", True),
        ("apiKey", True),
        ("name", False),
        ("path", False),
    ],
)
def test_keys_that_people_put_secrets_under(key: str, expected: bool) -> None:  # noqa: FBT001  # a column of the table
    assert expected == is_sensitive(key)
