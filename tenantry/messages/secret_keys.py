"""Finds secrets in plain data by their keys, and in texts that hold settings: patches, configuration files, commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import yaml

from tenantry.messages.redact import redacted

_STRONG = re.compile(
    r"(?i)passw|passphrase|passwd|(?:^|[^a-z])pwd|htpasswd|dockerconfig|key[-_.]?data"
    r"|(?:api|access|account|auth|client|encryption|license|master|private|root|secret|shared|signing|ssh)[-_.]?keys?$"
    r"|connection[-_.]?string|webhook[-_.]?ur[il]$|(?:^|[-_.])(?:authorization|dsn|hmac|jwt|otp|pin|salt|pass|psk)$"
    r"|(?:^|[-_./])(?:id_rsa|id_ed25519|tls\.key|key\.pem)$"
)
_WEAK = re.compile(r"(?i)secret|token|credential|bearer|kubeconfig")
_NAMES_ONE = re.compile(
    r"(?i)(?:^|[-_.]|(?<=[a-z0-9]))"
    r"(?:names?|refs?|namespaces?|keys?|paths?|files?|mounts?|mountpath|enabled|policy|types?|kinds?|class|provider|issuer|audiences?"
    r"|ttl|seconds|minutes|hours|days|duration|interval|timeout|expiry|expiration|lifetime|length|size|count|limit|versions?"
    r"|format|algorithm|selector|labels|annotations|create|optional|store|operator|driver|endpoint|hosts?|ports?|ur[il]s?)$"
)
"""The last word of a key whose value describes a secret: a name, a place or a number."""
_NAMED = re.compile(r"(?i)existing[-_]?secrets?$|pull[-_]?secrets?$|automount|^(?:count/)?secrets$|^max[-_]?|^min[-_]?")
"""Keys whose values are the names of Secrets, how many there may be, or switches."""
_PRODUCTS = re.compile(r"(?i)(?:external|sealed)[-_]?secrets?|secrets?[-_]?(?:store|manager|operator|generator|csi)")
"""Programs that work with secrets. Their settings stand below their names."""
_STRUCTURE = frozenset(
    {
        *("apiVersion", "kind", "name", "namespace", "key", "keys", "path", "optional", "enabled", "create"),
        *("type", "mode", "defaultMode", "audience", "expirationSeconds", "image", "tag", "repository"),
        *("registry", "resources", "replicas", "replicaCount", "annotations", "labels", "provider", "items"),
        *("version", "port", "host"),
    }
)
"""Keys below a key of a secret whose values are not secret."""


@lru_cache(maxsize=1024)
def holds_secret(key: str) -> bool:
    """Whether the value of a key is a secret itself: `password`, `DB_TOKEN`; not `secretName` or `tokenTTL`."""
    if _PRODUCTS.search(key) or _NAMED.search(key):
        return False
    if _STRONG.search(key):
        return not _NAMES_ONE.search(key) or bool(_KEY.search(key))
    return bool(_WEAK.search(key)) and not _NAMES_ONE.search(key)


def holds_secrets_below(key: str) -> bool:
    """As `holds_secret`, for a key whose value is a mapping or a list: `secrets` is one then."""
    return holds_secret(key) or key.lower() == "secrets"


def is_structure(key: str) -> bool:
    """Whether the value of a key below a key of a secret is not secret, such as the `name` in `secretKeyRef: {name: ...}`."""
    return key in _STRUCTURE or (bool(_NAMES_ONE.search(key)) and not _STRONG.search(key))


_KEY = re.compile(
    r"(?i)(?:api|access|account|auth|client|encryption|license|master|private|root|secret|shared|signing|ssh)[-_.]?keys?$"
    r"|webhook[-_.]?ur[il]$|tls\.key$"
)
"""The names of cryptographic keys: `privateKey`, but not the `passwordKey` that names a key of a Secret."""
_HINT = re.compile(
    r"(?i)pass|pwd|secret|token|credential|bearer|key|auth|dsn|connection|webhook|hmac|jwt|otp|pin|salt|psk|id_|sig|code|docker"
)
"""Every key of a secret contains one of these. Most texts contain none, and one look is quick."""
_KEY_IN_TEXT = re.compile(
    r"(?P<before>[?&]|(?<![\w.]))(?P<key>[A-Za-z_.][\w.-]{0,80})[\"']?[ \t]{0,8}(?P<sign>[:=])[ \t]{0,8}"
)
_FLAG = re.compile(r"(?<![\w-])--?(?P<key>[A-Za-z][\w.-]{0,80})[ \t]{1,8}(?=[^\s-])")
_QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'([^'\n]*)'")
_LINE = re.compile(r"[^\n]*[^\s,;}\])\"'\\]")
_WORD = re.compile(r"[^\s\"'&]+")
_OF_ADDRESSES = ("sig", "code", "key", "signature")
"""Parameters of an address that are as good as a password there."""
_PLAIN = ("true", "false", "null", "~", "|", "|-", ">", ">-", "{", "[", "{}", "[]")
"""What begins a block, or is no secret by itself."""
_MOST_PARSED = 100_000
"""The most characters of a text that is read as YAML, which is slow."""
_MOST_SEARCHED = 100
"""The most secrets that are looked for in a text. One with more is hidden completely."""
_NAMED_IN_TEXT = re.compile(r"(?:name|key|path)[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?([^\s\"',}]{1,200})")
"""What names a value that stands beside it: `{name: PASSWORD, value: ...}`."""
_MARK = re.compile("\ue000([0-9]{1,9})\ue001")
"""Stands for a secret while others are searched."""


def masked_text(text: str, within: Callable[[Any], Iterable[str]], hide: Callable[[str], str]) -> str:
    """The text without its secrets. Args: within: the secrets in plain data; hide: what to write for a secret."""
    secrets: list[str] = []

    def original(mark: re.Match[str]) -> str:
        number = int(mark[1])
        return secrets[number] if number < len(secrets) else ""

    def marked(secret: str) -> str:
        if not _MARK.fullmatch(secret):
            secrets.append(_MARK.sub(original, secret))
            return f"\ue000{len(secrets) - 1}\ue001"
        return secret

    if _HINT.search(text):
        spans = _outermost(text)
        elsewhere = _elsewhere(text, within) - {"", *(text[start:end] for start, end in spans)}
        if len(elsewhere) > _MOST_SEARCHED:
            return hide(text)
        text = _replaced(text, spans, marked)
        for secret in sorted(elsewhere, key=lambda text_of_secret: (-len(text_of_secret), text_of_secret)):
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", lambda match: marked(match.group()), text)
    text = redacted(text, marked)
    return _MARK.sub(lambda match: hide(original(match)), text)


def _replaced(text: str, spans: Iterable[tuple[int, int]], hide: Callable[[str], str]) -> str:
    parts, end = [], 0
    for start, stop in spans:
        parts += [text[end:start], hide(text[start:stop])]
        end = stop
    return "".join([*parts, text[end:]])


def _outermost(text: str) -> list[tuple[int, int]]:
    """Where values of keys of secrets stand, in order. What stands within another value is part of that."""
    keys = sorted((*_KEY_IN_TEXT.finditer(text), *_FLAG.finditer(text)), key=lambda match: match.end())
    spans: list[tuple[int, int]] = []
    for match in keys:
        if spans and match.end() < spans[-1][1]:
            continue
        spans += _value(text, match)
    return spans


def _value(text: str, key: re.Match[str]) -> Iterator[tuple[int, int]]:
    parts = key.groupdict()
    in_address, is_flag = parts.get("before", "") != "", "sign" not in parts
    name = parts["key"]
    if not (holds_secret(name) or (in_address and name.lower() in _OF_ADDRESSES)):
        return
    quoted = _QUOTED.match(text, key.end())
    if quoted:
        yield quoted.span(1 if quoted[1] is not None else 2)
        return
    value = (_WORD if in_address or is_flag else _LINE).match(text, key.end())
    if value and value.group() not in _PLAIN:
        yield value.span()


def _elsewhere(text: str, within: Callable[[Any], Iterable[str]]) -> set[str]:
    """Secrets that the structure of the text tells, each line of them; all of the text if it cannot be read, but may hold one."""
    documents = _documents(text)
    if documents is None:
        unread = any(holds_secret(match[1].rpartition("/")[2]) for match in _NAMED_IN_TEXT.finditer(text))
        return {text} if unread else set()
    return {line.strip() for data in documents for value in within(data) for line in value.splitlines()}


def _documents(text: str) -> list[Any] | None:
    """The text as YAML or JSON; empty if it is a single value, None if it cannot be read. Anchors could make it endless."""
    if not ("\n" in text or text.lstrip()[:1] in ("{", "[")):
        return []
    if len(text) > _MOST_PARSED:
        return None
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            return None
        return [document for document in yaml.safe_load_all(text) if isinstance(document, dict | list)]
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
