"""Asks the sources of apps which versions they have, and says which of them cannot be asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import click

from tenantry.cli.diff.manifest_options import program
from tenantry.cli.output import say, working
from tenantry.edit.subjects.pins import Content
from tenantry.edit.subjects.raising import Known
from tenantry.manifests.model import NotFetched
from tenantry.manifests.versions import Question, ask_all
from tenantry.messages.redact import presentable
from tenantry.messages.text import counted, grouped, listed, printable

_KINDS = {"chart": "HelmRepository", "oci-chart": "HelmRepository", "oci": "OCIRepository", "git": "GitRepository"}


@dataclass(frozen=True, slots=True)
class Unasked:
    """Sources that cannot be asked, for the same reason."""

    kind: str
    sources: tuple[str, ...]
    reason: str
    fix: str


def ask(contents: Iterable[Content]) -> tuple[Known, list[Unasked]]:
    """The versions of each source, and the sources that cannot be asked."""
    questions = {each: _question(each) for each in contents}
    programs = {name: (path,) for name in ("git", "helm") if (path := program(name))}
    distinct = dict.fromkeys(questions.values())
    with working(f"asking {counted(len(distinct), 'source')} for newer versions") as tell:
        answers = ask_all(distinct, programs, lambda done, all: tell(f"{done} of {all}"))
    known, failed = {}, []
    for content, question in questions.items():
        answer = answers[question]
        if isinstance(answer, NotFetched):
            failed.append((content, answer))
        else:
            # A tag cannot contain the `+` of a version, so Helm writes `_` in its place.
            is_chart = content.kind == "oci-chart"
            known[content] = frozenset(each.replace("_", "+") for each in answer) if is_chart else answer
    return known, _unasked(failed)


def _question(content: Content) -> Question:
    """What to ask for; the address of a chart in a registry has its name."""
    if content.kind == "oci-chart":
        return Question("oci", content.url, "", content.insecure)
    return Question(content.kind, content.url, content.chart, content.insecure)


def _unasked(failed: Iterable[tuple[Content, NotFetched]]) -> list[Unasked]:
    groups = grouped(failed, lambda each: (_KINDS[each[0].kind], _shown(each[1].message), each[1].fix or _fix(each[0])))
    return [
        Unasked(kind, tuple(dict.fromkeys(each.source for each, _ in own)), reason, fix)
        for (kind, reason, fix), own in groups.items()
    ]


def warn(unasked: Iterable[Unasked]) -> None:
    """One warning for each reason, on stderr."""
    for each in unasked:
        names = listed(f"'{source}'" for source in each.sources)
        say(
            f"{click.style('warning:', fg='yellow', bold=True)} {each.kind} {printable(names)} cannot be asked: {each.reason}"
        )
        say(f"  fix: {printable(each.fix)}")


def _shown(message: str) -> str:
    """The first line of a message, which can quote what the source answered."""
    return printable(presentable(message.strip().split("\n", 1)[0], 300))


def _fix(content: Content) -> str:
    host = content.url.partition("://")[2].partition("/")[0]
    match content.kind:
        case "git":
            return f"check that this machine can read it: git ls-remote {content.url}"
        case "chart":
            return (
                "check 'url' of the source; if the repository asks for a password, raise its charts with `tenantry set`"
            )
    return f"check 'url' of the source, and log in if it asks for a password: docker login {host}"
