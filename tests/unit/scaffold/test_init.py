"""`tenantry init`: what it writes is a fleet without a warning, and nothing that exists is touched."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from docgen.template.__main__ import template
from tenantry.load import load_fleet, plan_all, warnings_of
from tenantry.sandbox.spec import content_beside, spec_of
from tenantry.scaffold.installed import local_source
from tests.documents import check
from tests.table import table
from tests.terminal import plain, tenantry_in_terminal
from tests.unit.cli.test_cli import Capture, tenantry


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    return tmp_path


def everything(root: Path) -> dict[str, str]:
    return {each.relative_to(root).as_posix(): each.read_text() for each in root.rglob("*") if each.is_file()}


@pytest.mark.parametrize(
    ("options", "clusters"),
    [
        ((), {"hub-dev": ["dev"], "hub-prod": ["prod"]}),
        (("--remote", "edge-1"), {"hub-dev": ["dev"], "hub-prod": ["prod"], "edge-1": ["dev"]}),
        (("--tenant", "-"), {"hub-dev": ["dev"], "hub-prod": ["prod"]}),
        (("-e", "dev=hub", "-e", "prod=hub", "--remote", "edge=prod"), {"hub": ["dev", "prod"], "edge": ["prod"]}),
        (("-e", "on=null", "--tenant", "1e3", "--forge", "gitlab"), {"null": ["on"]}),
        (("-e", "live", "--remote", "a", "--forge", "none"), {"hub-live": ["live"], "a": ["live"]}),
    ],
    ids=" ".join,
)  # fmt: skip
def test_the_result_is_a_fleet_without_a_warning(
    capsys: Capture, options: tuple[str, ...], clusters: dict[str, list[str]]
) -> None:
    code, _, err = tenantry(capsys, "init", "fleet", *options)
    assert (code, "error" in err) == (0, False), err
    file = Path("fleet/tenants.yaml")
    fleet = load_fleet(file)
    assert warnings_of(fleet) == ()
    assert {name: list(each.environments) for name, each in fleet.clusters.items()} == clusters
    first, *others = plan_all(fleet).values()
    spec = spec_of(fleet, first, content_beside(file), file)
    served = {f"http://127.0.0.1:8930/git/{each.parent.name}/{each.name}.git" for each in spec.git.glob("*/*")}
    if spec.own:
        assert (spec.own.root / spec.own.path / "Chart.yaml").is_file()
        served.add(f"http://127.0.0.1:8930/git/{spec.own.name}.git")
    assert {each.manifest["spec"]["url"] for each in first.objects if each.id.kind == "GitRepository"} <= served
    addresses = [str(each.manifest) for plan in others for each in plan.objects]
    assert [each for each in addresses if "127.0.0.1" in each] == []
    assert [each for each in Path("fleet").rglob("*.yml") if not list(yaml.safe_load_all(each.read_text()))] == []


def test_it_is_the_template_for_pulumi_new(capsys: Capture) -> None:
    """So the texts in templates/pulumi, which are looked at, are those of `init`."""
    assert tenantry(capsys, "init", "fleet")[0] == 0
    written, expected = everything(Path("fleet")), {path: file.text for path, file in template().items()}
    assert written.keys() - expected.keys() == {"tenants.schema.json"}
    assert {path for path, text in expected.items() if written[path] != text} == {"Pulumi.yaml", ".tenantry.yaml"}
    assert [path for path, file in template().items() if file.executable] == [
        path for path in sorted(written) if (Path("fleet") / path).stat().st_mode & 0o100
    ]


NEXT = """\
29 files in fleet:
  .ci/, .github/, .gitignore, .tenantry.yaml, Pulumi.dev.yaml, Pulumi.prod.yaml,
  Pulumi.yaml, README.md, __main__.py, action.yml, charts/, content/, policy/,
  pyproject.toml, requirements.lock, requirements.txt, tenantry.lock,
  tenants.schema.json, tenants.yaml

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


