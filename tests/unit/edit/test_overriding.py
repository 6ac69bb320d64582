"""Values for an environment or for clusters alone: in which override they are written, and what goes with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.edit.editor import Editor
from tenantry.edit.overriding import Condition, override, withdraw
from tenantry.edit.paths import parse_path
from tenantry.messages.errors import Refused
from tenantry.messages.text import format_path

MAIN = """\
apiVersion: tenantry/v1
include: [team/*.yaml]
platform:
  addons:
    dns: {helm: {chart: dns}}
templates: {tenants: {small: {quota: {pods: 5}}}}
tenants:
  rocky:
    overrides:
      # Production.
      - when: {environments: [prod]}
        apps: {web: {helm: {version: 1.0.0}}}
      - {when: {environments: [dev]}, quota: {pods: 1}}
      - {when: {clusters: {names: [edge]}}, quota: {pods: 2}}
    apps:
      web: {helm: {chart: web}}
      db: {helm: {chart: db}}
  movy: {}
"""
TEAM = """\
tenants:
  movy:
    sources:
      own: {git: {url: https://git.example.com/own}}
"""
PROD, DEV, QA = ({"environments": [each]} for each in ("prod", "dev", "qa"))
EDGE, HUB = ({"clusters": {"names": [each]}} for each in ("edge", "hub"))


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    (tmp_path / "team").mkdir()
    (tmp_path / "team/movy.yaml").write_text(TEAM)
    (tmp_path / "tenants.yaml").write_text(MAIN)
    return Editor(tmp_path / "tenants.yaml")


def texts(editor: Editor) -> tuple[str, str]:
    """The main file and the team's, as edited."""
    main, team = (editor.read(file).decode() for file in editor.documents)
    return main, team


WRITTEN: dict[str, tuple[str, Condition, str, str, str]] = {
    "in the override with the same condition": (
        "tenants.rocky.quota.pods",
        DEV,
        "tenants.rocky.overrides[1].quota.pods",
        "[dev]}, quota: {pods: 1}",
        "[dev]}, quota: {pods: 7}",
    ),
    "beside what the override has": (
        "tenants.rocky.quota.pods",
        PROD,
        "tenants.rocky.overrides[0].quota.pods",
        "        apps: {web: {helm: {version: 1.0.0}}}\n",
        "        quota: {pods: 7}\n        apps: {web: {helm: {version: 1.0.0}}}\n",
    ),
    "before the overrides of clusters": (
        "tenants.rocky.quota.pods",
        QA,
        "tenants.rocky.overrides[2].quota.pods",
        "      - {when: {clusters",
        "      - {when: {environments: [qa]}, quota: {pods: 7}}\n      - {when: {clusters",
    ),
    "last, if it is for clusters": (
        "tenants.rocky.quota.pods",
        {**DEV, **EDGE},
        "tenants.rocky.overrides[3].quota.pods",
        "[edge]}}, quota: {pods: 2}}\n",
        "[edge]}}, quota: {pods: 2}}\n"
        "      - {when: {environments: [dev], clusters: {names: [edge]}}, quota: {pods: 7}}\n",
    ),
    "in the tenant's override that has it of an app": (
        "tenants.rocky.apps.web.helm.version",
        PROD,
        "tenants.rocky.overrides[0].apps.web.helm.version",
        "1.0.0",
        "7",
    ),
    "in the app's own overrides, if it is new": (
        "tenants.rocky.apps.db.helm.version",
        PROD,
        "tenants.rocky.apps.db.overrides[0].helm.version",
        "db: {helm: {chart: db}}",
        "db: {helm: {chart: db}, overrides: [{when: {environments: [prod]}, helm: {version: 7}}]}",
    ),
    "of an add-on": (
        "platform.addons.dns.helm.version",
        HUB,
        "platform.addons.dns.overrides[0].helm.version",
        "dns: {helm: {chart: dns}}",
        "dns: {helm: {chart: dns}, overrides: [{when: {clusters: {names: [hub]}}, helm: {version: 7}}]}",
    ),
    "of a template": (
        "templates.tenants.small.quota.pods",
        PROD,
        "templates.tenants.small.overrides[0].quota.pods",
        "quota: {pods: 5}}",
        "quota: {pods: 5}, overrides: [{when: {environments: [prod]}, quota: {pods: 7}}]}",
    ),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_a_value_is_written_where_it_holds(case: str, editor: Editor) -> None:
    path, when, place, old, new = WRITTEN[case]
    assert format_path(override(editor, parse_path(path), when, 7)) == place
    assert texts(editor) == (MAIN.replace(old, new, 1), TEAM)
    assert format_path(override(editor, parse_path(path), when, 8)) == place


def test_what_a_teams_file_declares_is_overridden_there(editor: Editor) -> None:
    override(editor, parse_path("tenants.movy.sources.own.git.ref"), PROD, {"tag": "v1"})
    of_team = """\
    overrides:
      - when: {environments: [prod]}
        sources:
          own: {git: {ref: {tag: v1}}}
    sources:
"""
    assert texts(editor) == (MAIN, TEAM.replace("    sources:\n", of_team))
    override(editor, parse_path("tenants.movy.quota.pods"), PROD, 4)
    of_platform = "movy: {overrides: [{when: {environments: [prod]}, quota: {pods: 4}}]}"
    assert texts(editor)[0] == MAIN.replace("movy: {}", of_platform)


GONE: dict[str, tuple[str, Condition, str]] = {
    "the only value of an override": (
        "tenants.rocky.quota.pods",
        DEV,
        "      - {when: {environments: [dev]}, quota: {pods: 1}}\n",
    ),
    "an app's in the tenant's override": (
        "tenants.rocky.apps.web.helm.version",
        PROD,
        "      # Production.\n      - when: {environments: [prod]}\n        apps: {web: {helm: {version: 1.0.0}}}\n",
    ),
}


@pytest.mark.parametrize("case", GONE)
def test_an_override_that_says_nothing_more_goes_with_its_last_value(case: str, editor: Editor) -> None:
    path, when, gone = GONE[case]
    withdraw(editor, parse_path(path), when)
    assert texts(editor)[0] == MAIN.replace(gone, "", 1)


def test_the_list_goes_with_its_last_override(editor: Editor) -> None:
    path = parse_path("tenants.rocky.apps.db.helm.version")
    override(editor, path, PROD, 7)
    withdraw(editor, path, PROD)
    assert texts(editor) == (MAIN, TEAM)


def test_what_is_beside_the_value_stays(editor: Editor) -> None:
    path = parse_path("tenants.rocky.quota.pods")
    override(editor, path, PROD, 7)
    withdraw(editor, path, PROD)
    assert texts(editor)[0] == MAIN


def test_only_an_override_with_exactly_this_condition_is_meant(editor: Editor) -> None:
    message = r"no override sets 'tenants\.rocky\.quota\.pods' for environment prod, cluster edge"
    with pytest.raises(Refused, match=message):
        withdraw(editor, parse_path("tenants.rocky.quota.pods"), {**PROD, **EDGE})
    assert texts(editor) == (MAIN, TEAM)
