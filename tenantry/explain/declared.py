"""Checks of the names that the user gives: what is explained has to be declared."""

from __future__ import annotations

from collections.abc import Iterable

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import closest


def known(what: str, name: str, declared: Iterable[str], owner: str) -> None:
    names = list(declared)
    if name not in names:
        near = closest(name, names)
        listed = ", ".join(names) or "none"
        fix = f"name '{near}'" if near else "name one of these" if names else ""
        raise Refused(f"{owner} declares no {what} '{name}' (declared: {listed})", fix, code=UNKNOWN_NAME)


def known_cluster(fleet: Fleet, environment: str, cluster: str | None) -> None:
    if cluster is None:
        return
    known("cluster", cluster, fleet.clusters, fleet.source.file)
    if cluster not in (here := clusters_of(fleet, environment)):
        raise Refused(
            f"cluster '{cluster}' is not in environment '{environment}'",
            f"name one of: {', '.join(here)}",
            code=UNKNOWN_NAME,
        )
