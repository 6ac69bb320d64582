"""`tenantry init`: what it writes is a fleet without a warning, and nothing that exists is touched."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from tenantry import __version__
from tenantry.charts import OBJECTS
from tenantry.cli import init
from tenantry.load import load_fleet, plan_all, warnings_of
from tenantry_sandbox.repositories import FLEET
from tenantry_sandbox.tools.catalog import PROVIDER_VERSION
from tests.pipeline import REPOSITORY
from tests.terminal import plain, tenantry_in_terminal
from tests.unit.cli.test_cli import Capture, tenantry

TEMPLATE = REPOSITORY / "templates" / "pulumi"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    return tmp_path


def everything(root: Path) -> dict[str, str]:
    return {each.relative_to(root).as_posix(): each.read_text() for each in root.rglob("*") if each.is_file()}


def test_the_result_is_a_fleet_without_a_warning_whose_addresses_the_sandbox_serves(capsys: Capture) -> None:
    code, _, err = tenantry(capsys, "init", "fleet")
    assert (code, "error" in err) == (0, False), err
    file = Path("fleet/tenants.yaml")
    fleet = load_fleet(file)
    assert warnings_of(fleet) == ()
    assert {name: list(each.environments) for name, each in fleet.clusters.items()} == {
        "hub-dev": ["dev"],
        "hub-prod": ["prod"],
    }
    first, *others = plan_all(fleet).values()
    content = file.parent / "content" / "git"
    served = {f"http://sandbox.test/git/{each.relative_to(content)}.git" for each in content.glob("*/*")}
    assert {each.manifest["spec"]["url"] for each in first.objects if each.id.kind == "GitRepository"} <= served
    addresses = [str(each.manifest) for plan in others for each in plan.objects]
    assert [each for each in addresses if "sandbox.test" in each] == []


def test_a_remote_cluster_takes_the_chart_from_a_repository_that_the_sandbox_serves(capsys: Capture) -> None:
    assert tenantry(capsys, "init")[0] == 0
    secret = "kubeconfig.secret={name: edge-1-kubeconfig, namespace: clusters, key: value}"
    words = ("edge-1", "environments=dev", "labels.tier=edge", secret)
    code, _, err = tenantry(capsys, "add", "cluster", *words)
    assert code == 0, err
    planned = plan_all(load_fleet(Path("tenants.yaml")))["dev"]
    (chart,) = (each for each in planned.objects if each.id.kind == "HelmChart")
    source = chart.manifest["spec"]["sourceRef"]["name"]
    (repository,) = (each for each in planned.objects if each.id.name == source)
    assert repository.manifest["spec"]["url"] == f"http://sandbox.test/git/{FLEET}.git"
    assert chart.manifest["spec"]["chart"].removeprefix("./") == "charts/objects"


def test_it_is_the_template_for_pulumi_new_with_the_placeholders_filled_in(capsys: Capture) -> None:
    assert tenantry(capsys, "init", "acme", "--kubeconfig", 'a "b".yaml', "--context", "hub")[0] == 0
    written, template = everything(Path("acme")), everything(TEMPLATE)
    assert written.keys() - template.keys() == {"tenants.schema.json"}
    assert {path for path, text in template.items() if written[path] != text} == {"Pulumi.yaml", "Pulumi.dev.yaml"}
    before, after = (yaml.safe_load(each["Pulumi.yaml"]) for each in (template, written))
    asked = before.pop("template")
    assert after == {**before, "name": "acme", "description": asked["description"]}
    assert yaml.safe_load(written["Pulumi.dev.yaml"]) == {
        "config": {"tenantry:kubeconfig": 'a "b".yaml', "tenantry:context": "hub"}
    }
    assert asked["config"].keys() == {"tenantry:kubeconfig", "tenantry:context"}
    default = asked["config"]["tenantry:kubeconfig"]["default"]
    assert yaml.safe_load(template["Pulumi.dev.yaml"])["config"]["tenantry:kubeconfig"] == default
    assert written["tenants.schema.json"] == tenantry(capsys, "schema")[1]


def test_the_template_has_the_chart_and_the_versions_of_this_package() -> None:
    ours = {each.relative_to(OBJECTS).as_posix(): each.read_text() for each in OBJECTS.rglob("*") if each.is_file()}
    assert everything(TEMPLATE / "charts" / "objects") == ours
    requirements = (TEMPLATE / "requirements.txt").read_text()
    wanted = [line for line in requirements.splitlines() if not line.startswith("#")]
    ours = [f"{name}>={__version__},<0.2" for name in ("tenantry[pulumi]", "tenantry-sandbox")]
    assert wanted == [*ours, f"pulumi-kubernetes=={PROVIDER_VERSION}"]
    assert re.findall(r"dependencies = (\[.*\])\n", (TEMPLATE / "pyproject.toml").read_text()) == [json.dumps(wanted)]
    assert f"\ntenantry=={__version__}\n" in (TEMPLATE / "tenantry.lock").read_text()
    assert f"\npulumi-kubernetes=={PROVIDER_VERSION} " in (TEMPLATE / "requirements.lock").read_text()


NEXT = """\
20 files in HERE/fleet

