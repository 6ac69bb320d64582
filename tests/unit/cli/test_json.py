"""Whoever asks for JSON gets exactly one document on stdout, however the command ends. People read stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

from tenantry.cli.app import app, asks_for_json
from tenantry.cli.commands import as_document
from tenantry.cli.output import as_json, data_json
from tenantry.messages.errors import Refused
from tests.golden.test_help import commands
from tests.table import table
from tests.unit.cli.test_cli import BROKEN, SOUND, Capture, tenantry

COMPLETE: dict[tuple[str, ...], tuple[str, ...]] = {
    ("validate",): (),
    ("render",): (),
    ("diff",): ("./before.yaml",),
    ("explain",): ("rocky", "-e", "dev"),
    ("list",): ("apps",),
    ("preflight",): ("-e", "dev"),
    ("status",): ("-e", "dev"),
    ("why",): ("rocky/web", "-e", "dev"),
    ("set",): ("tenants.rocky.role", "edit"),
    ("import",): ("-e", "dev=nowhere"),
    ("promote",): ("dev", "prod"),
    ("add",): ("source", "rocky/tools", "git.url=https://git.example.com/tools", "git.ref.branch=main"),
    ("remove",): ("tenant", "rocky"),
}
"""What each command with JSON needs besides `--output json`."""


def leaf(path: tuple[str, ...]) -> click.Command:
    command: click.Command | None = app
    for word in path:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    assert command is not None
    return command


def leaf_options(path: tuple[str, ...]) -> set[str]:
    return {name for each in leaf(path).params for name in each.opts}


def has_json(command: click.Command) -> bool:
    types = (each.type for each in command.params if each.name == "output")
    return any(isinstance(each, click.Choice) and "json" in each.choices for each in types)


@pytest.fixture(autouse=True)
def _fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A valid fleet, and no cluster that answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    Path("tenants.yaml").write_text(SOUND)
    Path("before.yaml").write_text(SOUND)
    Path("broken.yaml").write_text(BROKEN)
    cluster = {"name": "c", "cluster": {"server": "https://127.0.0.1:9"}}
    context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
    config = {
        "clusters": [cluster],
        "contexts": [context],
        "current-context": "c",
        "users": [{"name": "u", "user": {}}],
    }
    Path("kubeconfig").write_text(json.dumps({"apiVersion": "v1", "kind": "Config", **config}))


def test_every_command_with_json_is_tried_here() -> None:
    with_json = {path for path in commands() if has_json(leaf(path))}
    assert with_json == COMPLETE.keys()


def parsed(text: str) -> dict[str, Any]:
    """The one document on stdout. Raises: AssertionError: it is not strictly JSON, or lacks version and kind."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    found: dict[str, Any] = json.loads(text, parse_constant=refuse)
    assert list(found)[:2] == ["apiVersion", "kind"]
    assert found["apiVersion"] == "tenantry/v1"
    text.encode("ascii")
    return found


