"""A clean virtual environment outside of the repository, and a directory with a small fleet in which its commands run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")
_KEPT: tuple[str, ...] = (
    "HOME",
    "PATH",
    "TMPDIR",
    "LANG",
    "UV_CACHE_DIR",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "PIP_INDEX_URL",
    "XDG_CACHE_HOME",
)
_KEPT += ("SSL_CERT_FILE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "TENANTRY_CACHE")


class Wrong(Exception):
    """Something does not work from the package as it should."""


@dataclass(frozen=True)
class Environment:
    """home: a directory of its own, which holds the environment and the project."""

    home: Path

    @property
    def project(self) -> Path:
        return self.home / "project"

    def run(self, *command: str, code: int = 0, more: Mapping[str, str] | None = None) -> str:
        """What a command prints. The programs of the environment are found first. Raises: Wrong: it ends with another code."""
        return run(list(command), self.project, code, {**self._variables(), **(more or {})})

    def python(self, program: str, code: int = 0) -> str:
        return self.run("python", "-c", program, code=code)

    def version(self, package: str) -> str:
        return self.python(f"from importlib.metadata import version; print(version('{package}'))").strip()

    def _variables(self) -> dict[str, str]:
        kept = {name: value for name in _KEPT if (value := os.environ.get(name))}
        binaries = self.home / "venv" / "bin"
        return {
            **kept,
            "PATH": f"{binaries}{os.pathsep}{kept.get('PATH', os.defpath)}",
            "VIRTUAL_ENV": str(binaries.parent),
            "NO_COLOR": "1",
        }


def made(home: Path, *packages: str) -> Environment:
    """A new environment with packages, and the smallest example as its project."""
    environment = Environment(home)
    environment.project.mkdir(parents=True)
    shutil.copy(ROOT / "examples" / "minimal" / "tenants.yaml", environment.project)
    python = home / "venv"
    run([str(UV), "venv", "--quiet", "--python", sys.executable, str(python)], home)
    run([str(UV), "pip", "install", "--quiet", "--python", str(python), *packages], home)
    return environment


def run(command: list[str], directory: Path, code: int = 0, environment: Mapping[str, str] | None = None) -> str:
    """Raises: Wrong: the command does not end with the code."""
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != code:
        words = " ".join(command)
        raise Wrong(f"`{words}` ends with {done.returncode} instead of {code}:\n{done.stdout}")
    return done.stdout


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print what is checked, and how long that took."""
    start = monotonic()
    yield
    print(f"{monotonic() - start:6.1f} s  {what}", flush=True)