Next:
  cd fleet
  python3 -m venv .venv                    # Pulumi uses it too
  .venv/bin/pip install WHAT
  . .venv/bin/activate
  tenantry validate                        # check tenants.yaml
  tenantry render dev                      # look at the objects
  tenantry sandbox tools                   # once: about 20 minutes, 17 GB
  tenantry sandbox up                      # real API servers and Flux
  tenantry sandbox run -- pulumi stack select --create dev
  tenantry sandbox run -- tenantry up dev  # apply it, wait until ready

README.md says how to get to real clusters.
"""


@pytest.mark.parametrize(
    ("source", "what"),
    [(None, "-r requirements.txt"), (Path("/a b/tenantry"), "'/a b/tenantry' -r requirements.txt")],
)
def test_it_says_what_to_type_next(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, source: Path | None, what: str
) -> None:
    monkeypatch.setattr(init, "_local_source", lambda name: source if name == "tenantry" else None)
    monkeypatch.chdir(tempfile.mkdtemp(dir="."))
    code, out, err = tenantry(capsys, "init", "fleet")
    assert (code, out + err) == (0, NEXT.replace("WHAT", what).replace("HERE", str(Path.cwd())))
    assert max(map(len, NEXT.splitlines())) <= 80


def test_it_knows_the_wheel_or_the_checkout_that_it_was_installed_from(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recorded(text: str | None) -> Path | None:
        installed = SimpleNamespace(read_text=lambda name: text if name == "direct_url.json" else None)
        monkeypatch.setattr(init, "distributions", lambda **_: [installed])
        return init._local_source("tenantry")

    wheel = here / "a b" / "tenantry.whl"
    wheel.parent.mkdir()
    wheel.touch()
    assert recorded(json.dumps({"url": wheel.as_uri(), "archive_info": {}})) == wheel
    wheel.unlink()
    assert recorded(json.dumps({"url": wheel.as_uri(), "archive_info": {}})) is None
    assert recorded(json.dumps({"url": "https://example.com/tenantry.whl"})) is None
    assert recorded(None) is None


def test_on_a_terminal_a_wrong_answer_is_asked_for_again() -> None:
    keys = [
        ("Name of the project [fleet]: ", "a b\r"),
        ("Name of the project [fleet]: ", "acme\r"),
        ("the default is the sandbox's [.sandbox/hub-dev/kubeconfig]: ", "\r"),
        ("empty for the current one: ", "hub\r"),
    ]
    code, shown = tenantry_in_terminal("init", "fleet", columns=200, keys=keys)
    assert (code, "Next:" in plain(shown)) == (0, True), shown
    assert "Error: 'a b' is not a name of up to 100 letters, digits, '-', '_' and '.'" in plain(shown)
    assert "name: acme\n" in Path("fleet/Pulumi.yaml").read_text()
    assert yaml.safe_load(Path("fleet/Pulumi.dev.yaml").read_text()) == {
        "config": {"tenantry:kubeconfig": ".sandbox/hub-dev/kubeconfig", "tenantry:context": "hub"}
    }


def test_what_exists_stays_as_it_is(capsys: Capture) -> None:
    Path("fleet/.github").mkdir(parents=True)
    for path in ("fleet/README.md", "fleet/Pulumi.prod.yaml"):
        Path(path).write_text("mine\n")
    code, _, err = tenantry(capsys, "init", "fleet")
    assert (code, "note: README.md exists and stays as it is\n" in err) == (0, True)
    mine = {path for path, text in everything(Path("fleet")).items() if text == "mine\n"}
    assert mine == {"README.md", "Pulumi.prod.yaml"}


def test_a_project_is_written_around_an_imported_file(capsys: Capture) -> None:
    Path("tenants.yaml").write_text("imported\n")
    code, _, err = tenantry(capsys, "init")
    assert (code, "note: tenants.yaml exists and stays as it is" in err) == (0, True)
    assert Path("tenants.yaml").read_text() == "imported\n"
    assert not Path("content").exists()
    assert sorted(each.name for each in Path().glob("Pulumi*")) == ["Pulumi.yaml"]


def test_a_symlink_out_of_the_directory_is_not_followed(capsys: Capture) -> None:
    Path("fleet").mkdir()
    Path("elsewhere").mkdir()
    Path("fleet/charts").symlink_to(Path("elsewhere").absolute())
    code, _, err = tenantry(capsys, "init", "fleet")
    assert (code, "charts/objects/Chart.yaml would lie outside of fleet" in err) == (2, True)
    assert (everything(Path("elsewhere")), [each.name for each in Path("fleet").iterdir()]) == ({}, ["charts"])


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--name", "a b"), "Invalid value for '--name': 'a b' is not a name of up to 100 letters"),
        (("--kubeconfig",), "Option '--kubeconfig' requires an argument"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused(
    capsys: Capture, here: Path, words: tuple[str, ...], error: str
) -> None:
    code, out, err = tenantry(capsys, "init", "fleet", *words)
    assert (code, out, error in err) == (2, "", True), err
    assert everything(here) == {}


def test_a_disk_that_is_full_leaves_nothing_behind(
    capsys: Capture, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str, encoding: str, write: object = Path.write_text) -> None:
        if "apiVersion: tenantry/v1" in text:
            raise OSError(28, "No space left on device", str(path))
        write(path, text, encoding)  # type: ignore[operator]

    monkeypatch.setattr(Path, "write_text", full)
    code, _, err = tenantry(capsys, "init", "fleet")
    assert (code, err.splitlines()[0]) == (2, "error: fleet cannot be written: No space left on device")
    assert list(here.iterdir()) == []
