"""What a shell offers after TAB."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from tenantry.cli.app import app
from tests.unit.texts import rocky

TEXT = rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}")
FRAME, _, TENANTS = TEXT.partition("tenants:\n")


@pytest.fixture(autouse=True)
def _below_the_fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fleet is in the parent directory, and its tenant in an included file."""
    (tmp_path / "tenants.yaml").write_text(FRAME + "include: [rocky.yaml]\ntenants: {rocky: {}}\n")
    (tmp_path / "rocky.yaml").write_text("tenants:\n" + TENANTS)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")


def offered(*words: str) -> list[str]:
    *before, start = words
    complete = ShellComplete(app, {}, "tenantry", "_TENANTRY_COMPLETE")
    return [each.value for each in complete.get_completions(before, start)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("di",), ["diff"]),
        (("--f",), ["--file"]),
        (("render", "--dir"), ["--directory"]),
        (("render", "--environment", ""), ["dev"]),
        (("sandbox", "up", "-e", ""), ["dev"]),
        (("explain", ""), ["rocky", "platform"]),
        (("explain", "rocky/"), ["rocky/web"]),
        (("why", "rocky/w"), ["rocky/web"]),
        (("status", ""), ["dev"]),
        (("preflight", "d"), ["dev"]),
        (("diff", "--between", "dev", ""), ["dev"]),
        (("preflight", "--cluster", "e"), ["edge"]),
        (("bootstrap", ""), ["hub", "edge"]),
        (("list", ""), ["tenants", "apps", "clusters", "placements"]),
        (("list", "apps", "--tenant", ""), ["rocky", "platform"]),
        (("status", "--cluster", "e"), ["edge"]),
        (("promote", ""), ["dev"]),
        (("promote", "dev", ""), ["dev"]),
        (("promote", "dev", "prod", "rocky/"), ["rocky/web"]),
        (("add", ""), ["tenant", "app", "cluster", "source", "addon"]),
        (("add", "tenant", ""), []),
        (("remove", "c"), ["cluster"]),
        (("completion", ""), ["bash", "zsh", "fish"]),
    ],
)
def test_words_come_from_the_commands_and_the_fleet(words: tuple[str, ...], expected: list[str]) -> None:
    assert sorted(offered(*words)) == sorted(expected)


@pytest.mark.parametrize("words", [("-f", "other.yaml", "render", "-e", ""), ("render", "-f", "other.yaml", "-e", "")])
def test_the_file_that_was_named_counts(words: tuple[str, ...]) -> None:
    Path("other.yaml").write_text(TEXT.replace("dev", "prod"))
    assert offered(*words) == ["prod"]


def test_a_broken_file_offers_nothing() -> None:
    Path("tenants.yaml").write_text("a: [")
    assert offered("render", "-e", "") == []
