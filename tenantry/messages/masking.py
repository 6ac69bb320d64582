"""Hides secrets in plain data, such as Helm values, before any format shows the data.

Called by: `facts.fields.changed_fields`, so every changed field is masked already; code that shows whole manifests.
Never: is sure. A value is hidden if its key or its form says that it may be a secret: keys, and texts that hold settings (patches,
configuration files, commands), by the patterns here; words by those of `redact`.

What is shown instead tells changed secrets apart: "(hidden)" before, "(hidden, changed)" after. The data of Secrets is always
hidden. Keys are never hidden, nor are true, false and null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from functools import lru_cache
from typing import Any

import yaml

from tenantry.messages.data import ABSENT
from tenantry.messages.redact import redacted

HIDDEN_VALUE = "(hidden)"
HIDDEN_CHANGED = "(hidden, changed)"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Secrecy(IntEnum):
    """How much of some data is secret, as its surroundings show. VALUES: all but structure, such as names; ALL: all of it."""

    UNKNOWN = 0
    VALUES = 1
    ALL = 2


def masked(data: Any) -> Any:
    """A copy of plain data with every secret replaced by "(hidden)"."""
    return _Mask().of(data, Secrecy.UNKNOWN)


def masked_pair(before: Any, after: Any, secrecy: Secrecy = Secrecy.UNKNOWN) -> tuple[Any, Any]:
    """Copies of two states of the same data, or ABSENT for one of them.

    A secret of `after` that `before` does not have in the same place becomes "(hidden, changed)". The copies of different
    data are always different.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        return _masked_mappings(before, after, secrecy)
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = [
            masked_pair(old, new, max(secrecy_below(before, index, secrecy), secrecy_below(after, index, secrecy)))
            for index, (old, new) in enumerate(zip(before, after, strict=True))
        ]
        return [old for old, _ in pairs], [new for _, new in pairs]
    first = _Mask()
    shown_before = first.of(before, secrecy)
    second = _Mask(None if before is ABSENT else first.hidden)
    shown_after = second.of(after, secrecy)
    looks_alike = second.hidden and shown_before == shown_after and before != after
    return shown_before, HIDDEN_CHANGED if looks_alike else shown_after


def secrecy_below(parent: Any, key: str | int, secrecy: Secrecy = Secrecy.UNKNOWN) -> Secrecy:
    """The secrecy of what is at a key of a mapping or at an index of a list. Args: secrecy: of the mapping or list itself."""
    if isinstance(parent, dict):
        return _secrecy_at(parent, str(key), secrecy)
    follows = isinstance(parent, list) and isinstance(key, int) and _follows_flag(parent, key)
    return Secrecy.ALL if follows else secrecy


def _masked_mappings(before: dict[str, Any], after: dict[str, Any], secrecy: Secrecy) -> tuple[Any, Any]:
    old_shown: dict[str, Any] = {}
    new_shown: dict[str, Any] = {}
    for key in dict.fromkeys((*before, *after)):
        below = max(_secrecy_at(side, key, secrecy) for side in (before, after) if key in side)
        old, new = masked_pair(before.get(key, ABSENT), after.get(key, ABSENT), below)
        old_shown |= {key: old} if key in before else {}
        new_shown |= {key: new} if key in after else {}
    return old_shown, {key: new_shown[key] for key in after}


class _Mask:
    """known: the secrets of the state before; None: there is no such state. hidden: those that were hidden."""

    def __init__(self, known: set[str] | None = None) -> None:
        self.known = known
        self.hidden: set[str] = set()

    def of(self, data: Any, secrecy: Secrecy) -> Any:
        match data:
            case dict():
                return {key: self.of(value, _secrecy_at(data, key, secrecy)) for key, value in data.items()}
            case list():
                return [self.of(value, secrecy_below(data, index, secrecy)) for index, value in enumerate(data)]
            case bool() | None | "":
                return data
            case str() | int() | float() if secrecy:
                return self._hide(str(data))
            case str():
                return _masked_text(data, self._hide)
            case _:
                return data

    def _hide(self, secret: str) -> str:
        self.hidden.add(secret)
        return HIDDEN_VALUE if self.known is None or secret in self.known else HIDDEN_CHANGED


def _values_in(data: Any) -> Iterator[str]:
    """The secrets of data that was written as a text, such as a patch."""
    mask = _Mask()
    mask.of(data, Secrecy.UNKNOWN)
    return iter(mask.hidden)


def _secrecy_at(parent: Mapping[str, Any], key: str, secrecy: Secrecy) -> Secrecy:
    # The annotation repeats the whole object, also if that is a Secret.
    is_data = key == _LAST_APPLIED or (key in ("data", "stringData") and parent.get("kind") == "Secret")
    if secrecy is Secrecy.ALL or is_data:
        return Secrecy.ALL
    if secrecy:
        return Secrecy.UNKNOWN if is_structure(key) else Secrecy.VALUES
    return Secrecy.VALUES if _is_secret(parent, key) else Secrecy.UNKNOWN


def _is_secret(parent: Mapping[str, Any], key: str) -> bool:
    if key == "value":
        names = (parent.get(name) for name in ("name", "key", "path"))
        # The last part, if it is a path as in a JSON patch.
        return any(holds_secret(name.rpartition("/")[2]) for name in names if isinstance(name, str))
    return holds_secrets_below(key) if isinstance(parent.get(key), dict | list) else holds_secret(key)


_ARGUMENT = re.compile(r"--?[\w.-]+")


def _follows_flag(entries: list[Any], index: int) -> bool:
    """Whether an argument of a command belongs to the one before it, as in `--password x`."""
    flag = entries[index - 1] if 0 < index <= len(entries) else None
    return isinstance(flag, str) and bool(_ARGUMENT.fullmatch(flag)) and holds_secret(flag.lstrip("-"))


# --- which keys and which parts of texts are secrets ---------------------------------------------------------------

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


def _masked_text(text: str, hide: Callable[[str], str]) -> str:
    """The text without its secrets. Args: hide: what to write for a secret."""
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
        elsewhere = _elsewhere(text) - {"", *(text[start:end] for start, end in spans)}
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


def _elsewhere(text: str) -> set[str]:
    """Secrets that the structure of the text tells, each line of them; all of the text if it cannot be read, but may hold one."""
    documents = _documents(text)
    if documents is None:
        unread = any(holds_secret(match[1].rpartition("/")[2]) for match in _NAMED_IN_TEXT.finditer(text))
        return {text} if unread else set()
    return {line.strip() for data in documents for value in _values_in(data) for line in value.splitlines()}


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
