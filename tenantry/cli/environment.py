"""Which environment a command is about: the one that is typed, that of the variable, or the only one of the file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from tenantry.cli.commands import Late
from tenantry.cli.fleet_file import fleet_file
from tenantry.cli.output import say
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import declared, listed

if TYPE_CHECKING:
    from tenantry.fleet.fleet import Fleet

VARIABLE = "TENANTRY_ENVIRONMENT"
ARGUMENT = "environment_argument"
"""The parameter of the argument that says the same as the option."""
_DEFAULT = f"Default: ${VARIABLE}, or the only one."


class EnvironmentOption(click.Option, Late):
    """`-e, --environment NAME`, and the environment of a command that needs one and is given none.

    Args:
        needed: The command is always about an environment; otherwise the option is a filter, which the variable does not set.
        typed: It has to be typed: neither the variable nor the file names it. For commands that delete an environment.
        unless: Parameters with which none is needed.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        help: str,
        needed: bool = False,
        typed: bool = False,
        unless: Sequence[str] = (),
        **attributes: Any,
    ) -> None:
        text = f"{help} {'It has to be named.' if typed else _DEFAULT}" if needed else help
        super().__init__(names, help=text, metavar="NAME", **attributes)
        self.needed, self.typed, self.unless = needed, typed, unless

    def settle(self, context: click.Context) -> None:
        option = str(self.name)
        given = (*values(context.params.pop(ARGUMENT, None)), *values(context.params.get(option)))
        words = tuple(dict.fromkeys(given))
        if "" in words:  # a script's variable that is not set must not choose another environment
            raise click.UsageError("The name of the environment is empty.", context)
        if len(words) > 1 and not self.multiple:
            raise click.UsageError(f"Two environments are named, {' and '.join(words)}: name one of them.", context)
        if self.needed and not words and not any(context.params.get(parameter) for parameter in self.unless):
            words = (_unambiguous(context, typed=self.typed),)
        context.params[option] = words if self.multiple else next(iter(words), None)


def values(given: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """What an argument or option was given: nothing, a word or several."""
    return (given,) if isinstance(given, str) else tuple(given or ())


def _unambiguous(context: click.Context, *, typed: bool) -> str:
    """The environment of the variable, or the only one of the file.

    Raises: click.UsageError: there is none, or it has to be typed; TenantryError: the file cannot be read.
    """
    # Most calls name the environment, and do not need the files for this.
    from tenantry.source.include import read_all

    file, variable = fleet_file(context), os.environ.get(VARIABLE)
    names = [] if variable and not typed else [str(name) for name in mapping_at(read_all(file).data, "environments")]
    if typed or (not variable and len(names) != 1):
        why = " with --environment: this command deletes it." if typed else " with --environment."
        raise click.UsageError(f"Name an environment{why} {file} declares {listed(names) or 'none'}.", context)
    name, reason = (variable, f"${VARIABLE}") if variable else (names[0], f"the only one in {file}")
    # Output for programs has it in its document, and stays as quiet as with the option.
    if context.params.get("output", "text") == "text":
        say(f"environment: {name} ({reason})")
    return name


def environment_of(fleet: Fleet, cluster: str, environment: str | None) -> str:
    """The environment of a command about a cluster; None: its first.

    Raises: Refused: the cluster is not declared, or not in the environment.
    """
    if cluster not in fleet.clusters:
        message = f"cluster '{cluster}' is not declared in {fleet.source.file}"
        raise Refused(message, f"name another; {declared('declared', cluster, fleet.clusters)}", code=UNKNOWN_NAME)
    managed = [name for name, entry in fleet.environments.items() if cluster == entry.management]
    environments = list(dict.fromkeys([*fleet.clusters[cluster].environments, *managed]))
    chosen = environment or environments[0]
    if chosen not in environments:
        message = f"cluster '{cluster}' does not belong to environment '{chosen}'"
        raise Refused(message, f"name one of: {', '.join(environments)}", code=UNKNOWN_NAME)
    return chosen
