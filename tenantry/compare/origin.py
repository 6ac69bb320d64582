"""Where a run comes from: the commit that is checked out, who began the run, and the pipeline that it is a job of.

Build servers tell this by variables, each of which is named here. No other variable is read.
"""

from __future__ import annotations

import getpass
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tenantry.compare.git import Repository
from tenantry.messages.errors import Refused
from tenantry.messages.redact import kind_of
from tenantry.messages.text import printable

_MOST = 300
"""Characters of a text."""
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_USER = re.compile(r"(?<=://)[^/@]*@")
_VARIABLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Origin:
    """pipeline: its address. edited: whether files that Git follows are not as in the commit. What nobody tells is ""."""

    commit: str = ""
    actor: str = ""
    pipeline: str = ""
    edited: bool = False


class _Server(NamedTuple):
    """A build server. sign: the variable that is set in its jobs; the others: variables in braces, and what is between them."""

    sign: str
    commit: str
    actor: str
    pipeline: str


_SERVERS = (
    _Server("TENANTRY_COMMIT", "{TENANTRY_COMMIT}", "", ""),
    _Server("TENANTRY_ACTOR", "", "{TENANTRY_ACTOR}", ""),
    _Server("TENANTRY_PIPELINE", "", "", "{TENANTRY_PIPELINE}"),
    _Server(
        "GITHUB_ACTIONS",  # of Gitea and Forgejo, too
        "{GITHUB_SHA}",
        "{GITHUB_TRIGGERING_ACTOR}",
        "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}",
    ),
    _Server("GITLAB_CI", "{CI_COMMIT_SHA}", "{GITLAB_USER_LOGIN}", "{CI_JOB_URL}"),
    _Server(
        "TF_BUILD",  # Azure Pipelines
        "{BUILD_SOURCEVERSION}",
        "{BUILD_REQUESTEDFOR}",
        "{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECTID}/_build/results?buildId={BUILD_BUILDID}",
    ),
    _Server("JENKINS_URL", "{GIT_COMMIT}", "{BUILD_USER_ID}", "{BUILD_URL}"),
    _Server("BUILDKITE", "{BUILDKITE_COMMIT}", "{BUILDKITE_BUILD_CREATOR}", "{BUILDKITE_BUILD_URL}"),
    _Server("CIRCLECI", "{CIRCLE_SHA1}", "{CIRCLE_USERNAME}", "{CIRCLE_BUILD_URL}"),
    _Server(
        "BITBUCKET_BUILD_NUMBER",
        "{BITBUCKET_COMMIT}",
        "{BITBUCKET_STEP_TRIGGERER_UUID}",
        "{BITBUCKET_GIT_HTTP_ORIGIN}/pipelines/results/{BITBUCKET_BUILD_NUMBER}",
    ),
    _Server("DRONE", "{DRONE_COMMIT_SHA}", "{DRONE_BUILD_TRIGGER}", "{DRONE_BUILD_LINK}"),
    _Server("CI_PIPELINE_URL", "{CI_COMMIT_SHA}", "{CI_PIPELINE_AUTHOR}", "{CI_PIPELINE_URL}"),  # Woodpecker
    _Server("PULUMI_CI_SYSTEM", "", "", "{PULUMI_CI_BUILD_URL}"),
)
"""In the order in which they are believed: the user's own variables come first."""


def origin_of(directory: Path, variables: Mapping[str, str]) -> Origin:
    """The origin of a run that reads a fleet's file in a directory. Git knows best which commit that is."""
    there = [server for server in _SERVERS if variables.get(server.sign)]
    commit, edited = _checked_out(directory)
    found = commit or _first((each.commit for each in there), variables)
    actor = _first((each.actor for each in there), variables)
    return Origin(
        found if _COMMIT.fullmatch(found) else "",
        actor if there else _clean(_user()),
        _first((each.pipeline for each in there), variables),
        edited,
    )


def _checked_out(directory: Path) -> tuple[str, bool]:
    """The commit, and whether files differ from it; "" if this is no clone."""
    try:
        clone = Repository(directory)
        commit = clone.commit("HEAD") or ""
        plain = ("--quiet", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
        return commit, bool(commit) and clone.run("diff", *plain, "HEAD", "--", ".").returncode == 1
    except Refused:
        return "", False


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return ""


def _first(forms: Iterable[str], variables: Mapping[str, str]) -> str:
    """The first form all of whose variables are set, filled in."""
    for form in forms:
        names = _VARIABLE.findall(form)
        if names and all(variables.get(name) for name in names):
            return _clean(_VARIABLE.sub(lambda match: variables[match[1]], form))
    return ""


def _clean(text: str) -> str:
    """On one line, bounded, and without what could be a secret."""
    text = _USER.sub("", printable(text.strip())[:_MOST])
    return "" if kind_of(text) else text
