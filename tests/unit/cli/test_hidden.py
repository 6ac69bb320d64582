"""No command that is for reading repeats a secret, in whatever form and place it stands; all of them hide by the same rules.

`render` is not for reading: its output is what is applied, to the last byte.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenantry.cli.app import run
from tenantry.messages.redact import redacted
from tests.table import table

SECRET = "Zq4x"
"""Short, so that it is not hidden because it looks random."""
FORMS = (
    f"machine git.example.com login me password {SECRET}1",
    f"machine git.example.com\n  login me\n  password {SECRET}1\n",
    f"default login me password {SECRET}1",
    f"MACHINE a ACCOUNT b PASSWORD {SECRET}1;x",
    f"https://me:{SECRET}1@git.example.com/x",
    f"https://me:{SECRET}1/y@git.example.com/x",
    f"https://me:a@{SECRET}1@git.example.com/x",
    f"redis://:{SECRET}1@redis:6379/0",
    f"https://hooks.example.com/x?sig={SECRET}1&a=b",
    f"https://hooks.example.com/x?pwd={SECRET}1",
    f"https://hooks.example.com/x?auth={SECRET}1",
    f"https://s3.example.com/x?X-Amz-Signature={SECRET}1",
    f"Endpoint=sb://x/;SharedAccessKey={SECRET}1",
    f"curl -u me:{SECRET}1 https://example.com",
    f"curl --proxy-user me:{SECRET}1 https://example.com",
    f"docker login registry.example.com -u me -p {SECRET}1",
    f"me:$apr1$salt${SECRET}1",
    f"Authorization: Bearer {SECRET}1aaaaaaa",
)


@table("form", FORMS)
def test_no_message_repeats_it(form: str) -> None:
    assert SECRET not in redacted(form)


@table(
    "text",
    [
        "the address contains a password, which anyone could read",
        "needs a password",
        "machine learning, login by SSO and a password manager",
        "https://registry.example.com:5000/img@sha256:abc",
        "https://git.example.com/a@b",
        "login to -p 8080 is not shown",
        "echo $HOME and $1",
        "app --user admin --port 80",
        "https://example.com/x?team=rocky&page=2",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redacted(text) == text


FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub, variables: {db_password: VARIABLE}}
  prod: {management: far}
clusters:
  hub: {environments: [dev]}
  far: {environments: [prod]}
tenants:
  rocky:
    clusters: {all: true}
    credentials: {git: {keys: [username, password]}}
    sources:
      charts: {helm: {url: "https://charts.example.com"}, credentials: git}
      manifests: {git: {url: "https://git.example.com/rocky", ref: {branch: main}}}
    configs: {files: {data: {netrc: CONFIG}}}
    apps:
      web: {helm: {source: charts, chart: web, version: 1.x, values: {VALUES}}}
      jobs:
        kustomize:
          source: manifests
          postBuild: {substitute: {DB_PASSWORD: SUBSTITUTE, plain: shown}, substituteFrom: [{kind: ConfigMap, name: files}]}
          patches: [{patch: PATCH, target: {kind: Secret}}]
"""


def fleet(secret: str, form: str, *, prod: bool = True) -> str:
    values: dict[str, Any] = {
        "files": {"content": form},
        "auth": {"password": f"{secret}v"},
        "env": [{"name": "API_TOKEN", "value": f"{secret}e"}, {"name": "LEVEL", "value": "debug"}],
        "args": ["--password", f"{secret}a"],
        "credentials": f"{secret}c",
    }
    patch = f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\nstringData:\n  a: {secret}p\n"
    placed = {
        "VARIABLE": f"{secret}w",
        "CONFIG": json.dumps(form),
        "{VALUES}": json.dumps(values),
        "SUBSTITUTE": f"{secret}s",
        "PATCH": json.dumps(patch),
    }
    text = FLEET
    for word, value in placed.items():
        text = text.replace(word, value)
    if prod:
        return text.replace(
            "      web: {helm:", "      web: {overrides: [{when: {environments: [prod]}, helm: {timeout: 9m}}], helm:"
        )
    return text


COMMANDS = (
    ("explain", "rocky/web", "-e", "dev"),
    ("explain", "rocky/web", "-e", "dev", "--output", "json"),
    ("explain", "rocky/jobs", "-e", "dev"),
    ("explain", "rocky/jobs", "-e", "dev", "--output", "json"),
    ("explain", "rocky", "-e", "dev"),
    ("explain", "platform", "-e", "dev", "--output", "json"),
    ("diff", "--between", "dev", "prod"),
    ("diff", "--between", "dev", "prod", "--output", "json"),
    ("list", "apps"),
    ("list", "sources", "--output", "json"),
    ("diff", "before.yaml"),
    ("diff", "before.yaml", "--output", "json"),
    ("diff", "before.yaml", "--output", "markdown"),
    ("diff", "before.yaml", "--output", "html"),
    ("explain", "rocky/nope", "-e", "dev"),
)


@pytest.mark.parametrize("form", FORMS[:3:2])
def test_no_command_for_reading_repeats_it(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(fleet(SECRET, form))
    Path("before.yaml").write_text(fleet("Zq4old", form.replace(SECRET, "Zq4old"), prod=False))
    for command in COMMANDS:
        code = run([*command])
        out, err = capsys.readouterr()
        assert (command, code in (0, 1, 2), out + err != "") == (command, True, True)
        assert (command, "Zq4" in out + err) == (command, False)


def test_what_stands_in_braces_and_is_no_name_is_text_that_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(fleet(SECRET, f"stringData: {{a: {SECRET}1}}"))
    assert run(["validate"]) == 0
    out, err = capsys.readouterr()
    assert SECRET not in out + err


def test_explain_shows_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(fleet(SECRET, FORMS[0]))
    run(["explain", "rocky/web", "-e", "dev", "-c", "hub"])
    out, _ = capsys.readouterr()
    assert "password: (hidden)" in out
    assert "value: debug" in out
    assert "content: machine git.example.com login me password (hidden)" in out
    assert "credentials: git" in out
