"""Asks sources which versions they have: Helm repositories for their charts, Git and OCI repositories for their tags.

Uses the programs, logins and limits with which sources are fetched. Called by: `tenantry update`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Literal, NamedTuple, TypeAlias

from tenantry.manifests import git, registries
from tenantry.manifests.cache import Once
from tenantry.manifests.model import NotFetched

Kind: TypeAlias = Literal["chart", "oci", "git"]
"""A chart of a Helm repository over HTTP, a repository in a registry, a Git repository."""

_AT_ONCE = 8


class Question(NamedTuple):
    """What a source is asked for. chart: its name in a Helm repository over HTTP. insecure: a registry without TLS."""

    kind: Kind
    url: str
    chart: str = ""
    insecure: bool = False


Answer: TypeAlias = frozenset[str] | NotFetched
"""The versions or tags, unchecked; or why the source cannot be asked."""


def ask_all(
    questions: Collection[Question],
    programs: Mapping[str, tuple[str, ...]],
    told: Callable[[int, int], None] = lambda _done, _all: None,
) -> dict[Question, Answer]:
    """Ask several sources at a time, each once. Args: told: is called with how many of how many questions are answered."""
    asking = _Asking(programs)
    answers: dict[Question, Answer] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        running = {pool.submit(asking.answer, question): question for question in questions}
        try:
            for future in as_completed(running):
                answers[running[future]] = future.result()
                told(len(answers), len(running))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return answers


class _Asking:
    def __init__(self, programs: Mapping[str, tuple[str, ...]]) -> None:
        self._programs = programs
        self._indexes: Once[str, Mapping[str, frozenset[str]]] = Once()

    def answer(self, question: Question) -> Answer:
        try:
            return self._asked(question)
        except NotFetched as failed:
            return failed

    def _asked(self, question: Question) -> frozenset[str]:
        url = question.url
        match question.kind:
            case "git":
                return frozenset(git.tags(self._program("git", "Git"), url))
            case "oci":
                return frozenset(registries.tags(url, insecure=question.insecure))
        helm = self._program("helm", "Helm")
        index = self._indexes.get(url, lambda: registries.index(helm, url))
        if question.chart not in index:
            raise NotFetched(
                f"it has no chart '{question.chart}'", "correct 'chart' of the app, or 'url' of the source"
            )
        return index[question.chart]

    def _program(self, name: str, title: str) -> tuple[str, ...]:
        if name not in self._programs:
            raise NotFetched(f"the command '{name}' is not installed", f"install {title}")
        return self._programs[name]
