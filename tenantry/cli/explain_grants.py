"""The answer of `tenantry explain --grants` as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from tenantry.cli.annotated import Line, annotated, comment_of, place, scalar
from tenantry.cli.output import data, data_json
from tenantry.facts.explained_grants import ExplainedGrants, GrantedAddress, GrantedCluster, GrantedEnvironment
from tenantry.fleet.merge import Origin, Value

_EVERYWHERE = "everywhere"
_WIDEST = 42
"""A longer line leaves no room for a comment in 80 columns."""


def print_grants(
    tenant: str, main: str, grants: ExplainedGrants | None, rights: tuple[Value, ...], output: str
) -> None:
    """Args: main: the main file; grants: None for a tenant without an included file; rights: those on whole clusters."""
    if output == "json":
        data_json(grants or {"tenant": tenant, "rights": rights}, "Explanation")
    elif grants is None:
        data(f"tenant '{tenant}' needs no grants: no included file speaks of it, only {main}")
        for lines in _rights(rights):
            data(annotated(lines))
    else:
        data("\n".join(annotated(lines) for lines in _sections(grants)))


def _sections(grants: ExplainedGrants) -> Iterator[list[Line]]:
    """Parts of the answer whose comments are aligned."""
    yield [
        Line("", f"grants of tenant {grants.tenant}"),
        *_folded("file:", scalar(grants.file), place(grants.include)),
        *_folded("frame:", scalar(grants.frame.value), comment_of(grants.frame)),
    ]
    yield list(_folded("always:", scalar(list(grants.always)), ""))
    yield [
        Line("clusters:", f"{grants.selector or 'no selector'}, {place(grants.selected)}", bold=True),
        *(line for environment in grants.environments for line in _environment(environment, grants.selected)),
    ]
    settings = [
        line
        for setting in grants.settings
        for line in _folded(f"{'.'.join(map(str, setting.path))}:", scalar(setting.value), comment_of(setting))
    ]
    yield list(_addresses("sources", grants.sources))
    alerts = list(_addresses("alerts", grants.alerts))
    yield from [alerts, settings] if grants.alerts else [[*alerts, *settings]]
    yield from _rights(grants.rights)
    yield list(_folded("never:", scalar(list(grants.never)), ""))


def _rights(rights: tuple[Value, ...]) -> Iterator[list[Line]]:
    """No lines for a tenant that has no rights on whole clusters."""
    if rights:
        entries = (
            line for right in rights for line in _folded(f"  {right.path[0]}:", str(right.value), comment_of(right))
        )
        yield [Line("rights on whole clusters:", bold=True), *entries]


def _folded(head: str, value: str, comment: str) -> Iterator[Line]:
    """A key or a dash with its value, which takes lines of its own if it is long."""
    if len(head) + 1 + len(value) <= _WIDEST:
        yield Line(f"{head} {value}", comment)
        return
    yield Line(head, comment)
    indent = " " * (len(head) - len(head.lstrip()) + 2)
    folded = textwrap.wrap(value, 80 - len(indent), break_long_words=False, break_on_hyphens=False)
    yield from (Line(indent + part) for part in folded)


def _environment(environment: GrantedEnvironment, selected: Origin) -> Iterator[Line]:
    told = place(environment.origin) if environment.origin else ""
    if not environment.granted:
        yield Line(f"  {environment.environment}: not granted", told, "yellow")
        return
    yield Line(f"  {environment.environment}:{'' if environment.clusters else ' {}'}", told)
    for cluster in environment.clusters:
        text, colour = ("granted", "green") if cluster.granted else ("not granted", "yellow")
        yield Line(f"    {cluster.cluster}: {text}", _reason(cluster, selected), colour)


def _reason(cluster: GrantedCluster, selected: Origin) -> str:
    """The reason, with its place unless that is the line of the selector, which is shown above."""
    one, other = cluster.origin.location, selected.location
    return (
        cluster.reason
        if (one.file, one.line) == (other.file, other.line)
        else f"{cluster.reason}, {place(cluster.origin)}"
    )


def _addresses(key: str, addresses: tuple[GrantedAddress, ...]) -> Iterator[Line]:
    yield Line(f"{key}:", bold=True) if addresses else Line(f"{key}: []", "default")
    for address in addresses:
        yield from _folded("  -", scalar(address.pattern), place(address.origin))
        yield from (Line(f"    {where}: {_address(becomes)}") for where, becomes in _becomes(address.becomes))


def _address(becomes: str | None) -> str:
    return "a placeholder is not known here" if becomes is None else scalar(becomes)


def _becomes(by_environment: dict[str, dict[str, str | None]]) -> Iterator[tuple[str, str | None]]:
    """What a pattern becomes, once for all places where that is the same."""
    values = {becomes for by_cluster in by_environment.values() for becomes in by_cluster.values()}
    if len(by_environment) > 1 and len(values) == 1:
        yield _EVERYWHERE, values.pop()
        return
    for environment, by_cluster in by_environment.items():
        if len(set(by_cluster.values())) == 1:
            yield environment, next(iter(by_cluster.values()))
        else:
            yield from ((f"{environment} on {cluster}", becomes) for cluster, becomes in by_cluster.items())
