"""A review in a terminal and in a comment: how it is cut and folded. Whole outputs are golden files."""

from __future__ import annotations

import click

from tenantry.cli.lines import MARKER, Line, as_markdown, as_text, section
from tests.browser import made
from tests.unit.facts.reviews import reviewed
from tests.unit.texts import rocky

MANY = 60
APPS = "\n".join(f"app{number}: {{kustomize: {{source: manifests, path: ./{number}}}}}" for number in range(MANY))
BEFORE, AFTER = rocky(APPS), rocky(APPS.replace("path: ./", "path: ./next/"))
VALUES = "web: {helm: {source: charts, chart: web, version: 1.0.0, values: {%s}}}"


def values(count: int, text: str) -> str:
    return rocky(VALUES % ", ".join(f"k{number}: '{text} {number}'" for number in range(count)))


def text(before: str, after: str) -> list[str]:
    return click.unstyle(as_text(reviewed(before, after), "main")).splitlines()


def test_every_change_and_every_value_is_shown() -> None:
    assert sum(line.startswith("  ~ rocky/app") for line in text(BEFORE, AFTER)) == MANY
    assert sum("helm.values.k" in line for line in text(values(20, "a"), values(20, "b"))) == 20


def test_a_long_value_is_cut_to_where_it_differs() -> None:
    before, after = (values(1, f"{'x' * 100}{each}") for each in "ab")
    (line,) = (line for line in text(before, after) if "k0" in line)
    assert "...xxxxxxxxxxxxxxxxxxxxa 0 -> ...xxxxxxxxxxxxxxxxxxxxb 0" in line


def test_a_comment_has_the_first_dangers_and_the_number_of_the_others() -> None:
    dangers = [made.danger({made.app("a"): ["eu-1"]}, f"danger {number}") for number in range(300)]
    shown = as_markdown([made.review([], dangers)], "main", ())
    assert (shown.count("> - "), "> - 275 more" in shown) == (26, True)


def comment(before: str, after: str) -> str:
    return as_markdown(reviewed(before, after), "main", ["not\n  now"])


def test_a_comment_begins_with_its_marker_and_why_the_change_is_refused() -> None:
    shown = comment(BEFORE, AFTER)
    assert shown.startswith(f"{MARKER}\n### Fleet: what changes against `main`\n\n> [!CAUTION]\n> `not`\n> `now`\n")


def test_a_comment_folds_all_but_the_first_lines() -> None:
    opened, _, folded = comment(BEFORE, AFTER).partition("<details>")
    assert "! rocky/app0 on hub" in opened
    assert "<summary>80 more lines</summary>" in folded


def test_the_name_of_a_file_does_not_end_the_block_of_a_comment() -> None:
    shown = section("prod", [Line("+", "role: edit", comment="teams/rocky\n```\n\n@everyone <img src=x>.yaml:1:1")])
    assert [line for line in shown.splitlines() if line.startswith(("`", "@"))] == ["```diff", "```"]


def test_a_comment_is_never_longer_than_a_forge_takes() -> None:
    apps = "\n".join(
        f"app{number}: {{kustomize: {{source: manifests, path: ./{number}{'/' + 'x' * 300}}}}}" for number in range(400)
    )
    before, after = rocky(apps), rocky(apps.replace("path: ./", "path: ./next/"))
    assert len(comment(before, after)) <= 60_000
