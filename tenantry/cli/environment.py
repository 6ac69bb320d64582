"""Which environment a command is about: the one that is typed, that of the variable, or the only one of the file or of
the clusters that are named.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tenantry.cli.commands import GIVEN, Late
from tenantry.cli.fleet_file import fleet_data, fleet_file
from tenantry.cli.output import say
from tenantry.kube.names import PLATFORM
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
        words = _words(context, self)
        if self.needed and not words and not any(context.params.get(parameter) for parameter in self.unless):
            words = (_unambiguous(context, typed=self.typed),)
        context.params[str(self.name)] = words if self.multiple else next(iter(words), None)


def _words(context: click.Context, option: EnvironmentOption) -> tuple[str, ...]:
    """The environments on the command line, as arguments and as options."""
    words = tuple(
        dict.fromkeys((*values(context.params.pop(ARGUMENT, None)), *values(context.params.get(str(option.name)))))
    )
    for word in words:
        if not word:  # a script's variable that is not set must not choose another environment
            raise click.UsageError("The name of the environment is empty.", context)
        if word.endswith((".yaml", ".yml")):
            raise click.UsageError(f"'{word}' is not an environment. Did you mean '--file {word}'?", context)
        tenant, slash, app = word.partition("/")
        if slash and "apps" in context.params:
            line = f"{context.command_path} ENVIRONMENT --tenant {tenant} --app {app}"
            raise click.UsageError(f"'{word}' is not an environment. Type: {line}", context)
    if len(words) > 1 and not option.multiple:
        raise click.UsageError(f"Two environments are named, {' and '.join(words)}: name one of them.", context)
    return words


def values(given: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """What an argument or option was given: nothing, a word or several."""
    return (given,) if isinstance(given, str) else tuple(given or ())


def _unambiguous(context: click.Context, *, typed: bool) -> str:
    """The environment that the variable, the file or the named clusters leave.

    Raises: click.UsageError: there is none, or it has to be typed; TenantryError: the file cannot be read.
    """
    variable = os.environ.get(VARIABLE)
    if variable and not typed:
        _tell(context, variable, f"${VARIABLE}")
        return variable
    names, of_clusters = _declared(context)
    if len(names) == 1 and not typed:
        _tell(context, names[0], f"the only one in {fleet_file(context)}")
        return names[0]
    if len(of_clusters) == 1 and not typed:
        _tell(context, of_clusters[0], "the only one of what --cluster names")
        return of_clusters[0]
    raise click.UsageError(_no_tenant(context) or _missing(context, names, typed=typed), context)


def _no_tenant(context: click.Context) -> str:
    """What is wrong with the tenant that is named: no environment would make it right. "" if nothing is."""
    tenant = str(context.params.get("tenant") or "").partition("/")[0]
    known = mapping_at(fleet_data(context), "tenants")
    if not tenant or not known or tenant in (*known, PLATFORM):
        return ""
    return f"{fleet_file(context)} declares no tenant '{tenant}'; it declares {listed(known)}."


def _missing(context: click.Context, declared: Sequence[str], *, typed: bool) -> str:
    why = ": this command deletes it, so nothing else chooses it." if typed else "."
    file = fleet_file(context)
    if not declared:
        return f"Name an environment{why} {file} declares none."
    line = _to_type(context, "-e ENVIRONMENT" if typed else f"-e {declared[0]}")
    return f"Name an environment{why} {file} declares {listed(declared)}. Type: {line}"


def _declared(context: click.Context) -> tuple[list[str], list[str]]:
    """The environments of the file, and those of them in which all clusters are that the command line names.

    Raises: TenantryError: it cannot be read.
    """
    # Most calls name the environment, and do not need the files for this.
    from tenantry.fleet.templates import with_templates
    from tenantry.source.include import read_all

    source = read_all(fleet_file(context))
    names = [str(name) for name in mapping_at(source.data, "environments")]
    named = values(context.params.get("clusters") or context.params.get("cluster"))
    clusters = mapping_at(with_templates(source).data, "clusters") if named and names else {}
    lists = [mapping_at(clusters, cluster).get("environments") or () for cluster in named]
    return names, [name for name in names if lists and all(name in environments for environments in lists)]


def _tell(context: click.Context, environment: str, why: str) -> None:
    """Say which environment is taken. Output for programs has it in its document, and stays as quiet as with the option."""
    if context.params.get("output", "text") == "text":
        say(f"environment: {environment} ({why})")


def _to_type(context: click.Context, words: str) -> str:
    """The command line with more words behind it."""
    root = context.find_root()
    named = root.get_parameter_source("file") is ParameterSource.COMMANDLINE
    file = ("--file", str(root.obj)) if named else ()
    program, *path = context.command_path.split()
    return f"{shlex.join((program, *file, *path, *context.meta.get(GIVEN, ())))} {words}"


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
