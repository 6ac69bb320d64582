"""What can go wrong with the tools; each error says what would help, and ends a command with its `exit_code`."""

from typing import ClassVar


class ToolsError(Exception):
    """The base. `message` says what is wrong, `remedy` what to do about it."""

    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message}\n  fix: {remedy}")
        self.message = message
        self.remedy = remedy


class UnknownTool(ToolsError):
    """The catalog has no such tool."""


class ToolMissing(ToolsError):
    """The tool was not built yet, or not from the sources as they are now."""


class Unprepared(ToolsError):
    """The machine lacks what a build needs."""


class BuildFailed(ToolsError):
    """Go could not build a tool."""

    exit_code = 1
