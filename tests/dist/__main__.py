"""`make dist`: builds both into dist/, then tries them."""

from __future__ import annotations

import shutil
import sys
import tempfile
import tomllib
from pathlib import Path
from time import monotonic

from tests.dist import contents
from tests.dist.environment import ROOT, UV, Environment, Wrong, made, run, step
from tests.dist.preview import has_programs, preview

DIST = ROOT / "dist"
_MODULES = "import sys, importlib.util as u; print(*[m for m in sys.argv[1:] if u.find_spec(m)])"


def main() -> int:
    start = monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="tenantry-dist-") as home:
            _all(Path(home))
    except Wrong as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 1
    print(f"{monotonic() - start:6.1f} s  in all; {', '.join(sorted(each.name for each in DIST.iterdir()))} in {DIST}")
    return 0


def _all(home: Path) -> None:
    with step("the sdist, the wheel from it, and the same wheel from the repository"):
        shutil.rmtree(DIST, ignore_errors=True)
        run([str(UV), "build", "--quiet", "--no-create-gitignore", "--out-dir", str(DIST)], ROOT)
        run([str(UV), "build", "--quiet", "--wheel", "--out-dir", str(home / "again")], ROOT)
        (wheel,), (sdist,), (other,) = (
            where.glob(pattern) for where, pattern in ((DIST, "*.whl"), (DIST, "*.tar.gz"), (home / "again", "*.whl"))
        )
        contents.check(wheel, other, sdist)
    with step("tenantry: validate, render, diff, chart, and what names a missing extra"):
        _base(made(home / "base", str(wheel)))
    with step("tenantry-sandbox: its wheel, its options and its programs"):
        sandbox = _wheel_of_the_sandbox(home / "sandbox-wheel")
        _sandbox(made(home / "sandbox", str(wheel), str(sandbox)))
    for which, bounds in (("oldest", _lowest()), ("newest", ())):
        _pulumi(
            made(home / which, f"{wheel}[pulumi]", str(sandbox), "pip>=24", "pytest>=8.4", "hypothesis>=6.140", *bounds),
            which,
        )


def _lowest() -> tuple[str, ...]:
    """The oldest versions that pyproject.toml permits of what the command line and the program need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = (*project["dependencies"], *project["optional-dependencies"]["pulumi"])
    return tuple(each.partition(",")[0].replace(">=", "==") for each in wanted)


def _base(here: Environment) -> None:
    if "tenantry, version" not in here.run("tenantry", "--version"):
        raise Wrong("`tenantry --version` does not print the version")
    here.run("tenantry", "validate")
    here.run("tenantry", "render", "--environment", "dev")
    here.run("tenantry", "bootstrap", "--chart", "chart")
    here.run("tenantry", "schema", "--included")
    here.run("tenantry", "init", "fleet", "--yes")
    here.run("tenantry", "--file", "fleet/tenants.yaml", "validate")
    for command in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "a"],
    ):
        here.run("git", *command)
    fleet = here.project / "tenants.yaml"
    fleet.write_text(fleet.read_text().replace("all: true", "names: [hub]"))
    if "rocky" not in here.run("tenantry", "diff", "HEAD", code=1):
        raise Wrong("`tenantry diff` does not name the tenant")
    here.run("tenantry", "diff", "HEAD", "--output", "html", code=1)
    _refusals(here)


def _refusals(here: Environment) -> None:
    """What is missing is called so in the words of the command that installs it."""
    answers = {
        "sandbox": here.run("tenantry", "sandbox", "status", code=2),
        "pulumi": here.python("import tenantry.components", code=1),
    }
    commands = {"sandbox": "run `pip install tenantry-sandbox`", "pulumi": "run `pip install 'tenantry[pulumi]'`"}
    for name, said in answers.items():
        if commands[name] not in said:
            raise Wrong(f"without '{name}' the command that installs it is not named:\n{said}")
    if there := here.run(
        "python", "-c", _MODULES, *("pulumi", "components", "tenantry_sandbox", "docgen", "tests")
    ).strip():
        raise Wrong(f"these can be imported without another package: {there}")


def _wheel_of_the_sandbox(directory: Path) -> Path:
    run([str(UV), "build", "--quiet", "--package", "tenantry-sandbox", "--wheel", "--out-dir", str(directory)], ROOT)
    (wheel,) = directory.glob("*.whl")
    contents.check_sandbox(wheel)
    return wheel


def _sandbox(here: Environment) -> None:
    here.run("tenantry", "sandbox", "up", "--help")
    if has_programs() and "nothing to build" not in (said := here.run("tenantry", "sandbox", "tools")):
        raise Wrong(f"the programs that are built are not found from the installed package:\n{said}")


def _pulumi(here: Environment, which: str) -> None:
    name = f"Pulumi {here.version('pulumi')} and pulumi-kubernetes {here.version('pulumi-kubernetes')}, the {which}"
    with step(f"tenantry[pulumi], {name}: tests of the components"):
        here.python("import tenantry.components.stack")
        arguments = ("-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT))
        here.run(
            "python", "-m", "pytest", *arguments, "-c", str(ROOT / "pyproject.toml"), str(ROOT / "tests" / "components")
        )
    if has_programs():
        with step(f"tenantry[pulumi] and tenantry-sandbox, {name}: preview of a project of three lines"):
            preview(here)
    else:
        print("          the sandbox's programs are not built: no preview is tried")


if __name__ == "__main__":
    sys.exit(main())
