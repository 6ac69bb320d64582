"""Rules about the form of single values: addresses, versions, and Go templates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tenantry.fleet import walk
from tenantry.fleet.blocks import chart_entries
from tenantry.fleet.fleet import Fleet
from tenantry.flux.addresses import address_problems
from tenantry.flux.revisions import revision_problems
from tenantry.messages.data import mapping_at, texts_in, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.placeholders import is_unfilled
from tenantry.messages.problems import doubtful
from tenantry.messages.redact import shorten
from tenantry.model import HelmPatch


def addresses_are_read_alike_by_all_programs(fleet: Fleet) -> Iterator[Problem]:
    for kind, at in _with_addresses(fleet):
        spec = fleet.valid(*at)
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


def revisions_can_exist(fleet: Fleet) -> Iterator[Problem]:
    """As written, in overrides too; the plan looks again at what placeholders give."""
    for kind, at, spec in _with_revisions(fleet):
        for finding in revision_problems(kind, spec, at):
            if not is_unfilled(value_at(fleet.source.data, finding.path)):
                yield finding


def _with_revisions(fleet: Fleet) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """What says a revision, as the kind of Flux that has it, its path and what is written there."""
    for path, model, block in fleet.blocks:
        yield "HelmChart" if model is HelmPatch else model.flux_kind, path, block
    for path, chart in chart_entries(fleet.source.data):
        yield "GitRepository", (*path, "git"), mapping_at(chart, "git")
        yield "HelmChart", (*path, "helm"), mapping_at(chart, "helm")


_GO_KEYWORD = re.compile(r"(?<!\{)\{\{(break|continue|else|end)\}\}(?!\})")
"""A word of Go's templates, written as the escape of a placeholder is."""


def keywords_of_go_templates_keep_their_braces(fleet: Fleet) -> Iterator[Problem]:
    for group in ("platform", "tenants"):
        for path, text in texts_in(fleet.raw(group), (group,)):
            if "{{" in text and (keyword := _GO_KEYWORD.search(text)):
                message = f"'{keyword[0]}' of a Go template becomes '{{{keyword[1]}}}' here"
                yield doubtful(path, "go-template", message, fix=f"write '{{{{ {keyword[1]} }}}}'")


_PASSWORD = re.compile(
    r"(?i)(?:passw(?:or)?d|passphrase|api[-_]?key|private[-_]?key|client[-_]?secret|secret[-_]?access[-_]?key|token)$"
)
"""Keys whose values are secrets themselves, by their last word."""
_REFERENCE = re.compile(r"[$<{]|ENC\[|(?:ref\+|vault:|op:|/|\.)|(?:true|false|enabled|disabled)$", re.IGNORECASE)
"""How a value begins that is filled in later, encrypted, a file, or a switch."""


def values_hold_no_passwords(fleet: Fleet) -> Iterator[Problem]:
    """Those that people write while they try a chart. What is certainly a secret is refused (`leaks`)."""
    for at, _, _, _ in walk.apps(fleet):
        for path, block in walk.blocks(fleet, at):
            for below in (("values",), ("postBuild", "substitute")):
                yield from _passwords(mapping_at(block, *below), (*path, *below))


def _passwords(data: Any, at: Path) -> Iterator[Problem]:
    """A finding for each literal under a key such as `password`; none repeats the value."""
    taken_from = "substituteFrom" if "substitute" in at else "valuesFrom"
    if isinstance(data, list):
        for index, entry in enumerate(data):
            yield from _passwords(entry, (*at, index))
    elif isinstance(data, dict):
        name = data.get("name")
        for key, value in data.items():
            named = name if key == "value" and isinstance(name, str) else key
            if _PASSWORD.search(named) and isinstance(value, str) and value and not _REFERENCE.match(value):
                yield doubtful(
                    (*at, key),
                    "literal-secret",
                    f"a value stands under '{shorten(named)}', and anyone who reads the file or the plan can see it",
                    fix=f"remove it, declare 'credentials:', and name them in '{taken_from}:'",
                )
            else:
                yield from _passwords(value, (*at, key))
