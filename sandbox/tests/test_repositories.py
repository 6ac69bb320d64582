import subprocess
from pathlib import Path

import pytest

from tenantry.charts import OBJECTS
from tenantry_sandbox.repositories import commit, folders, publish


@pytest.fixture
def source(tmp_path: Path) -> Path:
    web = tmp_path / "source" / "rocky" / "manifests" / "web"
    web.mkdir(parents=True)
    (web / "web.yaml").write_text("kind: Deployment\n")
    return tmp_path / "source"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "served"


def git(repository: Path, *arguments: str) -> str:
    command = ["git", "--git-dir", str(repository), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_folder_two_levels_deep_becomes_a_repository(source: Path, target: Path) -> None:
    publish(source, target)

    served = target / "rocky" / "manifests.git"
    assert git(served, "ls-tree", "-r", "--name-only", "main") == "web/web.yaml"
    assert git(served, "show", "main:web/web.yaml") == "kind: Deployment"


def test_the_folders_may_be_named_from_where_one_is(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(source.parent)

    publish(Path(source.name), target)

    assert git(target / "rocky" / "manifests.git", "ls-tree", "-r", "--name-only", "main") == "web/web.yaml"


def test_hidden_folders_and_lone_files_are_passed_over(source: Path) -> None:
    (source / ".cache" / "x").mkdir(parents=True)
    (source / "rocky" / ".idea").mkdir()
    (source / "rocky" / "README.md").write_text("about")

    assert folders(source) == ("rocky/manifests",)


def test_the_chart_for_baselines_is_served_as_a_fleets_repository_has_it(source: Path, target: Path) -> None:
    publish(source, target)
    files = git(target / "tenantry" / "fleet.git", "ls-tree", "-r", "--name-only", "main").splitlines()
    assert files == sorted(
        f"charts/objects/{each.relative_to(OBJECTS)}" for each in OBJECTS.rglob("*") if each.is_file()
    )

    own = source / "tenantry" / "fleet"
    own.mkdir(parents=True)
    (own / "tenants.yaml").touch()
    publish(source, target)
    assert git(target / "tenantry" / "fleet.git", "ls-tree", "-r", "--name-only", "main") == "tenants.yaml"


def test_no_folders_are_no_repositories_but_the_fleets_own(tmp_path: Path, target: Path) -> None:
    publish(tmp_path / "missing", target)
    assert [path.name for path in target.glob("*/*")] == ["fleet.git"]


def test_equal_folders_give_equal_commits(source: Path, target: Path, tmp_path: Path) -> None:
    publish(source, target)
    publish(source, tmp_path / "again")

    commits = {git(each / "rocky" / "manifests.git", "rev-parse", "main") for each in (target, tmp_path / "again")}
    assert len(commits) == 1


def test_publishing_commits_only_what_changed(source: Path, target: Path) -> None:
    publish(source, target)
    publish(source, target)
    (source / "rocky" / "manifests" / "web" / "web.yaml").unlink()
    (source / "rocky" / "manifests" / "new.yaml").write_text("kind: Service\n")
    publish(source, target)

    served = target / "rocky" / "manifests.git"
    assert git(served, "rev-list", "--count", "main") == "2"
    assert git(served, "ls-tree", "-r", "--name-only", "main") == "new.yaml"


def test_a_repository_around_the_folder_is_not_touched(source: Path, target: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(source)], check=True)

    publish(source, target)

    assert git(source / ".git", "count-objects") == "0 objects, 0 kilobytes"


def test_a_repository_whose_folder_is_gone_is_withdrawn(source: Path, target: Path) -> None:
    publish(source, target)
    (source / "rocky" / "manifests").rename(source / "rocky" / "renamed")

    publish(source, target)

    assert [path.name for path in (target / "rocky").iterdir()] == ["renamed.git"]


def test_a_commit_changes_the_named_files_and_no_other(source: Path, target: Path) -> None:
    (source / "rocky" / "manifests" / "old.yaml").write_text("kind: Secret\n")
    publish(source, target)

    changes = {"db/db.yaml": "kind: StatefulSet\n", "old.yaml": None}
    made = commit(target, "rocky/manifests", changes, "db")

    served = target / "rocky" / "manifests.git"
    assert git(served, "rev-parse", "main") == made
    assert git(served, "ls-tree", "-r", "--name-only", "main").splitlines() == ["db/db.yaml", "web/web.yaml"]
    assert git(served, "show", "--no-patch", "--format=%an %s", "main") == "sandbox db"
