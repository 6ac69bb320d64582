"""The errors of this package: each says what is wrong and how to fix it, and has the exit code that a command ends with."""

from typing import ClassVar


class ToolsError(Exception):
    """The base, and everything that is missing or used wrongly. `message` says what is wrong, `fix` how to fix it."""

    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message}\n  fix: {fix}")
        self.message = message
        self.fix = fix


class ToolMissing(ToolsError):
    """The tool is neither built from the present sources nor installed."""


class BuildFailed(ToolsError):
    """Go could not build a tool."""

    exit_code = 1
