"""What a build needs of the machine. All that is missing is reported in one go, before anything is started."""

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.catalog import Module
from tools.errors import Unprepared
from tools.golang import Go

Version = tuple[int, int, int]


def check(go: Go | None, modules: Iterable[Module], sources: Path) -> Go:
    """The Go to build with. Raises: Unprepared."""
    problems = [*_go_problems(go, minimum_go(modules, sources)), *_git_problems()]
    if go is None or problems:
        found, remedies = zip(*problems, strict=True)
        raise Unprepared("\n       ".join(found), "\n       ".join(remedies))
    return go


def suffices(go: Go, modules: Iterable[Module], sources: Path) -> bool:
    return _version(go.version) >= minimum_go(modules, sources)


def minimum_go(modules: Iterable[Module], sources: Path) -> Version:
    """The newest Go that one of the modules asks for in its go.mod."""
    texts = ((sources / module.directory / "go.mod").read_text() for module in modules)
    return max(_version(line) for text in texts for line in re.findall(r"^go (\S+)$", text, re.MULTILINE))


def _version(text: str) -> Version:
    """The numbers in a go line (1.26.0) or in what Go calls itself (go1.26.8, go1.27rc1, devel go1.28-a1b2c3)."""
    numbers = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return (int(numbers[1]), int(numbers[2]), int(numbers[3] or 0)) if numbers else (0, 0, 0)


def _go_problems(go: Go | None, minimum: Version) -> Iterator[tuple[str, str]]:
    needed = ".".join(map(str, minimum))
    remedy = f"install Go {needed} or newer from https://go.dev/dl/ and put its `bin` directory first on PATH"
    if go is None:
        yield f"Go {needed} or newer is needed, found none on PATH", remedy
    elif _version(go.version) < minimum:
        yield f"Go {needed} or newer is needed, found {go.version} at {go.executable}", remedy


def _git_problems() -> Iterator[tuple[str, str]]:
    if shutil.which("git") is None:
        yield (
            "git is needed (Go fetches some modules with it), found none on PATH",
            "install git with the system's package manager, or from https://git-scm.com/downloads",
        )
