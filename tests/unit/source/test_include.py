"""Several files become one fleet, and every place is named in the file where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.messages.text import format_invalid
from tenantry.source.include import read_all
from tests.unit.texts import FRAME, told

APP = """\
tenants:
  {0}:
    clusters: {{all: true}}
    sources:
      s: {{git: {{url: https://git.example.com/x, ref: {{branch: main}}}}}}
    apps:
      web: {{kustomize: {{source: s, path: {1}}}}}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def main(patterns: str) -> str:
    """The frame with an `include:` behind it, in line 8."""
    return FRAME + f"include: {patterns}\n"


def problems(file: str = "tenants.yaml") -> str:
    with pytest.raises(InvalidFleet) as caught:
        plan_all(load_fleet(Path(file)))
    return format_invalid(caught.value) + "\n"


def test_tenants_of_the_main_file_come_first_then_those_of_each_pattern_by_the_names_of_the_files() -> None:
    write(
        {
            "tenants.yaml": main("[z/*.yaml, '[ab].yaml', '**/*.yaml']") + APP.format("main", "./"),
            "b.yaml": APP.format("third", "./"),
            "a.yaml": APP.format("second", "./"),
            "z/1.yaml": APP.format("first", "./"),
        }
    )
    with pytest.raises(InvalidFleet):  # the last pattern takes the including file as well
        load_fleet(Path("tenants.yaml"))
    assert ["main", "first", "second", "third"] == list(read_all(Path("tenants.yaml")).data["tenants"])


def test_a_file_that_several_patterns_take_is_read_once() -> None:
    write({"tenants.yaml": main("[t/*.yaml, t/a.yaml, './t/a.yaml']"), "t/a.yaml": APP.format("rocky", "./")})
    assert ["rocky"] == list(load_fleet(Path("tenants.yaml")).document.tenants)


def test_patterns_start_at_the_including_file_wherever_the_command_runs() -> None:
    write({"fleets/tenants.yaml": main("[t/*.yaml]"), "fleets/t/a.yaml": APP.format("rocky", "'{nope}'")})
    assert problems("fleets/tenants.yaml").startswith("fleets/t/a.yaml:7:42: error[unknown-placeholder]")


def test_what_only_the_plan_shows_is_told_at_its_place_in_the_included_file() -> None:
    write({"tenants.yaml": main("[t/*.yaml]"), "t/a.yaml": APP.format("kamaji", "./")})
    expected = told(
        "t/a.yaml:2:3: error[reserved-namespace]: namespace 'kamaji' of tenant 'kamaji' is reserved for the cluster"
        " or the platform",
        "  at tenants.kamaji",
        "  fix: rename the tenant, or change the environment's 'namespace'",
        "Found 1 error",
    )
    assert expected == problems()


def test_a_broken_file_hides_no_mistake_of_the_others() -> None:
    write(
        {
            "tenants.yaml": main("[t/*.yaml]") + "platforms: {}\n",
            "t/a.yaml": "tenants: [",
            "t/b.yaml": APP.format("rocky", "/"),
        }
    )
    codes = [line.split("]")[0] for line in problems().splitlines() if not line.startswith(" ")]
    expected = [
        "t/a.yaml:1:11: error[syntax",
        "t/b.yaml:7:42: error[bad-path",
        "tenants.yaml:9:1: error[unknown-key",
        "Found 3 errors",
    ]
    assert expected == codes


def test_tenants_of_the_main_file_that_are_no_mapping_are_told_once() -> None:
    write({"tenants.yaml": main("[t/*.yaml]") + "tenants: 5\n", "t/a.yaml": APP.format("rocky", "./")})
    expected = told(
        "tenants.yaml:9:10: error[wrong-type]: expected a mapping, found the number 5",
        "  at tenants",
        "Found 1 error",
    )
    assert expected == problems()


def test_hidden_files_such_as_those_editors_leave_are_not_taken() -> None:
    write({"tenants.yaml": main("[t/*.yaml]"), "t/a.yaml": APP.format("rocky", "./"), "t/.a.yaml": "junk"})
    assert ["rocky"] == list(load_fleet(Path("tenants.yaml")).document.tenants)


def test_a_link_inside_the_directory_is_followed() -> None:
    write({"tenants.yaml": main("[t/*.yaml]"), "teams/a.yaml": APP.format("rocky", "./")})
    Path("t").mkdir()
    Path("t/linked.yaml").symlink_to("../teams/a.yaml")
    assert "t/linked.yaml:2:3" == load_fleet(Path("tenants.yaml")).source.line_of(("tenants", "rocky"))


def test_a_pattern_with_a_character_that_no_file_name_holds_is_refused() -> None:
    write({"tenants.yaml": main('["a\\0b"]')})
    assert problems().startswith("tenants.yaml:8:11: error[bad-include]: ")


def test_a_missing_main_file_is_refused_as_ever() -> None:
    with pytest.raises(Refused, match=r"^gone\.yaml: no such file"):
        load_fleet(Path("gone.yaml"))


def test_a_pattern_that_would_look_at_files_without_end_is_refused() -> None:
    write({"tenants.yaml": main(f"['{'*/' * 40}x']")})
    Path("a").symlink_to(".")
    expected = told(
        f"tenants.yaml:8:11: error[bad-include]: '{'*/' * 40}...' searches too many files or directories",
        "  at include[0]",
        "  fix: narrow the pattern",
        "Found 1 error",
    )
    assert expected == problems()
