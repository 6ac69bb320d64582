"""Changed objects and fields as lines: how much of them is shown."""

from __future__ import annotations

from tenantry.cli.diff.terminal import changes
from tenantry.cli.diff.values import EVERYTHING, DisplayLimits
from tenantry.compare.diff import diff
from tests.unit.texts import planned, rocky


def lines(before: str, after: str, limits: DisplayLimits = DisplayLimits()) -> list[str]:  # noqa: B008  # a tuple
    found = diff(planned(before), planned(after)).changed
    return [f"{'  ' * depth}{sign} {text}" for sign, text, depth in changes(found, limits)]


def config(data: str, name: str = "settings") -> str:
    uses = "web: {kustomize: {source: manifests, postBuild: {substituteFrom: [{kind: ConfigMap, name: " + name + "}]}}}"
    return rocky(uses, f"clusters: {{names: [hub]}}\nconfigs: {{{name}: {{data: {data}}}}}")


def many(count: int, value: str) -> str:
    return "{" + ", ".join(f"k{number}: {value}" for number in range(count)) + "}"


def test_of_many_fields_the_first_are_shown_and_the_rest_is_counted() -> None:
    shown = lines(config(many(10, "a")), config(many(10, "b")))
    assert shown[0] == "~ ConfigMap rocky/settings"
    assert (len(shown), shown[-1]) == (10, "    and 2 more fields; --all shows them")
    assert len(lines(config(many(10, "a")), config(many(10, "b")), EVERYTHING)) == 11


def test_of_long_values_the_part_that_differs_is_shown() -> None:
    before, after = ("x" * 200 + each + "y" * 200 for each in "ab")
    (_, shown) = lines(config(f"{{k: {before}}}"), config(f"{{k: {after}}}"))
    assert shown == f"  ~ data.k: ...{'x' * 20}a{'y' * 39}... -> ...{'x' * 20}b{'y' * 39}..."
    assert (
        lines(config(f"{{k: {before}}}"), config(f"{{k: {after}}}"), EVERYTHING)[1]
        == f"  ~ data.k: {before} -> {after}"
    )


def test_of_texts_the_lines_that_differ_are_shown() -> None:
    before = "".join(f"a{number}\\n" for number in range(9))
    shown = lines(config(f'{{k: "{before}"}}'), config(f'{{k: "{before.replace("a", "b")}"}}'))
    assert shown[1:] == [
        "  ~ data.k:",
        *(f"    - a{number}" for number in range(6)),
        "    - and 12 more; --all shows them",
    ]
    long = "a\\n" * 3000
    assert lines(config(f'{{k: "{long}"}}'), config(f'{{k: "{long}b"}}'))[2] == "    ~ 3000 lines -> 3001 lines"
    assert lines(config('{k: "a\\n"}'), config('{k: "a"}'))[2] == "    ~ ends with another line break"


def test_what_a_terminal_could_take_for_a_command_is_escaped() -> None:
    shown = lines(config('{k: "a\\u202e\\u001b[31m"}'), config('{k: "\\u202e\\nb"}'))
    assert all(line.isprintable() for line in shown)


def test_of_many_objects_the_first_are_shown_and_the_rest_is_counted() -> None:
    apps = "\n".join(f"a{number}: {{kustomize: {{source: manifests, path: ./{number}}}}}" for number in range(30))
    shown = lines(rocky(apps), rocky(apps.replace("./", "./x/")))
    assert (len(shown), shown[-1]) == (51, "~ and 5 more objects; --all shows them")
