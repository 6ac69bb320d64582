"""The reference of tenants.yaml is complete, true and fresh."""

from __future__ import annotations

from pathlib import Path

import pytest

from docgen.reference import examples, page
from docgen.reference.__main__ import PAGE, main
from docgen.reference.sections import Section, sections
from tenantry.load import load_fleet, plan_all


def test_every_key_has_a_text_and_every_section_an_example_that_shows_all_its_keys() -> None:
    assert examples.gaps() == []


@pytest.mark.parametrize("section", sections(), ids=lambda section: section.model.__name__)
def test_an_example_is_a_piece_of_a_fleet_that_works(section: Section, tmp_path: Path) -> None:
    plans = plan_all(load_fleet(examples.write_fleet(section, tmp_path / "fleet")))
    assert plans["dev"].objects


def test_the_published_page_is_what_the_generator_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page.page(), "stale: run `make reference`, and read the difference"


def test_what_is_missing_is_named_with_the_place_to_write_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for file in examples.EXAMPLES.glob("*.yaml"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "Capi.yaml").unlink()
    (tmp_path / "Limits.yaml").write_text("defaults: {limits: {default: {cpu: 1}, max: {cpu: 2}, min: {cpu: 1}}}\n")
    (tmp_path / "Gone.yaml").write_text("tenants: {}\n")
    real = examples.text_of
    monkeypatch.setattr(examples, "EXAMPLES", tmp_path)
    monkeypatch.setattr(examples, "text_of", lambda model, field: "" if field == "platform" else real(model, field))
    assert examples.gaps() == [
        "key 'platform' of the top level (Document.platform in tenantry.model.document) has no text: write one below the field",
        "section 'clusters.<name>.kubeconfig.capi' has no example: write docgen/reference/examples/Capi.yaml",
        "the example of section 'tenants.<name>.limits' does not show 'defaultRequest': add it to Limits.yaml",
        "no part of the file is a 'Gone' (any more): remove docgen/reference/examples/Gone.yaml",
    ]


def test_the_command_writes_a_stale_page_and_only_names_it_when_asked_to_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "reference.md"
    assert main(["--check"], file) == 1
    assert capsys.readouterr() == (f"stale: {file}\n", "  fix: run `make reference`, and read the difference\n")
    assert not file.exists()
    assert main([], file) == 0
    assert capsys.readouterr().out == f"{file}: written\n"
    assert main(["--check"], file) == 0
    assert main([], file) == 0
    assert capsys.readouterr().out == f"{file}: not changed\n"


def test_the_command_refuses_to_write_an_incomplete_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("docgen.reference.__main__.gaps", lambda: ["section 'x' has no example"])
    assert main([], tmp_path / "reference.md") == 2
    assert capsys.readouterr().err == "error: section 'x' has no example\n"
    assert list(tmp_path.iterdir()) == []
