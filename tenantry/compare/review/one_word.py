"""Settings that authors usually write as a single word: `network: open`, `podSecurity: restricted`."""

from __future__ import annotations

from typing import Any

from tenantry.compare.review.words import Path, Words

_NETWORK, _POD_SECURITY = "network", "podSecurity"
_DEFAULT = {"enforce": "baseline"}
_MODES = {"enforce", "audit", "warn"}


def in_one_word(old: Words, new: Words) -> None:
    """Replaces the keys of a mapping by a word, unless one side needs the mapping or the words would hide a difference."""
    for key, word_of in ((_NETWORK, _network), (_POD_SECURITY, _pod_security)):
        parts = [_below(key, each.settings) for each in (old, new)]
        words = [word_of(each) if each else "" for each in parts]
        if None in words or (words[0] == words[1] and parts[0] != parts[1]):
            continue
        for side, word in zip((old, new), words, strict=True):
            _replace(side.settings, key, word)


def _below(key: str, settings: dict[Path, Any]) -> dict[str, Any]:
    return {path[1]: value for path, value in settings.items() if path[0] == key and len(path) > 1}


def _replace(settings: dict[Path, Any], key: str, word: str | None) -> None:
    """The word takes the place of the first of the keys."""
    items = [((key,), word) if path[0] == key else (path, value) for path, value in settings.items()]
    settings.clear()
    settings.update(items)


def _network(own: dict[str, Any]) -> str | None:
    return own["base"] if own.keys() == {"base"} else None


def _pod_security(own: dict[str, Any]) -> str | None:
    one_level = own.keys() == _MODES and len(set(own.values())) == 1
    return own["enforce"] if one_level or own == _DEFAULT else None
