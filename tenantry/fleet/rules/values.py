"""Rules about the form of single values: addresses, versions, and Go templates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from tenantry.fleet import walk
from tenantry.fleet.apps import app_layers
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import origin
from tenantry.fleet.placement import placements_of
from tenantry.fleet.settings import variables_of_app
from tenantry.fleet.template import fill
from tenantry.flux.addresses import address_problems
from tenantry.messages.data import value_at
from tenantry.messages.errors import Found, Path, Problem
from tenantry.messages.placeholders import is_unfilled, names_in
from tenantry.messages.problems import doubtful, shown


def addresses_are_read_alike_by_all_programs(fleet: Fleet) -> Iterator[Problem]:
    for kind, at in _with_addresses(fleet):
        spec = fleet.said(*at)
        if is_unfilled(spec.get("type")):
            continue
        for finding in address_problems(kind, spec, at):
            if not is_unfilled(value_at(fleet.source.data, finding.path)):
                yield finding


def _with_addresses(fleet: Fleet) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What has addresses, as Flux's kind and the path of what becomes its spec."""
    for at, source in walk.sources(fleet):
        yield source.block.flux_kind, (*at, source.kind)
    for at, _ in walk.alerts(fleet):
        yield "Provider", (*at, "provider")
    for at, _ in walk.receivers(fleet):
        yield "Receiver", at


_PART = r"(?:[0-9]+|[xX*])"
_TAIL = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION = rf"v?{_PART}(?:\.{_PART}){{0,2}}(?:-{_TAIL})?(?:\+{_TAIL})?"
_BOUND = rf"(?:=>|>=|=<|<=|~>|!=|[=<>~^])?\s*{_VERSION}"
_RANGE = re.compile(rf"\s*(?:{_VERSION}\s+-\s+{_VERSION}|{_BOUND}(?:(?:\s+|\s*,\s*){_BOUND})*)\s*")
"""One alternative of a range. Source: github.com/Masterminds/semver v3, which Helm and Flux use, constraints.go."""


def versions_are_versions_or_ranges(fleet: Fleet) -> Iterator[Problem]:
    for path, texts in _versions(fleet):
        for text in sorted(texts):
            if not all(map(_RANGE.fullmatch, text.split("||"))):
                message = f"{shown(text)} is not a version or a range of versions"
                yield doubtful(
                    path, "no-version", message, fix="write a version such as '1.2.3', or a range such as '1.x' or '*'"
                )


def _versions(fleet: Fleet) -> Iterator[tuple[Path, set[str]]]:
    """Every place of a version or a range, with what stands there once placeholders are filled in."""
    if chart := fleet.document.platform.chart:
        if chart.helm:
            yield ("platform", "chart", "helm", "version"), _without_placeholders(chart.helm.version)
        if chart.git and chart.git.ref.semver:
            yield ("platform", "chart", "git", "ref", "semver"), _without_placeholders(chart.git.ref.semver)
    for at, _, _, app in walk.apps(fleet):
        for path, block in walk.blocks(fleet, at):
            for key in ("version", "updates") if path[-1] == "helm" else ():
                if isinstance(text := block.get(key), str):
                    yield (*path, key), _filled(fleet, at, (*path, key), text)
        for name, image in (app.imageAutomation.images if app.imageAutomation else {}).items():
            if semver := image.policy.policy.semver:
                place = (*at, "imageAutomation", "images", name, "policy", "policy", "semver", "range")
                yield place, _without_placeholders(semver.range)
    for at, source in walk.sources(fleet):
        taken = source.git or source.oci
        if taken and taken.ref.semver:
            yield (*at, source.kind, "ref", "semver"), _without_placeholders(taken.ref.semver)
        if taken and taken.updates:
            yield (*at, source.kind, "updates"), _without_placeholders(taken.updates)


def _without_placeholders(text: str) -> set[str]:
    return set() if "{" in text else {text}


def _filled(fleet: Fleet, at: tuple[str, ...], path: Path, text: str) -> set[str]:
    """What the text at a path of a `helm:` block becomes on the clusters where it stands."""
    if not any(names_in(text)):
        return {text}
    found = set()
    for environment, cluster in placements_of(fleet, at):
        if origin(app_layers(fleet, at, environment, cluster), ("helm", path[-1])) == path:
            with suppress(Found):  # planning refuses what cannot be filled in
                found.add(str(fill(text, variables_of_app(fleet, at, environment, cluster), path)))
    return found


_WORDS = "block|default|define|else|end|if|include|index|printf|quote|range|required|template|toYaml|tpl|with"
_GO_TEMPLATE = re.compile(rf"(?<!\{{)\{{\{{-?\s*(?:[.$]|/\*|(?:{_WORDS})\b)")
"""Exactly two braces, and behind them what Go's templates begin with. Plain text in doubled braces can be meant as it is."""
_UNTOUCHED = "messageTemplate"
"""The one value that is a Go template of Flux's own; no placeholders are filled in there."""


def values_hold_no_go_templates(fleet: Fleet) -> Iterator[Problem]:
    for group in ("platform", "tenants"):
        for path, text in _texts(fleet.raw(group), (group,)):
            if _GO_TEMPLATE.search(text) and path[-1] != _UNTOUCHED:
                yield doubtful(
                    path,
                    "go-template",
                    "this looks like a Go template, but '{{' and '}}' stand for single braces here",
                    fix="double the braces of a template, as in '{{{{ .Release.Name }}}}'",
                )


def _texts(data: Any, at: Path) -> Iterator[tuple[Path, str]]:
    """All strings that hold doubled braces, with their paths."""
    if isinstance(data, str):
        if "{{" in data:
            yield at, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _texts(value, (*at, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _texts(value, (*at, index))
