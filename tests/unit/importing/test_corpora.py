"""`tenantry import` of whole repositories: <case>/input against <case>/tenants.yaml and <case>/report.txt, byte by byte.

`pytest --update-golden` writes them; read the difference before committing it. Tests need no kustomize: <case>/built holds what it
builds of the directories in <case>/input.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenantry.cli.app import run

pytestmark = pytest.mark.usefixtures("plans_once")

CORPORA = Path(__file__).with_name("corpora")

CASES = {
    "flux-create": ("-e", "prod=.", "--cluster", "prod=hub"),
    # Kustomizations lead from the directories of clusters to the rest.
    "flux2-multi-tenancy": ("-e", "staging=clusters/staging", "-e", "production=clusters/production"),
    "course": (
        *("-e", "test=tenants/test", "-e", "prod=tenants/prod"),
        *("--cluster", "test=cloudy", "--cluster", "prod=cloudy"),
    ),
    # A cluster without tenants' accounts, with old versions of Flux's kinds and with what tenants.yaml does not express.
    "unprepared": ("-e", "production=."),
    # A tenant whose namespace is reserved, one whose only app is left over, and an add-on in a namespace of its own.
    "reserved": ("-e", "prod=.", "--cluster", "prod=hub"),
    # A Kustomization that applies what is not for tenants.yaml, one that hands over all that it applies, and Flux's own source.
    "handover": ("-e", "prod=.", "--cluster", "prod=hub"),
    # Kubeconfigs beside what makes the clusters, in Flux's namespace, and one of the same name in each cluster's namespace.
    "kubeconfigs": ("-e", "prod=.", "--cluster", "prod=hub"),
    # A kubeconfig beside the platform's apps, and a copy beside a tenant's; two Kustomizations of one name in two namespaces.
    "copies": ("-e", "dev=.", "--cluster", "dev=hub"),
    "hub": ("-e", "dev=dev", "-e", "qa=qa", "--cluster", "dev=north", "--cluster", "qa=north"),
}
"""The options with which each repository is imported."""
COUNTS = {
    "flux-create": (4, 3, 1, 1),
    "flux2-multi-tenancy": (6, 8, 6, 2),
    "course": (8, 12, 0, 0),
    "hub": (8, 24, 2, 0),
    "handover": (1, 3, 3, 0),
    "unprepared": (1, 4, 7, 2),
    "copies": (4, 7, 1, 0),
    "kubeconfigs": (0, 3, 4, 1),
    "reserved": (1, 4, 5, 5),
}
"""Objects that are equal, different, left where they are, and not expressible."""


@pytest.fixture(autouse=True)
def _built(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(_root: Path, directory: Path, *_: object, **_options: object) -> bytes:
        return built_file(Path.cwd().parent, directory.relative_to(Path.cwd())).read_bytes()

    monkeypatch.setattr("tenantry.importing.kustomize.build", build)
    monkeypatch.setenv("COLUMNS", "80")


def built_file(case: Path, directory: Path) -> Path:
    return case / "built" / f"{'_'.join(directory.parts)}.yaml"


def imported(case: str, target: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    monkeypatch.chdir(CORPORA / case / "input")
    assert run(["import", *CASES[case], "--to", str(target), *options]) == 0


@pytest.mark.parametrize("case", CASES)
def test_a_repository_becomes_this_file_and_this_report(
    case: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    update_golden: bool,
) -> None:
    target = tmp_path / "tenants.yaml"
    imported(case, target, monkeypatch)
    report = capsys.readouterr().out.replace(str(target), "tenants.yaml")
    for name, text in {"report.txt": report, "tenants.yaml": target.read_text()}.items():
        file = CORPORA / case / name
        if update_golden:
            file.write_text(text)
        assert text == file.read_text()
    assert run(["--file", str(target), "validate"]) == 0


@pytest.mark.parametrize("case", CASES)
def test_every_object_is_told_once(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    imported(case, tmp_path / "tenants.yaml", monkeypatch, "--output", "json")
    text = capsys.readouterr().out
    document = json.loads(text)
    outcomes = [each["outcome"] for each in document["objects"]]
    names = ("equal", "different", "left", "inexpressible")
    assert {name: outcomes.count(name) for name in names} == {name: document["counts"][name] for name in names}
    assert tuple(document["counts"][name] for name in names) == COUNTS[case]
    assert document["counts"]["read"] == sum(COUNTS[case]) == len(outcomes)
    # What is not in the file has a reason.
    assert all(each["path"] or each["reasons"] for each in document["objects"])
    assert "drowned" not in text


def test_what_is_planned_under_another_name_is_compared_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    imported("kubeconfigs", tmp_path / "tenants.yaml", monkeypatch, "--output", "json")
    objects = [each for each in json.loads(capsys.readouterr().out)["objects"] if each["outcome"] == "different"]
    told = {tuple(each["planned"].values())[1:]: [change["path"][-1] for change in each["changed"]] for each in objects}
    assert told == {
        ("Kustomization", "kubeconfigs", "edge-infra"): ["deletionPolicy", "name", "serviceAccountName"],
        ("Kustomization", "east", "east-infra"): ["deletionPolicy", "name", "key", "serviceAccountName"],
        ("Kustomization", "west", "west-infra"): ["deletionPolicy", "name", "key", "serviceAccountName"],
    }
