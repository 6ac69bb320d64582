"""What a shell offers after TAB: what click knows of the commands."""

from __future__ import annotations

from click.shell_completion import ShellComplete

from tenantry.cli.app import app
from tests.table import table


def offered(*words: str) -> list[str]:
    *before, start = words
    complete = ShellComplete(app, {}, "tenantry", "_TENANTRY_COMPLETE")
    return [each.value for each in complete.get_completions(before, start)]


@table(
    ("words", "expected"),
    [
        (("di",), ["diff"]),
        (("--f",), ["--file"]),
        (("render", "--dir"), ["--directory"]),
        (("list", ""), ["tenants", "apps", "clusters", "placements"]),
        (("add", ""), ["tenant", "app", "cluster", "source", "addon"]),
        (("add", "tenant", ""), []),
        (("remove", "c"), ["cluster"]),
        (("completion", ""), ["bash", "zsh", "fish"]),
    ],
)
def test_words_come_from_the_commands(words: tuple[str, ...], expected: list[str]) -> None:
    assert sorted(offered(*words)) == sorted(expected)
