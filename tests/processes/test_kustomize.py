"""What stands below `built` in the corpora of `import` is what kustomize builds."""

from __future__ import annotations

import shutil
import subprocess

import pytest
import yaml

from tests.unit.importing.test_corpora import CORPORA


def test_what_stands_below_built_is_what_kustomize_builds() -> None:
    kustomize = next(([path, *words] for path, words in _programs() if path), None)
    if kustomize is None:
        pytest.skip("no kustomize on this machine")
    for file in sorted(CORPORA.glob("*/built/*.yaml")):
        directory = file.parents[1] / "input" / file.stem.replace("_", "/")
        out = subprocess.run([*kustomize, str(directory)], capture_output=True, check=True).stdout
        assert list(yaml.safe_load_all(out)) == list(yaml.safe_load_all(file.read_text())), file


def _programs() -> list[tuple[str | None, list[str]]]:
    return [(shutil.which("kustomize"), ["build"]), (shutil.which("kubectl"), ["kustomize"])]
