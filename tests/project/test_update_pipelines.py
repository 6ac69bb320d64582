"""The scheduled jobs of docs/updates.md, with a played `tenantry`, `gh` and forge: both push one commit with the new versions."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.blocks import ROOT

PAGE = (ROOT / "docs/updates.md").read_text()
JOBS = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
GITHUB: dict[str, Any] = next(each["jobs"]["update"] for each in JOBS if "jobs" in each)
GITLAB: dict[str, Any] = next(each["update"] for each in JOBS if "update" in each)
TENANTRY = '#!/bin/sh\nsed -i "s/1.0.0/$NEWEST/" tenants.yaml\necho raised\nexit 1\n'
GH = '#!/bin/sh\necho "gh $*" >> "$CALLS"\n'


class Repository:
    """A clone with a remote that keeps what is pushed."""

    def __init__(self, root: Path) -> None:
        self.root, self.clone = root, root / "clone"
        self.variables = {
            **os.environ,
            "PATH": f"{root / 'bin'}:{os.environ['PATH']}",
            "GIT_CONFIG_GLOBAL": str(root / "gitconfig"),
            "RUNNER_TEMP": str(root),
            "CALLS": str(root / "calls"),
            "NEWEST": "1.0.0",
            **dict.fromkeys(("CI_SERVER_HOST", "CI_PROJECT_PATH", "UPDATE_TOKEN"), "x"),
            "CI_DEFAULT_BRANCH": "main",
        }
        self.bash(f"git init -q --bare {root}/remote && git init -q -b main clone")
        # The forge's address is the directory.
        self.bash(f"git config --global url.{root}/remote.insteadOf https://update:x@x/x.git", self.clone)
        self.bash(f"git -C {root}/remote config receive.advertisePushOptions true")
        for name, text in (("bin/gh", GH), ("bin/make", "#!/bin/sh\n"), ("clone/.venv/bin/tenantry", TENANTRY)):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
            (root / name).chmod(0o755)
        (self.clone / "tenants.yaml").write_text("version: 1.0.0\n")
        (self.clone / ".gitignore").write_text(".venv\nupdate.txt\n")
        self.bash(
            f"git remote add origin {root}/remote && git add -A && git -c user.name=a -c user.email=a@b commit -qm Base",
            self.clone,
        )

    def bash(self, script: str, directory: Path | None = None) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script],
            cwd=directory or self.root,
            env=self.variables,
            check=False,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout + done.stderr

    def pushed(self) -> str:
        return self.bash(
            "git -C remote log --format=%s tenantry-update; git -C remote show tenantry-update:tenants.yaml"
        )[1]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.mark.parametrize("forge", ["github", "gitlab"])
def test_the_job_pushes_new_versions_and_fails_if_a_source_could_not_be_asked(
    forge: str, repository: Repository
) -> None:
    def job() -> list[int]:
        if forge == "gitlab":
            return [repository.bash("\n".join(GITLAB["script"]), repository.clone)[0]]
        steps = [
            each["run"] for each in GITHUB["steps"] if each.get("name") in ("raise versions", "open a pull request")
        ]
        return [repository.bash(each, repository.clone)[0] for each in steps]

    codes = [1] if forge == "gitlab" else [1, 0]
    assert job() == codes
    assert "fatal" in repository.pushed()
    repository.variables["NEWEST"] = "1.1.0"
    assert job() == codes
    assert repository.pushed() == "Raise versions\nBase\nversion: 1.1.0\n"
    if forge == "github":
        body = f"--body-file {repository.root}/update.txt"
        assert (repository.root / "calls").read_text() == f"gh pr create --title Raise versions {body}\n"
        assert (repository.root / "update.txt").read_text() == "raised\n"
