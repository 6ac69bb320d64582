"""Secrets in plain data: what is hidden, what is shown, and that changed data always looks changed."""

from __future__ import annotations

from typing import Any

from tenantry.messages.data import ABSENT
from tenantry.messages.masking import HIDDEN_CHANGED, HIDDEN_VALUE, masked, masked_pair
from tests.hostile.secrets import RANDOM, SECRETS, parts
from tests.table import table

H, C = HIDDEN_VALUE, HIDDEN_CHANGED
PASSWORD = "correct horse"

HIDDEN_KEYS = [
    *("password", "Password", "DB_PASSWORD", "adminPassword", "spring.datasource.password", "passwd", "db-pwd", "pass"),
    *("passphrase", "token", "API_TOKEN", "secret", "clientSecret", "client_secret", "apiKey", "api-key", "api_key"),
    *(
        "secretKey",
        "secretAccessKey",
        "accessKey",
        "privateKey",
        "signing-key",
        "tls.key",
        "authorization",
        "dsn",
        "pin",
    ),
    *(
        "connectionString",
        "slackWebhookUrl",
        "jwt",
        "bearerToken",
        "credential",
        "htpasswd",
        ".dockerconfigjson",
        "salt",
    ),
]
SHOWN_KEYS = [
    *("image", "tag", "version", "replicas", "username", "host", "secretName", "existingSecret", "passwordKey"),
    *("passwordSecretRef", "secretKeyRef", "tokenTTL", "tokenExpirySeconds", "maxTokens", "imagePullSecrets", "author"),
    *("automountServiceAccountToken", "count/secrets", "secrets", "tokenUrl", "secretStore", "keyboard", "passthrough"),
    *("credentialsName", "publicKeyPath", "spinner", "topology", "compass", "bypass-port", "monkey", "hotkeys"),
]


@table("key", HIDDEN_KEYS)
def test_the_value_of_such_a_key_is_hidden_in_every_form(key: str) -> None:
    env = [{"name": key, "value": PASSWORD}]
    patch = [{"op": "replace", "path": f"/data/{key}", "value": PASSWORD}]
    for data in ({key: PASSWORD}, {"a": [{key: PASSWORD}]}, {key: [PASSWORD]}, {"env": env}, {"patch": patch}):
        assert PASSWORD not in repr(masked(data))
    for text in (
        f"{key}: {PASSWORD}",
        f"a: 1\n{key}: '{PASSWORD}'\n",
        f'{{"a": 1, "{key}": "{PASSWORD}"}}',
        f"{key}: |\n  {PASSWORD}\n",
        f"env:\n- name: {key}\n  value: {PASSWORD}\n",
        f"- op: add\n  path: /a/{key}\n  value: {PASSWORD}\n",
        f"{{{{ if .x }}}}\n- name: {key}\n  value: {PASSWORD}\n",
        f"a: &a 1\nb: *a\nenv: [{{name: {key}, value: {PASSWORD}}}]\n",
    ):
        assert PASSWORD not in masked(text), text
    assert masked({key: 123456}) == {key: H}
    assert masked({key: True, "x": {key: None}, "y": {key: ""}}) == {key: True, "x": {key: None}, "y": {key: ""}}


@table("key", SHOWN_KEYS)
def test_the_value_of_another_key_is_shown(key: str) -> None:
    for data in ({key: PASSWORD}, {"env": [{"name": key, "value": PASSWORD}]}):
        assert masked(data) == data


