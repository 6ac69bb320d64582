"""Every example is a fleet that works, and says how to use it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tenantry.load import fleet_of, load_fleet, plan_all
from tenantry.source.parse import parse

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(each.name for each in EXAMPLES.iterdir() if each.is_dir())
READMES = sorted(EXAMPLES.glob("*/README.md"))


@pytest.mark.parametrize("example", NAMES)
def test_an_example_is_sound_and_yields_objects_in_every_environment(example: str) -> None:
    plans = plan_all(load_fleet(EXAMPLES / example / "tenants.yaml"))
    assert {environment for environment, plan in plans.items() if not plan.objects} == set()


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.parent.name)
def test_every_file_that_an_examples_readme_links_to_is_there(readme: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", readme.read_text(encoding="utf-8"))
    assert [link for link in links if not (readme.parent / link).exists()] == []


@pytest.mark.parametrize(
    "project",
    sorted(each for each in EXAMPLES.glob("*/Pulumi.yaml") if each.parent.name != "component"),
    ids=lambda project: project.parent.name,
)
def test_an_examples_project_runs_the_repositorys_program_for_each_environment(project: Path) -> None:
    example = project.parent
    assert (example / "__main__.py").resolve() == EXAMPLES.parent / "__main__.py"
    assert yaml.safe_load(project.read_text())["runtime"]["options"]["virtualenv"] == "../../.venv"
    stacks = {file.name for file in example.glob("Pulumi.*.yaml")}
    assert stacks == {f"Pulumi.{each}.yaml" for each in load_fleet(example / "tenants.yaml").environments}


def test_the_add_on_with_the_guides_own_chart_fits_into_the_fleet_of_kamaji() -> None:
    example = EXAMPLES / "kamaji"
    [block] = re.findall(r"^```yaml\n(.*?)^```$", (example / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    fleet = yaml.safe_load((example / "tenants.yaml").read_text())
    fleet["platform"]["addons"].update(yaml.safe_load(block))
    [plan] = plan_all(fleet_of(parse(yaml.safe_dump(fleet).encode(), "tenants.yaml"))).values()
    urls = {each.manifest["spec"]["url"] for each in plan.objects if each.id.kind == "HelmRepository"}
    assert urls == {"https://charts.jetstack.io"}
