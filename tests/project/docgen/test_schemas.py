"""The command that derives the data files."""

from __future__ import annotations

from pathlib import Path

import pytest

from docgen.schemas import __main__ as schemas
from docgen.schemas.definitions import UnknownOrigin
from tenantry_sandbox.tools import store
from tenantry_sandbox.tools.catalog import ToolMissing

DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: {group}
  names: {{kind: Widget, plural: widgets}}
  scope: Namespaced
  versions:
  - {{name: v1beta1, storage: false, served: true, schema: {{openAPIV3Schema: {{properties: {{spec: {{}}}}}}}}}}
  - name: v1
    storage: true
    served: true
    schema:
      openAPIV3Schema:
        description: A widget.
        properties:
          status: {{type: object}}
          spec:
            description: What it should be.
            type: object
            properties:
              size: {{type: string, enum: [s, m], description: How large it is.}}
"""
NAME = "source.toolkit.fluxcd.io_v1_Widget.json"
TEXT = """\
{
 "group": "source.toolkit.fluxcd.io",
 "kind": "Widget",
 "plural": "widgets",
 "scope": "Namespaced",
 "source": {
  "module": "github.com/fluxcd/source-controller",
  "version": "v1.9.3"
 },
 "spec": {
  "additionalProperties": false,
  "properties": {
   "size": {
    "enum": [
     "s",
     "m"
    ],
    "type": "string"
   }
  },
  "type": "object"
 },
 "version": "v1"
}
"""


@pytest.fixture
def definition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only definition of the tools, as it were."""
    path = tmp_path / "widgets.yaml"
    path.write_text(DEFINITION.format(group="source.toolkit.fluxcd.io"))
    monkeypatch.setattr(store, "crds", lambda: (path,))
    return path


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "schemas"


@pytest.mark.usefixtures("definition")
def test_a_definition_becomes_a_data_file_without_prose(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert schemas.main([], directory) == 0

    assert {path.name: path.read_text() for path in directory.iterdir()} == {NAME: TEXT}
    assert capsys.readouterr().out == f"1 schema in {directory}, 1 changed\n"


@pytest.mark.usefixtures("definition")
def test_what_is_up_to_date_is_left_alone(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schemas.main([], directory)
    before = (directory / NAME).stat()

    assert schemas.main([], directory) == 0

    assert (directory / NAME).stat().st_ino == before.st_ino
    assert capsys.readouterr().out.endswith(", 0 changed\n")
    assert schemas.main(["--check"], directory) == 0


@pytest.mark.usefixtures("definition")
def test_check_names_what_is_stale_and_changes_nothing(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory.mkdir()
    (directory / NAME).write_text("{}")
    (directory / "old_v1_Old.json").write_text("{}")

    assert schemas.main(["--check"], directory) == 1

    told = capsys.readouterr()
    assert told.out == f"stale: {directory}/old_v1_Old.json\nstale: {directory}/{NAME}\n"
    assert told.err == "  fix: run `make schemas`\n"
    assert (directory / NAME).read_text() == "{}"


def test_a_kind_of_unknown_origin_is_refused(definition: Path) -> None:
    definition.write_text(DEFINITION.format(group="example.com"))

    with pytest.raises(UnknownOrigin) as refused:
        schemas.generate([definition])

    assert str(refused.value) == ("no module here brings Widget of example.com\n  fix: add it to tools.yaml")


def test_without_the_tools_the_command_says_what_helps(
    monkeypatch: pytest.MonkeyPatch, directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> None:
        raise ToolMissing("not built", "run `make tools`")

    monkeypatch.setattr(store, "crds", missing)

    assert schemas.main(["--check"], directory) == 2
    assert capsys.readouterr().err == "error: not built\n  fix: run `make tools`\n"


def test_the_data_files_of_the_repository_are_those_of_the_tools(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        store.crds()
    except ToolMissing:
        pytest.skip("the tools are not built")

    assert schemas.main(["--check"]) == 0, capsys.readouterr().out
