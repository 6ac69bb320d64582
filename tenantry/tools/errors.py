"""The errors of this package, each with a message, a fix and the exit code of the command."""

from typing import ClassVar


class ToolsError(Exception):
    """Something is missing or used wrongly. Also the base class of the other errors."""

    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message}\n  fix: {fix}")
        self.message = message
        self.fix = fix


class ToolMissing(ToolsError):
    """The tool is neither installed nor built from the current sources."""


class BuildFailed(ToolsError):
    """Go could not build a tool."""

    exit_code = 1
