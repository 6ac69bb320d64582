"""Writes templates/pulumi/requirements.lock, the packages of a new fleet with their hashes, from uv.lock.

`--check` writes nothing, and fails if the file is not up to date.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "templates" / "pulumi" / "requirements.lock"
_HEAD = """\
# The packages that Tenantry's tests run with, for every platform, each with the hashes of its files:
#   pip install --require-hashes --no-deps -r tenantry.lock -r requirements.lock
"""
_EXPORT = (
    *("export", "--quiet", "--frozen", "--no-default-groups", "--all-extras", "--no-emit-project"),
    *("--no-annotate", "--no-header", "--format", "requirements-txt"),
)


def content() -> str:
    """The file's text. It asks no index: uv.lock has the hashes."""
    uv = Path(sys.executable).with_name("uv")
    return _HEAD + subprocess.run([uv, *_EXPORT], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main(arguments: list[str]) -> int:
    text = content()
    if "--check" not in arguments:
        FILE.write_text(text, encoding="utf-8")
        return 0
    if not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        print(f"{FILE.relative_to(ROOT)} is not up to date; run: make lock", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