# --- every command, every failure -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Failure:
    """arguments: before and after those of the command; codes: which `error.code` is right, at the exit code."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    exit: int
    codes: frozenset[str]


def failure(*after: str, exit: int = 2, codes: str, before: tuple[str, ...] = ()) -> Failure:
    return Failure(before, after, exit, frozenset(codes.split()))


FAILURES = {
    "no-file": failure(before=("-f", "nowhere.yaml"), codes="no-file"),
    "directory": failure(before=("-f", "."), codes="no-file"),
    "hostile-name": failure(before=("-f", "\udcff\x1b[31m\n.yaml"), codes="no-file"),
    "unknown-option": failure("--outptu", "--nonsense=1", codes="usage"),
    "unknown-short-option": failure("-z", codes="usage"),
    "value-for-a-flag": failure("--help=yes", codes="usage"),
    "too-many-arguments": failure("a", "b", "c", "d.yaml", codes="usage unknown-name"),  # `promote` takes any number
}
WITHOUT_A_FILE = {("import",)}
"""They do not read tenants.yaml."""
NEED_A_CLUSTER = {path for path in COMPLETE if path[-1] in ("preflight", "status")} - WITHOUT_A_FILE

EDITS = {path for path in COMPLETE if path[0] in ("set", "add", "remove")}
"""Commands that work on an invalid file, so that its errors can be corrected one after the other."""
CHECK_THE_FILE = [path for path in COMPLETE if path not in WITHOUT_A_FILE | EDITS]


def run_json(capsys: Capture, path: tuple[str, ...], *after: str, before: tuple[str, ...] = ()) -> tuple[int, Any]:
    """Exit code and document of a failed command. Its message is on stderr, too."""
    code, out, err = tenantry(capsys, *before, *path, *COMPLETE[path], "--output", "json", *after)
    found = parsed(out)
    assert err.strip()
    assert found["kind"] == "Error"
    return code, found


@table(
    ("path", "name"),
    [
        (path, name)
        for path in COMPLETE
        for name, each in FAILURES.items()
        if not (each.before and path in WITHOUT_A_FILE)
    ],
)
def test_a_wrong_request_is_one_document(capsys: Capture, path: tuple[str, ...], name: str) -> None:
    expected = FAILURES[name]
    code, found = run_json(capsys, path, *expected.after, before=expected.before)
    assert found.keys() == {"apiVersion", "kind", "error"}
    error = found["error"]
    assert (code, error["code"] in expected.codes, error["exitCode"]) == (expected.exit, True, code), error
    assert list(error) == ["code", "message", "fix", "exitCode"]
    assert error["message"]
    assert error["fix"]


@pytest.mark.parametrize("path", CHECK_THE_FILE, ids="-".join)
def test_an_invalid_file_is_one_document_with_its_problems(capsys: Capture, path: tuple[str, ...]) -> None:
    code, found = run_json(capsys, path, before=("-f", "broken.yaml"))
    assert found.keys() == {"apiVersion", "kind", "valid", "errors", "warnings"}
    assert (code, found["valid"], [each["code"] for each in found["errors"]]) == (2, False, ["unknown-source"])
    assert found["errors"][0].keys() == {
        "location",
        "severity",
        "code",
        "message",
        "path",
        "notes",
        "fix",
    }


@pytest.mark.parametrize(
    "path",
    [path for path in COMPLETE if "-e" in leaf_options(path) and path not in WITHOUT_A_FILE | EDITS],
    ids="-".join,
)
def test_an_unknown_environment_is_one_document(capsys: Capture, path: tuple[str, ...]) -> None:
    code, found = run_json(capsys, path, "-e", "nope")
    assert (code, found["error"]["code"], found["error"]["exitCode"]) == (2, "unknown-name", 2)


@pytest.mark.parametrize("path", sorted(NEED_A_CLUSTER), ids="-".join)
def test_a_cluster_that_does_not_answer_is_one_document(capsys: Capture, path: tuple[str, ...]) -> None:
    code, found = run_json(capsys, path)
    assert (code, found["error"]["code"]) == (2, "unreachable")


@pytest.mark.parametrize("path", sorted(NEED_A_CLUSTER), ids="-".join)
def test_a_kubeconfig_that_is_none_is_one_document(capsys: Capture, path: tuple[str, ...]) -> None:
    Path("kubeconfig").write_text("]")
    code, found = run_json(capsys, path)
    assert (code, found["error"]["code"]) == (2, "not-possible")


ENDS: dict[str, tuple[BaseException, int, str]] = {
    "interrupted": (KeyboardInterrupt(), 130, "interrupted"),
    "aborted": (click.Abort(), 130, "interrupted"),
    "a-bug": (ZeroDivisionError("\udcff \x1b[31m \x00"), 3, "internal"),
    "no-memory": (MemoryError(), 3, "internal"),
    "too-deep": (RecursionError("deep"), 3, "internal"),
    "the-system": (OSError(28, "No space left on device"), 3, "internal"),
}


@table("path", COMPLETE)
@table("end", ENDS)
@table("answered", [False, True])
def test_whatever_ends_a_command_stdout_has_one_document(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...], end: str, *, answered: bool
) -> None:
    raised, code, name = ENDS[end]

    def callback(**_: Any) -> int:
        if answered:
            data_json(as_document(Refused("earlier")), "Error")
        raise raised

    with monkeypatch.context() as patch:
        patch.setattr(leaf(path), "callback", callback)
        ended, found = run_json(capsys, path)
    assert ended == code
    assert found["error"]["code"] == ("not-possible" if answered else name)


def test_a_change_that_is_refused_and_invalid_is_invalid(capsys: Capture) -> None:
    emptied = SOUND.replace("web: {", "db: {").replace("{management: hub}", "{management: hub, maxDeletions: 0}")
    Path("tenants.yaml").write_text(emptied)
    assert tenantry(capsys, "diff", "./before.yaml", "-o", "json")[0] == 4
    Path("tenants.yaml").write_text(emptied.replace("source: manifests", "source: manifest"))
    assert run_json(capsys, ("diff",))[0] == 2


def test_an_unknown_command_is_one_document_too(capsys: Capture) -> None:
    for line in (["vlidate"], ["sandbox", "sttatus"], ["bootstrap"], ["schema"], []):
        code, out, _ = tenantry(capsys, *line, "--output", "json")
        assert (code, parsed(out)["kind"], parsed(out)["error"]["code"]) == (2, "Error", "usage"), line


# --- who asks for JSON ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "asks"),
    [
        ("validate --output json", True),
        ("validate --output=json", True),
        ("validate -o json", True),
        ("validate -ojson", True),
        ("validate --output text -o json", True),
        ("-f x.yaml validate --nonsense --output json", True),
        ("--file=x.yaml validate -o json", True),
        ("preflight -f x.yaml --cluster edge -o json", True),
        ("validate", False),
        ("validate --output", False),
        ("validate -- --output json", False),
        ("validate -f --output json", True),
        ("status -e -o json", True),
        ("diff --output names", False),
        ("vlidate -o json", True),
        ("up dev --json", False),
        ("sandbox run --cluster x -- kubectl get pods -o json", False),
    ],
)
def test_json_is_asked_for_by_the_option_of_the_command_alone(line: str, *, asks: bool) -> None:
    assert asks_for_json(line.split()) is asks


def test_text_stays_text(capsys: Capture) -> None:
    assert tenantry(capsys, "-f", "nowhere.yaml", "validate")[1] == ""


# --- any value is JSON ----------------------------------------------------------------------------------------------

HOSTILE = {
    "nan": float("nan"),
    "infinity": [float("inf"), -float("inf")],
    "half a character": ("\ud800", {"\udc80": "\ud83d\ude00"}),
    "controls": "\x00\x1b[31m\x7f\u2028\r\n",
    "markup": "</script><!-- ]]>",
    "large": 10**40,
    "keys": {1: 2, None: 3, False: 4},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_values_are_valid_json(name: str) -> None:
    text = as_json({"objects": [{"value": HOSTILE[name]}]}, "Objects")
    found = parsed(text)["objects"][0]["value"]
    assert "\x7f" not in text
    json.dumps(found, ensure_ascii=False).encode()  # raises at half a character
    if name in ("controls", "markup", "large"):
        assert found == HOSTILE[name]


def test_characters_of_two_parts_are_kept() -> None:
    assert json.loads(as_json(["😀", "\\ud83d"])) == ["😀", "\\ud83d"]


# --- stdout that cannot be written ----------------------------------------------------------------------------------


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Call it to make stdout a device that is full."""
    opened = Path("/dev/full").open("w", buffering=1)  # noqa: SIM115  # closed below
    yield lambda: monkeypatch.setattr(sys, "stdout", opened)
    monkeypatch.undo()
    os.dup2(os.open(os.devnull, os.O_WRONLY), opened.fileno())
    opened.close()


@pytest.mark.parametrize("file", ["tenants.yaml", "nowhere.yaml"])
def test_a_full_disk_is_told_once(capsys: Capture, full: Callable[[], None], file: str) -> None:
    full()
    code, _, err = tenantry(capsys, "-f", file, "validate", "--output", "json")
    assert (code, err.count("error:")) == (2, 1)
