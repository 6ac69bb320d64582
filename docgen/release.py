"""`make release`: what a release consists of, in dist/, built twice and equal byte by byte.

The wheels and sdists of both distributions, the chart of baselines, the software bill of materials (CycloneDX 1.5, the packages of
uv.lock that users install) and the checksums of all of them. The second build is of a clone in another directory. So whoever builds
the same commit with the same uv gets the same checksums.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from tenantry.charts import OBJECTS
from tenantry_sandbox.package import package

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
UV = Path(sys.executable).with_name("uv")
SUMS = "SHA256SUMS"


class NoRelease(Exception):
    """The release cannot be built. The text says why."""


def main() -> int:
    try:
        build_twice(ROOT, DIST)
    except NoRelease as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    print((DIST / SUMS).read_text(encoding="utf-8"), end="")
    return 0


def build_twice(root: Path, target: Path) -> None:
    """Raises: NoRelease: something is not committed, a build fails, or a second build gives other files."""
    if changed := run(["git", "status", "--porcelain", "--untracked-files=no"], root).splitlines():
        raise NoRelease(f"a release is a commit, and these files are not committed: {', '.join(changed[:5])}")
    shutil.rmtree(target, ignore_errors=True)
    build(root, target)
    with tempfile.TemporaryDirectory(prefix="tenantry-release-") as directory:
        clone, again = Path(directory, "clone"), Path(directory, "dist")
        run(["git", "clone", "--quiet", str(root), str(clone)], root)
        build(clone, again)
        differing = set(_lines(target)) ^ set(_lines(again))
    if differing:
        names = sorted({line.split()[1] for line in differing})
        raise NoRelease(f"a second build gives other files: {', '.join(names)}")


def build(root: Path, target: Path) -> None:
    """Build the release of a commit, whose time stands in the archives."""
    target.mkdir(parents=True)
    epoch = run(["git", "log", "-1", "--format=%ct"], root).strip()
    for name in ("tenantry", "tenantry-sandbox"):
        command = [str(UV), "build", "--quiet", "--no-create-gitignore", "--package", name, "--out-dir", str(target)]
        run(command, root, SOURCE_DATE_EPOCH=epoch)
    chart = package(root / OBJECTS.relative_to(ROOT))
    (target / chart.file).write_bytes(chart.archive)
    (target / f"tenantry-{version(root)}.cdx.json").write_text(bill_of_materials(root), encoding="utf-8")
    (target / SUMS).write_text(checksums(target), encoding="utf-8")


def version(root: Path) -> str:
    """The version that pyproject.toml declares."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def bill_of_materials(root: Path) -> str:
    """The packages that both distributions install, as CycloneDX. Without its number and time, which differ in each export."""
    command = [str(UV), "export", "--quiet", "--frozen", "--no-dev", "--all-packages", "--all-extras"]
    exported = json.loads(run([*command, "--format", "cyclonedx1.5", "--preview-features", "sbom-export"], root))
    exported.pop("serialNumber", None)
    exported["metadata"].pop("timestamp", None)
    return f"{json.dumps(exported, indent=2)}\n"


def checksums(directory: Path) -> str:
    """A line for each file of a directory, as `sha256sum --check` reads it."""
    files = sorted(path for path in directory.iterdir() if path.name != SUMS)
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


def run(command: list[str], directory: Path, **variables: str) -> str:
    """What a command prints. Raises: NoRelease: it fails."""
    environment = {**os.environ, **variables}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoRelease(f"`{' '.join(command)}` ends with {done.returncode}:\n{done.stderr}")
    return done.stdout


def _lines(directory: Path) -> list[str]:
    return (directory / SUMS).read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    sys.exit(main())
