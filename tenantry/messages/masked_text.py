"""Finds secrets by their keys in texts that hold settings: patches, configuration files, commands, addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import yaml

from tenantry.messages.redact import redacted
from tenantry.messages.secret_keys import holds_secret

_HINT = re.compile(
    r"(?i)pass|pwd|secret|token|credential|bearer|key|auth|dsn|connection|webhook|hmac|jwt|otp|pin|salt|psk|id_|sig|code|docker"
)
"""Every key of a secret contains one of these. Most texts contain none, and one look is quick."""
_KEY = re.compile(r"(?P<before>[?&]|(?<![\w.]))(?P<key>[A-Za-z_.][\w.-]{0,80})[\"']?[ \t]{0,8}(?P<sign>[:=])[ \t]{0,8}")
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
_NAMED = re.compile(r"(?:name|key|path)[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?([^\s\"',}]{1,200})")
"""What names a value that stands beside it: `{name: PASSWORD, value: ...}`."""
_MARK = re.compile("\ue000([0-9]{1,9})\ue001")
"""Stands for a secret while others are searched."""


def masked_text(text: str, within: Callable[[Any], Iterable[str]], hide: Callable[[str], str]) -> str:
    """The text without its secrets. Args: within: the secrets in plain data; hide: what to write for a secret."""
    found: list[str] = []

    def original(mark: re.Match[str]) -> str:
        number = int(mark[1])
        return found[number] if number < len(found) else ""

    def marked(secret: str) -> str:
        if not _MARK.fullmatch(secret):
            found.append(_MARK.sub(original, secret))
            return f"\ue000{len(found) - 1}\ue001"
        return secret

    if _HINT.search(text):
        spans = _outermost(text)
        elsewhere = _elsewhere(text, within) - {"", *(text[start:end] for start, end in spans)}
        if len(elsewhere) > _MOST_SEARCHED:
            return hide(text)
        text = _replaced(text, spans, marked)
        for secret in sorted(elsewhere, key=lambda each: (-len(each), each)):
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
    keys = sorted((*_KEY.finditer(text), *_FLAG.finditer(text)), key=lambda each: each.end())
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
        unread = any(holds_secret(match[1].rpartition("/")[2]) for match in _NAMED.finditer(text))
        return {text} if unread else set()
    return {line.strip() for data in documents for value in within(data) for line in value.splitlines()}


def _documents(text: str) -> list[Any] | None:
    """The text as YAML or JSON; empty if it is a single value, None if it cannot be read. Anchors could make it endless."""
    if not ("\n" in text or text.lstrip()[:1] in ("{", "[")):
        return []
    if len(text) > _MOST_PARSED:
        return None
    try:
        if any(isinstance(each, yaml.AliasToken) for each in yaml.scan(text)):
            return None
        return [each for each in yaml.safe_load_all(text) if isinstance(each, dict | list)]
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
