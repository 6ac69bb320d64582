"""The command that writes templates/pulumi; `make template` runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tenantry.scaffold.answers import DEFAULT_ENVIRONMENTS, DEFAULT_REPOSITORY, DEFAULT_TENANT, Answers, parent_of
from tenantry.scaffold.files import SCHEMA, File, files
from tenantry.scaffold.project import NAME, record_of

DIRECTORY = Path(__file__).parents[2] / "templates" / "pulumi"
PULUMI = "Pulumi.yaml"


def template() -> dict[str, File]:
    """The files by path.

    `pulumi new` writes Pulumi.yaml anew, so it belongs to the project's owner. The JSON Schema is left out, because `tenantry
    upgrade` adds it, and it would change here with every key of tenants.yaml.
    """
    environments = tuple((each, f"hub-{each}") for each in DEFAULT_ENVIRONMENTS)
    siblings = parent_of(DEFAULT_REPOSITORY)
    answers = Answers("fleet", environments, (), DEFAULT_REPOSITORY, siblings, DEFAULT_TENANT, "github")
    made = {path: file for path, file in files(answers, template=True).items() if path != SCHEMA}
    return {**made, NAME: File(record_of(answers, made, frozenset([PULUMI])).text())}


def main(arguments: Sequence[str] | None = None, directory: Path = DIRECTORY) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m docgen.template",
        description="Writes the template for `pulumi new`.",
        epilog="exit code: 0 done or not stale, 1 --check found it stale",
    )
    parser.add_argument("--check", action="store_true", help="change nothing, say which files are stale")
    check, made = parser.parse_args(arguments).check, template()
    there = {each.relative_to(directory).as_posix() for each in directory.rglob("*") if each.is_file()}
    stale = sorted((there - made.keys()) | {path for path, file in made.items() if _is_stale(directory / path, file)})
    if check:
        for path in stale:
            print(f"stale: {directory / path}\n  fix: run `make template`, and read the difference", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        _write(directory / path, made.get(path))
    print(f"{directory}: {len(stale)} of {len(made)} files changed")
    return 0


def _is_stale(path: Path, file: File) -> bool:
    return (
        not path.is_file()
        or path.read_text(encoding="utf-8") != file.text
        or bool(path.stat().st_mode & 0o100) != file.executable
    )


def _write(path: Path, file: File | None) -> None:
    if file is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(file.text, encoding="utf-8")
    path.chmod(0o755 if file.executable else 0o644)


if __name__ == "__main__":
    sys.exit(main())
