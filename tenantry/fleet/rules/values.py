"""Rules about the form of single values: addresses, versions, and Go templates."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from tenantry.fleet import walk
from tenantry.fleet.blocks import chart_entries
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.template import BUILT_IN
from tenantry.flux.addresses import address_problems
from tenantry.flux.revisions import revision_problems
from tenantry.messages.data import mapping_at, texts_in, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.placeholders import is_unfilled
from tenantry.messages.problems import doubtful
from tenantry.messages.redact import shorten
from tenantry.messages.text import format_path
from tenantry.model import HelmPatch


def addresses_are_read_alike_by_all_programs(fleet: Fleet) -> Iterator[Problem]:
    for kind, at in _with_addresses(fleet):
        spec = fleet.valid(*at)
        if is_unfilled(spec.get("type")):
            continue
        for finding in address_problems(kind, spec, at):
            text = value_at(fleet.source.data, finding.path)
            foreign = next(_foreign_variables(str(text)), None) if finding.code == "bad-url" else None
            if foreign:
                yield replace(finding, message=foreign.message, fix=foreign.fix(_variables(fleet)))
            elif not is_unfilled(text):
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
                    fix=_in_credentials((*at, key), named),
                )
            else:
                yield from _passwords(value, (*at, key))


def _in_credentials(at: Path, named: str) -> str:
    """The lines that take the place of a secret at a path below `values` or `substitute`. Args: named: what it is called."""
    group, owner, _, app = (*at[:2], "", at[3]) if at[0] == "tenants" else (at[0], "", "", at[2])
    name, key = f"{app}-login", named if _PLAIN_KEY.fullmatch(named) else "KEY"
    declare = f"remove it, and declare 'credentials: {{{name}: {{keys: [{key}]}}}}' under '{group}{'.' if owner else ''}{owner}:'"
    if "substitute" in at:
        return f"{declare}; beside 'substitute:' write 'substituteFrom: [{{kind: Secret, name: {name}}}]'"
    below = at[at.index("values") + 1 :]
    target = format_path(below) if all(isinstance(part, int) or "." not in part for part in below) else "PATH"
    if "[" in target:  # in a flow mapping, brackets need quotes
        target = f'"{target}"'
    entry = f"{{kind: Secret, name: {name}, valuesKey: {key}, targetPath: {target}}}"
    return f"{declare}; beside 'values:' write 'valuesFrom: [{entry}]'"


_PLAIN_KEY = re.compile(r"[A-Za-z0-9._-]{1,60}")


_OPENING = "\u201c\u201e\u00ab\u2018"
_ODD = re.compile(f"[{_OPENING}].*[\u201d\u201c\u00bb\u2019]|\u00a0.*|.*\u00a0|.*[\u200b\u2060\ufeff].*", re.DOTALL)
"""A text in typographic quotes, one that begins or ends with a space that YAML keeps, or one with characters of no width."""


def texts_hold_no_typographic_characters(fleet: Fleet) -> Iterator[Problem]:
    """Word processors and chats put them in; YAML takes them as a part of the text."""
    for path, text in texts_in(fleet.source.data):
        if not text.isascii() and _ODD.fullmatch(text):
            quotes = text[0] in _OPENING
            what = "in typographic quotes" if quotes else "with a space or a mark that cannot be seen"
            yield doubtful(
                path,
                "typographic",
                f"this is a text {what}; YAML takes them as a part of it",
                fix='write plain quotes: "TEXT"' if quotes else "type it again, with plain characters",
            )


_PATHS = ("path", "version", "chart", "targetNamespace", "branch", "tag", "url", "namespace")
"""Keys in which neither `${...}` nor braces of other programs mean anything."""
_FOREIGN = re.compile(
    r"\$\{\{\s{0,4}(?:\w{1,40}\.){0,4}(?P<actions>\w{1,40})\s{0,4}\}\}"
    r"|\$\{(?:var|local|data)\.(?:\w{1,40}\.){0,4}(?P<terraform>\w{1,40})\}"
    r"|\$\{(?P<shell>\w{1,40})\}"
    r"|\$\((?P<make>\w{1,40})\)"
    r"|\{\{-?\s{0,4}\.(?:\w{1,40}\.){0,4}(?P<helm>\w{1,40})\s{0,4}-?\}\}"
    r"|\{\{\s{0,4}(?P<jinja>\w{1,40})\s{0,4}\}\}"
    r"|\{\s{1,4}(?P<spaced>\w{1,40})\s{0,4}\}"
)
_TOOLS = {
    "actions": "the spelling of GitHub Actions",
    "terraform": "Terraform's spelling",
    "shell": "a shell's spelling",
    "make": "Make's spelling",
    "helm": "Helm's spelling",
    "jinja": "Jinja's spelling",
    "spaced": "a name with spaces",
}
"""How other tools write variables."""


def placeholders_have_single_braces(fleet: Fleet) -> Iterator[Problem]:
    """`${env}` is left to Flux, `{{env}}` is the text `{env}`, and `{ env }` is text."""
    known = _variables(fleet)
    for path, text in texts_in(fleet.source.data):
        for variable in _foreign_variables(text) if path[-1] in _PATHS and "values" not in path else ():
            if variable.name in known or variable.certain:
                message = f"'{variable.written}' is no placeholder, and is not filled in"
                yield doubtful(path, "no-placeholder", message, fix=variable.fix(known))


def _variables(fleet: Fleet) -> set[str]:
    """The names of all placeholders that some place knows."""
    known = {*BUILT_IN}
    known.update(*(environment.variables for environment in fleet.environments.values()))
    known.update(*(cluster.variables for cluster in fleet.clusters.values()))
    known.update(*(cluster.labels for cluster in fleet.clusters.values()))
    known.update(*(level.variables or {} for _, level in walk.levels(fleet)))
    return known


class _Foreign(NamedTuple):
    """A variable as another tool writes it. tool: whose spelling it is, in words; certain: it means nothing else."""

    written: str
    name: str
    tool: str
    certain: bool

    @property
    def message(self) -> str:
        return f"'{self.written}' is {self.tool}, and no placeholder here"

    def fix(self, known: Collection[str]) -> str:
        if self.name in known:
            return f"write '{{{self.name}}}'"
        return f"write '{{{self.name}}}', and declare it: 'variables: {{{self.name}: VALUE}}' in each environment"


def _foreign_variables(text: str) -> Iterator[_Foreign]:
    for match in _FOREIGN.finditer(text):
        tool = _TOOLS[str(match.lastgroup)]
        certain = match.lastgroup in ("terraform", "actions", "make", "helm")
        yield _Foreign(shorten(match[0]), match[str(match.lastgroup)], tool, certain)
