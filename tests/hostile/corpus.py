"""All cases but those that take time or memory, which `test_heavy` makes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.hostile import mistakes, mutations, references, secrets, yamlforms
from tests.hostile.case import Case

FILES = Path(__file__).with_name("files")
MARK = "NEVER-SHOW-THIS"
"""Part of every word in `files/` that is meant as a secret."""


def cases() -> Iterator[Case]:
    yield from (Case(f"files/{file.stem}", file.read_bytes(), (MARK,)) for file in sorted(FILES.glob("*.yaml")))
    yield from yamlforms.cases()
    yield from references.cases()
    yield from mistakes.cases()
    yield from secrets.cases(every=4)
    yield from secrets.nearby(every=4)
    yield from mutations.cases(per_file=8)
