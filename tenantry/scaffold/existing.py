"""A project that `init` made: what this version would change, and changing it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tenantry.compare.git import Repository
from tenantry.messages.errors import Refused
from tenantry.scaffold import write
from tenantry.scaffold.files import FLEET, File, files
from tenantry.scaffold.record import NAME, Record, read
from tenantry.scaffold.upgrade import Change, Kind, changes, upgraded


@dataclass(frozen=True, slots=True)
class Existing:
    """files: what this version writes for the project's answers."""

    root: Path
    record: Record
    files: dict[str, File]

    @staticmethod
    def read(root: Path) -> Existing:
        """Raises: Refused: the directory holds no project that `init` made."""
        found = write.content(root, NAME)
        if found is None:
            if (root / FLEET).exists():
                raise Refused(
                    f"{root / FLEET} was not made by `tenantry init`: there is no {NAME}", "upgrade it by hand"
                )
            raise Refused(f"there is no project in {root}", "run `tenantry init` to make one")
        record = read(found.decode(errors="replace"))
        return Existing(root, record, files(record.answers))

    def changes(self) -> list[Change]:
        """What this version would change."""
        return changes(self.record, self.files, lambda path: write.content(self.root, path), self._recall)

    def merged(self, change: Change) -> Change:
        """An edited file with both changes, if they merge without a conflict; every other change as it is."""
        if change.kind is not Kind.EDITED or None in (change.before, change.written, change.after):
            return change
        assert change.after is not None
        with tempfile.TemporaryDirectory() as scratch:
            sides = [Path(scratch, name) for name in ("ours", "base", "theirs")]
            for side, text in zip(sides, (change.before, change.written, change.after.text), strict=True):
                side.write_text(text or "", encoding="utf-8", newline="")
            done = Repository(self.root).run("merge-file", "-p", *map(str, sides))
        if done.returncode != 0:
            return change
        return replace(change, kind=Kind.MERGED, after=replace(change.after, text=done.stdout.decode()))

    def apply(self, found: Iterable[Change], keep: Iterable[str]) -> None:
        """Write what is to be written, then the record. Raises: Refused: a file cannot be written."""
        found, keep = list(found), frozenset(keep)
        for each in found:
            if each.is_written and each.path not in keep and each.after:
                write.replace(self.root, each.path, each.after)
        record = upgraded(self.record, self.files, found, keep)
        if record != self.record:
            write.replace(self.root, NAME, File(record.text()))

    def _recall(self, hashed: str) -> bytes | None:
        """What was written before, if it was ever committed."""
        if not re.fullmatch("[0-9a-f]{40}", hashed):
            return None
        try:
            found = Repository(self.root).run("cat-file", "blob", hashed)
        except Refused:
            return None
        return found.stdout if found.returncode == 0 else None