@table(
    "source, what",
    [(None, "-r requirements.txt"), (Path("/a b/tenantry"), "'/a b/tenantry[policy,pulumi,sandbox]'")],
)
def test_it_says_what_to_type_next_and_keeps_within_80_columns(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, source: Path | None, what: str
) -> None:
    monkeypatch.setattr("tenantry.cli.init.local_source", lambda: source)
    monkeypatch.chdir(tempfile.mkdtemp(dir="."))
    code, out, err = tenantry(capsys, "init", "fleet")
    assert (code, out + err) == (0, NEXT.replace("WHAT", what))
    assert max(map(len, NEXT.splitlines())) <= 80


def _recorded(monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    installed = SimpleNamespace(read_text=lambda name: text if name == "direct_url.json" else None)
    monkeypatch.setattr("tenantry.scaffold.installed.distribution", lambda _: installed)


def test_it_knows_the_wheel_or_the_checkout_that_it_was_installed_from(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = here / "a b" / "tenantry.whl"
    wheel.parent.mkdir()
    wheel.touch()
    _recorded(monkeypatch, json.dumps({"url": wheel.as_uri(), "archive_info": {}}))
    assert local_source() == wheel
    wheel.unlink()
    assert local_source() is None
    _recorded(monkeypatch, json.dumps({"url": "https://example.com/tenantry.whl"}))
    assert local_source() is None
    _recorded(monkeypatch, None)
    assert local_source() is None


def test_on_a_terminal_it_asks_what_no_option_says() -> None:
    keys = [
        ("changes reach them [dev prod]: ", "test, live\r"),
        ("Management cluster of test [hub-test]: ", "\r"),
        ("Management cluster of live [hub-live]: ", "hub\r"),
        ("Remote clusters, such as edge-1=test (- for none) [-]: ", "edge-1=live\r"),
        ("Tenants' repositories are below [https://github.com/acme]: ", "\r"),
        ("First tenant (- for none) [rocky]: ", "-\r"),
        ("Pipelines for (github, gitlab, none) [github]: ", "none\r"),
    ]
    url = "https://github.com/acme/fleet.git"
    code, shown = tenantry_in_terminal("init", "fleet", "--repository", url, columns=80, keys=keys)
    assert (code, "Next:" in plain(shown)) == (0, True), shown
    answers = yaml.safe_load(Path("fleet/.tenantry.yaml").read_text())["answers"]
    assert answers == {
        "name": "fleet",
        "environments": [{"name": "test", "management": "hub-test"}, {"name": "live", "management": "hub"}],
        "remotes": [{"name": "edge-1", "environment": "live"}],
        "repository": url,
        "tenantRepositories": "https://github.com/acme",
        "tenant": None,
        "forge": "none",
        "sandboxPort": 8930,
        "prefix": "",
    }


@pytest.mark.parametrize(
    ("taken", "error"),
    [
        ("README.md", "files are in the way, so nothing was written: README.md\n  fix: choose another directory, or add"),
        ("policy", "files are in the way, so nothing was written: policy/PulumiPolicy.yaml, policy/__main__.py\n"),
        ("tenants.yaml", "fleet/tenants.yaml exists: this directory holds a fleet\n  fix: choose another directory, or add --keep"),
        (".tenantry.yaml", "fleet/.tenantry.yaml exists: this project was made by `tenantry init`\n  fix: run `tenantry upgrade`"),
    ],
)  # fmt: skip
def test_what_exists_is_never_touched(capsys: Capture, taken: str, error: str) -> None:
    Path("fleet").mkdir()
    (Path("fleet") / taken).write_text("mine\n")
    code, out, err = tenantry(capsys, "init", "fleet")
    assert (code, out, err.startswith(f"error: {error}")) == (2, "", True), err
    assert everything(Path("fleet")) == {taken: "mine\n"}


def test_a_symlink_out_of_the_directory_is_not_followed(capsys: Capture) -> None:
    Path("fleet").mkdir()
    Path("elsewhere").mkdir()
    Path("fleet/charts").symlink_to(Path("elsewhere").absolute())
    code, _, err = tenantry(capsys, "init", "fleet")
    assert (code, "charts/objects/Chart.yaml" in err, everything(Path("elsewhere"))) == (2, True, {})


def test_the_others_are_written_if_existing_files_are_kept(capsys: Capture) -> None:
    Path("README.md").write_text("mine\n")
    code, _, err = tenantry(capsys, "init", "--keep-existing")
    assert (code, "note: README.md exists and stays as it is" in err) == (0, True)
    assert Path("README.md").read_text() == "mine\n"
    assert tenantry(capsys, "upgrade", "--check")[0] == 0


def test_a_project_is_written_around_an_imported_file(capsys: Capture) -> None:
    Path("tenants.yaml").write_text("imported\n")
    code, _, err = tenantry(capsys, "init", "--keep-existing", "--tenant", "-", "--environment", "live=hub")
    assert (code, "note: tenants.yaml exists and stays as it is" in err) == (0, True)
    assert Path("tenants.yaml").read_text() == "imported\n"
    assert Path("Pulumi.live.yaml").exists()


def test_a_dry_run_writes_nothing(capsys: Capture, here: Path) -> None:
    code, out, err = tenantry(capsys, "init", "fleet", "--dry-run")
    assert (code, "--- tenants.yaml\n# yaml-language-server" in out, "Nothing was written." in err) == (0, True, True)
    code, out, _ = tenantry(capsys, "init", "fleet", "--dry-run", "-o", "json")
    check(out)
    found = json.loads(out)
    assert (code, found["written"], len(found["files"]), found["next"][-1]) == (
        0,
        False,
        29,
        "tenantry sandbox run -- tenantry up dev",
    )
    assert everything(here) == {}


def test_in_a_repository_it_takes_the_address_and_the_directory_from_git(capsys: Capture) -> None:
    subprocess.run(["git", "init", "-q", "."], check=True)
    subprocess.run(["git", "remote", "add", "origin", "git@gitlab.example.com:acme/mono.git"], check=True)
    assert tenantry(capsys, "init", "--dry-run")[1].count("https://gitlab.example.com/acme/mono.git") > 1
    assert tenantry(capsys, "init", "fleets/eu", "--remote", "edge-1")[0] == 0
    assert "path: ./fleets/eu/charts/objects" in Path("fleets/eu/tenants.yaml").read_text()
    assert not Path("fleets/eu/.gitlab-ci.yml").exists()
    code, _, err = tenantry(capsys, "init", "fleets/us", "--forge", "github")
    assert (code, err.partition(",")[0]) == (2, "error: this directory is 'fleets/us/' in its repository")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("-e", "Dev"), "environment 'Dev' must be lower-case letters, digits and '-', starting and ending with a letter or digit"),
        (("-e", "a", "-e", "a"), "environment 'a' is named twice"),
        (("-e", "a=x", "--remote", "x"), "cluster 'x' is named twice"),
        (("--remote", "x=qa"), "remote cluster 'x' is in environment 'qa', which is not named"),
        (("--remote", "=qa"), "'=qa' does not begin with the name of a remote cluster"),
        (("--repository", "https://x/{env}"), "'https://x/{env}' is not a valid URL of a repository"),
        (("--repository", "https://me:secret@example.com/a/b"), "a URL holds a user or a password"),
        (("--repository", "https://x.example.com/acme/rocky.git"), "tenant 'rocky' would deploy from the fleet's own repository"),
        (("--tenant", "flux-system"), "these answers make an invalid fleet:"),
        (("--sandbox-port", "70000"), "70000 is not a port"),
        (("--name", "a b"), "'a b' is not a valid name of the project"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_an_answer_that_cannot_be_used_is_refused(
    capsys: Capture, here: Path, options: tuple[str, ...], error: str
) -> None:
    code, out, err = tenantry(capsys, "init", "fleet", *options)
    assert (code, out, err.startswith(f"error: {error}"), "\n  fix: " in err) == (2, "", True, True), err
    assert "secret" not in err
    assert everything(here) == {}


def test_a_disk_that_is_full_leaves_nothing_behind(
    capsys: Capture, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tenantry.scaffold import write

    def full(path: Path, file: object, create: object = write._create) -> None:
        if path.name == "tenants.yaml":
            raise OSError(28, "No space left on device", str(path))
        create(path, file)  # type: ignore[operator]

    monkeypatch.setattr(write, "_create", full)
    code, _, err = tenantry(capsys, "init", "fleet")
    assert (code, err.splitlines()[0]) == (2, "error: fleet/tenants.yaml cannot be written: No space left on device")
    assert list(here.iterdir()) == []
