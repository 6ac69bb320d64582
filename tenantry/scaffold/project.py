"""A new project in its directory: what is in the way, and writing it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tenantry.messages.errors import Refused
from tenantry.messages.text import listed
from tenantry.scaffold import write
from tenantry.scaffold.answers import Answers
from tenantry.scaffold.files import FLEET, File, files
from tenantry.scaffold.record import NAME, record_of


@dataclass(frozen=True, slots=True)
class Project:
    """Files that are not written yet."""

    root: Path
    answers: Answers
    files: dict[str, File]

    @staticmethod
    def refuse_fleet(root: Path) -> None:
        """Raises: Refused: the directory holds a fleet already."""
        if (root / NAME).exists():
            fix = "run `tenantry upgrade` there to see what this version would write differently"
            raise Refused(f"{root / NAME} exists: this project was made by `tenantry init`", fix)
        if (root / FLEET).exists():
            fix = "choose another directory; `tenantry import` makes a tenants.yaml from what runs on clusters"
            raise Refused(f"{root / FLEET} exists: this directory holds a fleet", fix)

    @staticmethod
    def planned(root: Path, answers: Answers) -> Project:
        """The project that the answers make. Raises: Refused: they make an invalid fleet."""
        return Project(root, answers, files(answers))

    def in_the_way(self, *, keep: bool) -> list[str]:
        """Files that exist. Raises: Refused: there are some, and they may not be kept."""
        found = write.existing(self.root, self.files)
        if found and not keep:
            fix = "choose another directory, or add --keep-existing to write the other files only"
            raise Refused(f"files are in the way, so nothing was written: {listed(found, most=100)}", fix)
        return found

    def paths(self, kept: list[str]) -> list[str]:
        """What is written."""
        return sorted([*(each for each in self.files if each not in kept), NAME])

    def contents(self, kept: list[str]) -> dict[str, str]:
        """What is written, with the texts."""
        written = self._with_record(kept)
        return {path: written[path].text for path in self.paths(kept)}

    def write(self, kept: list[str]) -> None:
        """Write all files but those that are kept. Raises: Refused: one cannot be written; then none is."""
        written = self._with_record(kept)
        write.create(self.root, {path: written[path] for path in self.paths(kept)})

    def _with_record(self, kept: list[str]) -> dict[str, File]:
        record = record_of(self.answers, self.files, frozenset(kept))
        return {**self.files, NAME: File(record.text())}
