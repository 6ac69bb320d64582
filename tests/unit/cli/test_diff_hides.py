"""No output of `diff` shows a secret, and nothing that stands in a fleet comes alive in its comment or its page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tenantry.cli.app import run
from tests.unit.messages.test_inert import HOSTILE
from tests.unit.texts import rocky

pytestmark = pytest.mark.usefixtures("plans_once")

FORMS = {
    "text": (),
    "json": ("--output", "json"),
    "markdown": ("--output", "markdown"),
    "html": ("--output", "html"),
}

OLD, NEW = "hunter-Old-7x", "hunter-New-9y"
"""Secrets that only their keys tell."""
PLACES = {
    "helm-value": "cache: {helm: {source: charts, chart: c, version: 1.0.0, values: {auth: {password: @@}}}}",
    "list": "cache: {helm: {source: charts, chart: c, version: 1.0.0, values: {env: [{name: DB_PASSWORD, value: @@}]}}}",
    "argument": "cache: {helm: {source: charts, chart: c, version: 1.0.0, values: {args: [--password, @@, '--token=@@']}}}",
    "parameter": "cache: {helm: {source: charts, chart: c, version: 1.0.0, values: {url: 'https://x.example.com/?token=@@'}}}",
    "text": "cache: {helm: {source: charts, chart: c, version: 1.0.0, values: {config: \"a: 1\\npassword: @@\\nb: 2\\n\"}}}",
    "below": "cache: {helm: {source: charts, chart: c, version: 1.0.0, values: {secrets: {a: {b: [@@]}}}}}",
    "data-of-a-secret": (
        "cache: {helm: {source: charts, chart: c, version: 1.0.0, values:"
        " {extra: [{kind: Secret, metadata: {name: x}, stringData: {a: @@}}]}}}"
    ),
    "substitution": "web: {kustomize: {source: manifests, postBuild: {substitute: {DB_PASSWORD: @@}}}}",
    "patch": (
        "web: {kustomize: {source: manifests, patches: [{patch:"
        " \"apiVersion: v1\\nkind: Secret\\nmetadata: {name: a}\\nstringData:\\n  a: @@\\n\"}]}}"
    ),
    "json-patch": (
        "web: {kustomize: {source: manifests, patches: [{patch:"
        " \"- op: replace\\n  path: /data/password\\n  value: @@\\n\", target: {kind: ConfigMap}}]}}"
    ),
    "object": "",
}  # fmt: skip
OBJECT = "objects: {c: {apiVersion: v1, kind: ConfigMap, data: {password: @@, 'app.ini': \"[db]\\npassword=@@\\n\"}}}"
SETTINGS = "clusters: {all: true}"


IN_GROUPS = [[*PLACES][start : start + 4] for start in range(0, len(PLACES), 4)]


def fleet_with(places: list[str], secret: str) -> str:
    """A fleet with the secret in these places, each of an app of its own."""
    apps = [f"{place}: {PLACES[place].partition(': ')[2]}" for place in places if PLACES[place]]
    rest = f"{SETTINGS}\n{OBJECT}" if "object" in places else SETTINGS
    text = rocky("\n".join(apps) or "web: {kustomize: {source: manifests}}", rest)
    return text.replace("@@", secret)


def outputs(before: str, after: str, form: str, capsys: pytest.CaptureFixture[str]) -> str:
    Path("before.yaml").write_text(before)
    Path("tenants.yaml").write_text(after)
    assert run(["diff", "./before.yaml", *FORMS[form]]) in (0, 1, 4)
    out, err = capsys.readouterr()
    return out + err


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("places", IN_GROUPS, ids=" ".join)
def test_no_form_shows_a_secret_that_is_added_changed_or_removed(
    places: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = rocky("other: {kustomize: {source: manifests}}", SETTINGS)
    old, new = fleet_with(places, OLD), fleet_with(places, NEW)
    told = [place for place in places if place not in ("text", "patch", "json-patch", "object")]
    for before, after in ((old, new), (nothing, new), (old, nothing)):
        said = {form: outputs(before, after, form, capsys) for form in FORMS}
        assert {form for form, each in said.items() if re.search("hunter|Old-7x|New-9y", each)} == set()
        if before == old and after == new:
            assert {form for form, each in said.items() if each.count("(hidden, changed)") < len(told)} <= {"html"}


@pytest.mark.parametrize("place", PLACES)
def test_a_changed_secret_is_a_difference(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = json.loads(outputs(fleet_with([place], OLD), fleet_with([place], NEW), "json", capsys))
    assert [bool(each["objects"]) for each in said["environments"]] == [True]


TEXTS = [text for text in HOSTILE if len(text) < 1000 and text.strip()]


def hostile(texts: list[str]) -> str:
    quoted = [json.dumps(text) for text in texts]
    values = ", ".join(f"a{at}: {each}, b{at}: [{each}]" for at, each in enumerate(quoted))
    app = f"cache: {{helm: {{source: charts, chart: c, version: 1.0.0, values: {{{values}}}}}}}"
    annotations = ", ".join(f"a{at}: {each}" for at, each in enumerate(quoted))
    owners = ", ".join(f"{{user: {json.dumps(f'{text} u{at}')}}}" for at, text in enumerate(texts))
    return rocky(app, f"{SETTINGS}\nannotations: {{{annotations}}}\nowners: [{owners}]")


@pytest.mark.parametrize("texts", [TEXTS[start : start + 3] for start in range(0, len(TEXTS), 3)])
def test_nothing_of_a_value_comes_alive_in_a_terminal_or_a_page(
    texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = hostile(["x"] * len(texts))
    said = outputs(before, hostile(texts), "text", capsys)
    assert all(char.isprintable() or char == "\n" for char in said)
    page = outputs(before, hostile(texts), "html", capsys)
    if tags := [text for text in texts if "<" in text]:
        # The page has elements of its own.
        plain = outputs(before, hostile(["y"] * len(texts)), "html", capsys)
        assert [page.count(text) for text in tags] == [plain.count(text) for text in tags]