@table(
    "data",
    [
        {"volumes": [{"name": "tls", "secret": {"secretName": "tls", "defaultMode": 420, "optional": True}}]},
        {"valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
        {"valuesFrom": [{"kind": "Secret", "name": "db-password", "valuesKey": "values", "targetPath": "db.password"}]},
        {"spec": {"secretRef": {"name": "git"}, "kubeConfig": {"secretRef": {"name": "edge-1", "key": "value"}}}},
        {"external-secrets": {"image": {"tag": "v1"}, "replicaCount": 2, "webhook": {"port": 9443}}},
        {"projected": [{"serviceAccountToken": {"path": "token", "audience": "sts", "expirationSeconds": 3600}}]},
        {"hard": {"secrets": "10", "count/secrets": 5}},
        {"rules": [{"resources": ["secrets"], "verbs": ["get"], "resourceNames": ["token"]}]},
        {
            "image": f"r.example.com/web@sha256:{'0123456789abcdef' * 4}",
            "commit": "0123456789abcdef0123456789abcdef01234567",
        },
        {"args": ["--password-file", "/run/secrets/password", "--token-ttl", "5m"]},
        {"kind": "ConfigMap", "data": {"LEVEL": "debug"}},
        "https://git.example.com/rocky?ref=main",
        "$(DB_PASSWORD)",
    ],
)
def test_names_places_and_numbers_are_shown(data: Any) -> None:
    assert masked(data) == data


@table(
    ("data", "expected"),
    [
        ({"kind": "Secret", "data": {"name": "eA=="}}, {"kind": "Secret", "data": {"name": H}}),
        ({"kind": "Secret", "stringData": {"a": {"b": 1}}}, {"kind": "Secret", "stringData": {"a": {"b": H}}}),
        ({"credentials": {"prod": {"user": "a", "x": ["b"]}}}, {"credentials": {"prod": {"user": H, "x": [H]}}}),
        ({"secrets": {"db": {"value": "b"}, "n": 7}}, {"secrets": {"db": {"value": H}, "n": H}}),
        (["--password", "b", "--token=c", "-x"], ["--password", H, f"--token={H}", "-x"]),
        ("mysql -u root --password b5 --host c", f"mysql -u root --password {H} --host c"),
        ("postgres://app:hunter2@db/x", f"postgres://{H}@db/x"),
        ("https://x.example.com/?a=b&sig=c%2Fd&e=f", f"https://x.example.com/?a=b&sig={H}&e=f"),
        ("user=a\npassword=b\n", f"user=a\npassword={H}\n"),
        ("Server=a;Password=b;Database=c", f"Server=a;Password={H}"),
        ("ok", "ok"),
    ],
)
def test_what_is_hidden_leaves_the_rest(data: Any, expected: Any) -> None:
    assert masked(data) == expected


@table(
    ("before", "after", "expected"),
    [
        ({"password": "a"}, {"password": "b"}, ({"password": H}, {"password": C})),
        ({"password": "a", "x": 1}, {"password": "a", "x": 2}, ({"password": H, "x": 1}, {"password": H, "x": 2})),
        (ABSENT, {"password": "a"}, (ABSENT, {"password": H})),
        ({"password": "a"}, ABSENT, ({"password": H}, ABSENT)),
        ({}, {"password": "a"}, ({}, {"password": H})),
        (["--password", "a"], ["--password", "b"], (["--password", H], ["--password", C])),
        ("password: aa\nx: 1\n", "password: bb\nx: 1\n", (f"password: {H}\nx: 1\n", f"password: {C}\nx: 1\n")),
        ("a://u:p1@h", "a://u:p2@h", (f"a://{H}@h", f"a://{C}@h")),
        ({"password": 1}, {"password": "1"}, ({"password": H}, {"password": C})),
        ("password=aa\ntoken=bb", "password=bb\ntoken=aa", (f"password={H}\ntoken={H}", C)),
        ({"kind": "Secret", "data": {"a": "x"}}, {"kind": "Secret", "data": {"a": "y"}},
         ({"kind": "Secret", "data": {"a": H}}, {"kind": "Secret", "data": {"a": C}})),
    ],
)  # fmt: skip
def test_a_changed_secret_is_told_from_the_same_one(before: Any, after: Any, expected: tuple[Any, Any]) -> None:
    assert masked_pair(before, after) == expected


@table("secret", [*SECRETS.values(), *RANDOM.values()])
def test_a_secret_is_known_by_its_form_under_any_key(secret: str) -> None:
    for data in ({"a": secret}, {"a": [f"x {secret} y"]}, {"config.yaml": f"a:\n  b: {secret!r}\n"}):
        shown = repr(masked(data))
        assert not [part for part in parts(secret) if part in shown], shown
