"""Reads a command line that no command understands: which words are apps, tenants and environments, and what to type instead."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import click

from tenantry.cli.completers import fleet_data
from tenantry.kube.names import PLATFORM
from tenantry.messages.data import mapping_at
from tenantry.messages.text import printable

_WITH_VALUE = {
    "-n": "tenant", "--namespace": "tenant", "--tenant": "tenant", "-t": "tenant", "-target": "tenant",
    "-e": "env", "--env": "env", "--environment": "env", "--environments": "env",
    "-c": "cluster", "--cluster": "cluster", "--version": "version", "--chart": "chart", "--repo": "repo",
    "--file": "file", "-l": "labels", "-o": "output", "--output": "output", "--from": "from", "--to": "to",
    "--kubeconfig": "kubeconfig", "--context": "context", "--since": "since", "--tail": "tail",
}  # fmt: skip
"""Options that take a value, in any of the programs, and what it is."""
_KINDS = frozenset(
    {
        *("app", "apps", "application", "applications", "ks", "kustomization", "kustomizations", "hr", "release"),
        *("helmrelease", "helmreleases", "deploy", "deployment", "deployments", "workload"),
    }
)
"""Words that other programs want before the name of an app."""


_NAME = re.compile("[a-z0-9][a-z0-9-]*")


class Typed:
    """The words and options after `tenantry`, and what they name in the file; nothing is known if it cannot be read."""

    def __init__(self, context: click.Context, words: Iterable[str]) -> None:
        self._context = context
        self.words: list[str] = []
        self.options: dict[str, str] = {}
        self._read(list(words))

    def _read(self, given: list[str]) -> None:
        while given:
            word, *given = given
            name, equals, value = word.partition("=")
            if not word.startswith("-") or word in ("-", "--"):
                self.words.append(word)
            elif name == "-f" and given and given[0].endswith((".yaml", ".yml")):
                given = given[1:]
            elif name in _WITH_VALUE:
                if not equals and given:
                    value, *given = given
                self.options[name] = value
            else:
                self.options[name] = value

    @cached_property
    def _data(self) -> Mapping[str, Any]:
        return fleet_data(self._context)

    def _value(self, what: str) -> str:
        return next((value for name, value in self.options.items() if _WITH_VALUE.get(name) == what and value), "")

    def is_tenant(self, word: str) -> bool:
        return word in mapping_at(self._data, "tenants")

    def is_environment(self, word: str) -> bool:
        return word in mapping_at(self._data, "environments")

    def app(self, word: str) -> str:
        """`rocky/web` of `rocky/web`, of `web` and of `app/web`; "" if the word names no app."""
        owner, slash, name = word.partition("/")
        if slash and owner in _KINDS:
            return self.app(name) or f"{self._value('tenant') or 'TENANT'}/{name}"
        if slash:
            return word if _NAME.fullmatch(owner) and _NAME.fullmatch(name) else ""
        owners = self._owners(word)
        if (named := self._value("tenant")) and (not owners or self.is_tenant(named)):
            is_name = owners or not (word in _KINDS or word == self.words[0] or self.is_tenant(word))
            return f"{named}/{word}" if is_name else ""
        return f"{owners[0] if len(owners) == 1 else 'TENANT'}/{word}" if owners else ""

    def _owners(self, app: str) -> list[str]:
        tenants = mapping_at(self._data, "tenants")
        found = [str(tenant) for tenant in tenants if app in mapping_at(tenants, tenant, "apps")]
        return [*found, PLATFORM] if app in mapping_at(self._data, PLATFORM, "addons") else found

    def fits(self, pattern: str) -> bool:
        """Whether a pattern of `habits` fits the words and options."""
        tokens = pattern.split()
        wanted = [token for token in tokens if token.startswith("-")]
        has_options = all(any(name in self.options for name in token.split("|")) for token in wanted)
        return has_options and self._fits([token for token in tokens if not token.startswith("-")], self.words)

    def _fits(self, tokens: Sequence[str], words: Sequence[str]) -> bool:
        if not tokens or tokens[0] == "...":
            return bool(tokens) or not words
        token, *rest = tokens
        if token.endswith("?") and self._fits(rest, words):
            return True
        return bool(words) and self._is(token.removesuffix("?"), words[0]) and self._fits(rest, words[1:])

    def _is(self, token: str, word: str) -> bool:
        match token:
            case "*":
                return True
            case "KIND":
                return word in _KINDS and not self.is_tenant(word)
            case "APP":
                return bool(self.app(word)) and not self.is_tenant(word)
            case "BARE":
                return not self.is_tenant(word.partition("/")[0]) and self.app(word) not in ("", word)
            case "DECLARED":
                owner, _, name = word.partition("/")
                return name != "" and owner in self._owners(name)
            case "A/B":
                return "/" in word and bool(self.app(word))
            case "TENANT":
                return self.is_tenant(word) and not self.is_environment(word)
            case "ENVIRONMENT":
                return self.is_environment(word) and not self.is_tenant(word)
            case "KEY=VALUE":
                return "=" in word.strip("=")
        starts = tuple(each.removesuffix("*") for each in token.split("|") if each.endswith("=*"))
        return word in token.split("|") or bool(starts and word.startswith(starts))

    def filled(self, line: str) -> str:
        """A line to type with the words that were typed; what is not known stays as WORDS in capitals."""
        apps = [self.app(word) for word in self.words[1:] or self.words if self._is("APP", word)]
        tenants = [word for word in self.words if self.is_tenant(word)]
        app = next(iter(apps), "TENANT/APP")
        owner, _, name = app.partition("/")
        environment = self._environment()
        pairs = [word.partition("=") for word in self.words if "=" in word.strip("=")]
        key, _, value = pairs[-1] if pairs else ("", "", "")
        if not pairs and len(self.words) > 3:
            key, value = self.words[-2:]
        where = f"-e {environment}" + (f" -c {self._value('cluster')}" if self._value("cluster") else "")
        known = {
            "app": app,
            "apps": " or ".join(f"{each}/{name}" for each in self._owners(name)) or app,
            "name": name,
            "tenant": self._value("tenant") or next(iter(tenants), owner),
            "env": environment,
            "where": where,
            "key": key,
            "path": f"{'platform.addons' if owner == PLATFORM else f'tenants.{owner}.apps'}.{name}",
            "value": value or "VALUE",
            "last": self.words[-1].rpartition("/")[2],
            "version": self._value("version") or "VERSION",
            "chart": self._value("chart") or "CHART",
            "repo": self._value("repo") or "URL",
            "cluster": self._value("cluster") or "CLUSTER",
        }
        quoted = {name: " ".join(map(shlex.quote, text.split(" "))) for name, text in known.items()}
        words = [shlex.quote(word) for word in self.words]
        return printable(line.format(*words, *("NAME",) * 6, **quoted))

    def _environment(self) -> str:
        declared = list(mapping_at(self._data, "environments"))
        typed = self._value("env") or next((word for word in self.words if self.is_environment(word)), "")
        only = str(declared[0]) if len(declared) == 1 else ""
        return typed or os.environ.get("TENANTRY_ENVIRONMENT", "") or only or "ENVIRONMENT"


def answer(typed: Typed, habits: Mapping[str, Sequence[str]]) -> str:
    """What the first habit that fits says: a sentence if it has one, `Type:`, and the lines; "" if none fits."""
    found = next((lines for pattern, lines in habits.items() if typed.fits(pattern)), ())
    if not found:
        return ""
    sentences = [typed.filled(each) for each in found if each.endswith(".")]
    lines = [typed.filled(each) for each in found if not each.endswith(".")]
    return " ".join([*sentences, *(["Type: " + "\n".join(lines)] if lines else [])])
