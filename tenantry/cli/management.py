"""How commands find the management cluster of an environment, and the options that override this."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from tenantry.cli.output import say
from tenantry.cli.progress import working
from tenantry.cluster.connect import LISTING, connected, opened
from tenantry.messages.errors import Refused
from tenantry.plan.plan import Plan
from tenantry.stacks.file import Reach, for_hub, reaches, target_of, unanswered
from tenantry.stacks.outcome import for_stack

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")


def management_options(command: _F) -> _F:
    """`--kubeconfig` and `--context` of the management cluster."""
    kubeconfig = click.option(
        "--kubeconfig",
        type=click.Path(path_type=Path, dir_okay=False),
        help="The kubeconfig of the management cluster;"
        " default: the one in Pulumi.<environment>.yaml, then KUBECONFIG, then ~/.kube/config.",
    )
    context = click.option(
        "--context",
        metavar="NAME",
        multiple=True,
        callback=_contexts,
        help="Its context; default: the one in Pulumi.<environment>.yaml, then the current one. With several management clusters:"
        " HUB=NAME, repeatable.",
    )
    return kubeconfig(context(command))


def _contexts(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> str | None:
    """One context, or `HUB=NAME` for each management cluster, with commas between."""
    if len(given) > 1 and not all("=" in each for each in given):
        raise click.UsageError("several --context need the name of the management cluster of each: HUB=NAME")
    return ",".join(given) or None


class Reached(NamedTuple):
    """The management clusters of an environment that answer.

    client: for all of them. planned: what they have of the plan. unreached: why the others do not answer, by name.
    """

    client: Client
    planned: Plan
    unreached: Mapping[str, Refused]


@contextmanager
def open_management(
    file: Path, planned: Plan, kubeconfig: Path | None, context: str | None, only: Collection[str] | None = None
) -> Iterator[Reached]:
    """The same for a command that reads: a management cluster that does not answer costs what it has, and is named on stderr.

    only: the management clusters that are needed; None: all. Raises: Refused: none answers, or one stops answering.
    """
    ways = _ways(file, planned.environment, planned.hubs, kubeconfig, context)
    if only is not None and len(ways) > 1:
        ways = {hub: way for hub, way in ways.items() if hub in only} or ways
    with ExitStack() as stack:
        with working(f"connecting to {_words(planned.environment, planned.hubs)}"):
            client, unreached = stack.enter_context(_stacks(planned.environment, opened(ways)))
        for hub, failure in unreached.items():
            fix = for_stack(for_hub(failure.fix, hub), planned.environment)
            say(f"{failure.message}; what it has is not shown\n  fix: {fix}")
        there = planned if "" in ways else planned.only([each.hub for each in client.each()])
        yield Reached(client, there, unreached)


@contextmanager
def connect_management(
    file: Path,
    environment: str,
    kubeconfig: Path | None,
    context: str | None,
    seconds: float = LISTING,
    *,
    hubs: Sequence[str] = (),
    without: Collection[str] = (),
) -> Iterator[Client]:
    """A client for the environment's management clusters, from the options or otherwise from the stack's file.

    Args:   seconds: as for `connect`. hubs: the management clusters; empty: those that the stack's file names.
            without: those that are not contacted.
    Raises: Refused: one of the clusters cannot be reached, or stops answering.
    """
    every = _ways(file, environment, hubs, kubeconfig, context)
    ways = {hub: way for hub, way in every.items() if hub not in without}
    with ExitStack() as stack:
        with working(f"connecting to {_words(environment, hubs)}"):
            client = stack.enter_context(
                _stacks(
                    environment, connected(ways, seconds, lambda failure, hub: unanswered(failure, hub, environment))
                )
            )
        yield client


def _words(environment: str, hubs: Sequence[str]) -> str:
    return f"the management cluster{'s' if len(hubs) > 1 else ''} of {environment}"


def _ways(
    file: Path, environment: str, hubs: Sequence[str], kubeconfig: Path | None, context: str | None
) -> dict[str, Reach]:
    target = target_of(file.resolve().parent, environment)
    hubs = hubs or tuple(target.hubs)
    alone = Reach(kubeconfig or target.kubeconfig, target.context)
    if len(hubs) < 2:
        return reaches(environment, hubs, alone._replace(context=context or target.context), target.hubs)
    named = dict(each.partition("=")[::2] for each in context.split(",")) if context else {}
    if unknown := [name for name in named if name not in hubs]:
        fix = "\n       ".join(f"--context {hub}=NAME" for hub in hubs)
        raise Refused(
            f"--context {unknown[0]} names no management cluster of '{environment}', which has several: {', '.join(hubs)}",
            fix,
        )
    given = {hub: target.hubs.get(hub, Reach()) for hub in hubs}
    given = {hub: Reach(kubeconfig or way.kubeconfig, named.get(hub) or way.context) for hub, way in given.items()}
    strangers = {hub: way for hub, way in target.hubs.items() if hub not in hubs}
    return reaches(environment, hubs, alone, given | strangers)


@contextmanager
def _stacks(environment: str, opening: AbstractContextManager[_T]) -> Iterator[_T]:
    """What is opened; commands in a failure to open it are for the environment's stack."""
    with ExitStack() as stack:
        try:
            found = stack.enter_context(opening)
        except Refused as refused:
            raise Refused(refused.message, for_stack(refused.fix, environment), code=refused.code) from None
        yield found
