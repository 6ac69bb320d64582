"""`tenantry diff`: options, exit codes and how much is shown. Whole outputs are golden files."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tenantry.cli.app import run
from tests.unit.texts import FRAME, rocky

Capture = pytest.CaptureFixture[str]

BASE = rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}")
MORE = """\
  movy:
    clusters: {all: true}
    sources: {m: {git: {url: https://example.com/m, ref: {branch: main}}}}
    apps: {web: {kustomize: {source: m}}}
"""
EMPTIED = FRAME + "tenants: {}\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(BASE)
    Path("before.yaml").write_text(BASE)


def compared(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    code = run(["diff", "before.yaml", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def _outside_of_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))


pytestmark = pytest.mark.usefixtures("_outside_of_git")


def git(*arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    variables = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(("git", *identity, *arguments), check=True, capture_output=True, env=variables)


def test_without_a_base_it_is_compared_with_what_was_committed_last(capsys: Capture) -> None:
    git("init", "--quiet", ".")
    git("add", "--all")
    git("commit", "--quiet", "--message", "x")
    hash = subprocess.run(("git", "rev-parse", "HEAD"), capture_output=True, text=True, check=True).stdout[:7]
    assert (run(["diff"]), *capsys.readouterr()) == (0, f"against HEAD ({hash})\n\nno difference: dev\n", "")
    Path("other.yaml").write_text(EMPTIED)
    assert (run(["--file", "other.yaml", "diff"]), *capsys.readouterr()) == (
        1,
        f"""\
against HEAD ({hash})

dev: both clusters
  + environment
      + management: hub  # other.yaml:3:21 (environment dev)
  + cluster hub
      + environments: [dev]  # other.yaml:5:23 (cluster hub)
      + labels.tier: hub  # other.yaml:5:45 (cluster hub)
  + cluster edge
      + environments: [dev]  # other.yaml:6:24 (cluster edge)
      + labels.tier: edge  # other.yaml:6:46 (cluster edge)
      + kubeconfig.kamaji.controlPlane: edge  # other.yaml:6:89 (cluster edge)
      + kubeconfig.kamaji.namespace: kamaji  # other.yaml:6:106 (cluster edge)
      + chart.helm.url: https://charts.example.com  # other.yaml:7:32 (platform)
      + chart.helm.version: 0.1.0  # other.yaml:7:71 (platform)

objects
  dev: new; no object differs
""",
        f"HEAD ({hash}) has no other.yaml: everything is new\n",
    )
    assert run(["diff", "HEAD", "--merge-base", "--output", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["base"]["commit"][:7] == hash


def limited(limit: str) -> None:
    """Set the limit of the environment in the file as it is now."""
    text = re.sub(", maxDeletions: [^}]*", "", Path("tenants.yaml").read_text())
    Path("tenants.yaml").write_text(text.replace("{management: hub}", f"{{management: hub, maxDeletions: {limit}}}", 1))


def test_up_to_the_limit_an_environment_may_lose_something(capsys: Capture) -> None:
    Path("before.yaml").write_text(BASE + MORE)
    for limit, code in (("0", 4), ("1", 4), ("2", 1), ("0%", 4), ("60%", 1)):
        limited(limit)
        assert compared(capsys)[0] == code
    limited("0")
    assert compared(capsys, "--allow-deletion", "tenant/movy")[0] == 1
    code, out, err = compared(capsys, "--output", "json")
    found = json.loads(out)
    assert code == 4
    assert err.startswith(
        "error: `tenantry up` of environment 'dev' would be refused: this run would remove 1 tenant; the limit for 'dev' is 0"
    )
    (refusal,) = found["refusals"]["dev"]
    assert (refusal["code"], err) == ("removals", f"error: {refusal['message']}\n  fix: {refusal['fix']}\n")


def test_a_protected_environment_loses_only_what_was_given_up(capsys: Capture) -> None:
    protected = BASE.replace("{management: hub}", "{management: hub, protected: true}")
    without = protected.replace("web: {", "db: {")
    Path("before.yaml").write_text(protected)
    Path("tenants.yaml").write_text(without)
    code, _, err = compared(capsys)
    assert code == 4
    assert "environment 'dev' is protected" in err
    assert "app 'web' of tenant 'rocky' on edge\n" in err
    Path("before.yaml").write_text(protected.replace("web: {", "web: {state: offboarding, "))
    assert compared(capsys)[0] == 1


TEAM = """\
  NAME:
    STATE
    clusters: {all: true}
    sources: {m: {git: {url: https://git.example.com/x, ref: {tag: v1}}}}
    apps: {web: {kustomize: {source: m}}}
"""


def with_four_more(state: str) -> str:
    teams = (TEAM.replace("NAME", f"team-{number}").replace("STATE", f"state: {state}") for number in range(4))
    return BASE + "".join(teams)


def test_what_was_given_up_in_an_earlier_run_does_not_count(capsys: Capture) -> None:
    Path("before.yaml").write_text(with_four_more("offboarding"))
    assert compared(capsys)[0] == 1
    Path("before.yaml").write_text(with_four_more("active"))
    assert compared(capsys)[0] == 4


def test_a_cluster_that_was_decommissioned_may_be_removed(capsys: Capture) -> None:
    declared = next(line for line in FRAME.splitlines(keepends=True) if line.startswith("  edge: "))
    Path("tenants.yaml").write_text(BASE.replace(declared, ""))
    limited("0")
    assert compared(capsys)[0] == 4
    Path("before.yaml").write_text(BASE.replace("labels: {tier: edge}", "state: decommissioned, labels: {tier: edge}"))
    assert compared(capsys)[0] == 1


def test_an_unsound_base_is_an_error_of_its_own(capsys: Capture) -> None:
    Path("before.yaml").write_text(BASE + "x: 1\n")
    code, out, err = compared(capsys, "-o", "json")
    assert (code, "before.yaml:" in err, "error[unknown-key]" in err) == (2, True, True)
    assert json.loads(out)["error"] == {
        "code": "invalid-base",
        "message": "the file at 'before.yaml' is invalid, so there is nothing to compare with",
        "fix": "name a base that is valid; `tenantry render` shows everything that the file yields now",
        "exitCode": 2,
    }
    assert err == compared(capsys)[2], "people read the same as without JSON"


def test_environments_can_be_chosen_even_one_that_only_the_base_has(capsys: Capture) -> None:
    more = BASE.replace("{management: hub}", "{management: hub}\n  far: {management: hub-2}")
    Path("before.yaml").write_text(more.replace("clusters:\n", "clusters:\n  hub-2: {environments: [far]}\n", 1))
    _, out, _ = compared(capsys, "-o", "json")
    assert [each["environment"] for each in json.loads(out)["environments"]] == ["dev", "far"]
    assert compared(capsys, "-e", "dev") == (0, "against before.yaml\n\nno difference: dev\n", "")
    assert compared(capsys, "-e", "nope") == (
        2,
        "",
        "error: neither tenants.yaml nor before.yaml declares environment 'nope'\n  fix: name one of: dev, far\n",
    )


def test_two_environments_are_compared_with_what_is_written_differently(capsys: Capture) -> None:
    more = BASE.replace("{management: hub}", "{management: hub}\n  old: {management: hub, namespace: 'o-{tenant}'}")
    more = more.replace("[dev]", "[dev, old]").replace(
        "web: {", "web: {overrides: [{when: {environments: [old]}, kustomize: {path: ./old}}], "
    )
    Path("tenants.yaml").write_text(more)
    assert (run(["diff", "--between", "dev", "old"]), *capsys.readouterr()) == (
        1,
        "dev -> old\n"
        "  ~ environment\n"
        "      + namespace: o-{tenant}  # tenants.yaml:4:37 (environment old)\n"
        "  ~ tenant rocky\n"
        "      ~ namespace: {tenant} -> o-{tenant}  # tenants.yaml:4:37 (environment old)\n"
        "  ~ rocky/web\n"
        "      ~ kustomize.path: ./ -> ./old  # tenants.yaml:16:73 (environment old)\n",
        "",
    )
    assert run(["diff", "--between", "dev", "old", "-o", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["environments"], len(found["changes"])) == ("Comparison", ["dev", "old"], 3)
    assert run(["diff", "--between", "dev", "old", "-o", "markdown"]) == 1
    assert "!   kustomize.path: ./ -> ./old" in capsys.readouterr().out
    assert (run(["diff", "--between", "dev", "dev"]), *capsys.readouterr()) == (0, "dev -> dev: no difference\n", "")


def test_colours_only_where_they_are_wanted(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("tenants.yaml").write_text(EMPTIED)
    plain = compared(capsys)[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = compared(capsys)[1]
    assert "\x1b[31m  - 1 tenant and 1 app (rocky, rocky/web) on both clusters\x1b[0m" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert compared(capsys)[1] == plain
    assert "\x1b" not in plain
