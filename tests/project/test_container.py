"""The container file names the versions that the project is tested with."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tenantry_sandbox.tools.catalog import PROVIDER_VERSION

ROOT = Path(__file__).resolve().parents[2]


def test_pulumi_and_its_provider_are_those_of_the_lock() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    given = dict(re.findall(r"^ARG (\w+)=(\S+)$", text, re.MULTILINE))
    locked = {
        each["name"]: each["version"]
        for each in tomllib.loads((ROOT / "uv.lock").read_text())["package"]
        if "version" in each
    }
    assert given == {
        "PYTHON": "3.11-slim",
        "PULUMI": locked["pulumi"],
        "PROVIDER": locked["pulumi-kubernetes"],
    }
    assert locked["pulumi-kubernetes"] == PROVIDER_VERSION


def test_what_the_wheel_is_built_from_is_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    needed = {"README.md", "components", "hatch_build.py", "pyproject.toml", "templates", "tenantry"}
    needed |= {"tenants.schema.json", "tenants-included.schema.json"}
    assert not needed.intersection(ignored)
