"""One HTML file with everything in it: template, style, script and data.

Nothing in the data can come alive: the template escapes text, the data is JSON without `<`, `>` and `&`, and the page's policy
allows no script but its own and no connection at all.
"""

from __future__ import annotations

import base64
import difflib
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from tenantry.cli.diff.values import both, shown
from tenantry.cli.page.fleet_map import Alert, FleetMap, Value, as_data
from tenantry.messages.data import ABSENT
from tenantry.messages.errors import Refused
from tenantry.messages.text import printable

if TYPE_CHECKING:
    from jinja2 import Template

_SCRIPTS = ("data.js", "model.js", "hash.js", "entry.js", "panel.js", "map.js", "keys.js", "list.js", "main.js")
_FIRST_ALERTS = 8
_MOST_ALERTS = 200


class Notice(NamedTuple):
    """A message with what to do. lines: the first one, and those of its list; commands: those of the fix, to copy."""

    lines: tuple[str, ...]
    fix: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


def notice_of(refused: Refused) -> Notice:
    """A refusal as the terminal shows it: its lines, then its fix."""
    lines, fixes = (tuple(line.strip() for line in paragraphs(text)) for text in (refused.message, refused.fix))
    return Notice(lines, fixes, tuple(commands_in(refused.fix)))


_PROGRAMS = ("tenantry", "pulumi", "kubectl", "flux", "git")
_QUOTED = re.compile(r"`([^`]+)`")
_PLACEHOLDER = re.compile(r"(?<![\w/.-])[A-Z]{2,}(?![\w/.-])|^N$")


def commands_in(text: str) -> Iterator[str]:
    """The commands that a fix names and that can be typed as they are: lines of their own, or in backticks."""
    quoted = _QUOTED.findall(text)
    found = [*quoted, *(line.strip() for line in text.splitlines())]
    for command in dict.fromkeys(map(bounded, found)):
        words = command.split()
        if len(words) > 1 and words[0] in _PROGRAMS and not any(map(_PLACEHOLDER.search, words)) and "`" not in command:
            yield command


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page says.

    command: what wrote the page. heading, about: its title and the line below. figures: numbers and what they count.
    refusals: why the change is refused. alarm: the heading of what stands first; calm: what stands there if there is
    nothing. notes: below it.
    """

    command: str
    heading: str
    about: str
    figures: tuple[tuple[str, str], ...]
    refusals: tuple[Notice, ...]
    alarm: str
    calm: str
    notes: tuple[Notice, ...]
    map: FleetMap


def as_html(page: Page) -> str:
    """The page as one file, without a newline at the end."""
    style, script = _file("page.css"), _script()
    return _template().render(
        page=page,
        first=_numbered(page.map.alerts)[:_FIRST_ALERTS],
        others=_numbered(page.map.alerts)[_FIRST_ALERTS:_MOST_ALERTS],
        left_out=max(len(page.map.alerts) - _MOST_ALERTS, 0),
        policy=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:;"
        " base-uri 'none'; form-action 'none'",
        style=_trusted(style),
        script=_trusted(script),
        data=_trusted(_inert(as_data(page.map))),
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tenantry.cli.page"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("page.html.j2")


def _numbered(alerts: tuple[Alert, ...]) -> list[tuple[int, Alert]]:
    return list(enumerate(alerts))


def _script() -> str:
    """All scripts in one function, so that they share their names with nothing else."""
    return "\n".join(['"use strict";', "(() => {", *map(_file, _SCRIPTS), "})();"])


def _file(name: str) -> str:
    return (files("tenantry.cli.page") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _inert(data: dict[str, Any]) -> str:
    """JSON that holds no end tag, comment or entity, whatever the values are."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _trusted(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)


_MOST_CHARACTERS = 4_000
_MOST_LINES = 400


def value_of(key: str, before: Any, after: Any) -> Value:
    """A changed value. Of texts with several lines only those that differ are shown, with two around them."""
    if isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
        old, new = before.splitlines(), after.splitlines()
        if len(old) + len(new) <= 2 * _MOST_LINES:
            found = islice(difflib.unified_diff(old, new, n=2, lineterm=""), 2, None)
            return Value(printable(key), lines=tuple(bounded(line) for line in found) or (" the last line break",))
    if before is ABSENT or after is ABSENT:
        was, now = (None if value is ABSENT else bounded(shown(value)) for value in (before, after))
        return Value(printable(key), was, now)
    told = both(before, after)
    return Value(printable(key), bounded(told[0]), bounded(told[1]))


def bounded(text: str) -> str:
    """The text on one line, cut if it is very long."""
    cut = text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]} ... ({len(text)} characters)"
    return printable(cut)


def paragraphs(message: str) -> tuple[str, ...]:
    """The lines of a message that are not empty."""
    return tuple(islice((bounded(line) for line in message.splitlines() if line.strip()), _MOST_LINES))
