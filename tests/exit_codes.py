"""The exit codes that the help of a command lists; tests refuse all others, of every command that they run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import pytest


def listed_codes(command: click.Command) -> frozenset[int]:
    """The codes in the epilog of a command; none for one that returns those of another program."""
    _, _, listed = (command.epilog or "").partition("Exit codes:\n")
    return frozenset(map(int, re.findall(r"^  (\d+) ", listed, re.MULTILINE)))


@contextmanager
def only_listed_codes() -> Iterator[None]:
    """Let a command fail that ends with a code which its help does not list."""
    invoke = click.Command.invoke

    def checked(command: click.Command, ctx: click.Context) -> Any:
        code, known = invoke(command, ctx), listed_codes(command)
        assert isinstance(command, click.Group) or not known or code in known, (
            f"{command.name} ends with {code}, which its help does not list"
        )
        return code

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(click.Command, "invoke", checked)
        yield
