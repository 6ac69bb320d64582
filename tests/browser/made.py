"""Pages of made-up fleets, of any size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tenantry.cli.page.document import Notice, Page
from tenantry.cli.page.fleet_map import Alert, Column, Entry, FleetMap, Row, State, Value
from tenantry.cli.page.review_map import STATES as EFFECTS

HEALTH = (
    State("added", "ready", "✓"),
    State("changed", "suspended", "‖"),
    State("renamed", "progressing", "…"),
    State("removed", "missing", "?"),
    State("danger", "failed", "✕"),
)
"""States of which the first needs no attention."""
REGIONS = ("eu", "us", "ap", "sa", "af")


def page(shown: FleetMap, heading: str = "prod: made up") -> Page:
    return Page(
        command="tenantry diff",
        heading=heading,
        about="compared with main",
        figures=(("2", "dangers"), ("479 of 501", "clusters")),
        refusals=(),
        alarm="Look at these first",
        calm="No dangers found",
        notes=(Notice(("No difference in dev.",)),),
        map=shown,
    )


def columns(number: int, environment: str = "prod") -> tuple[Column, ...]:
    size = -(-number // len(REGIONS))
    return tuple(
        Column(environment, f"{REGIONS[at // size]}-{at % size}", (("region", REGIONS[at // size]),))
        for at in range(number)
    )


def small() -> FleetMap:
    """Three tenants on two clusters in each of three regions; all kinds of entries."""
    every = tuple(range(6))
    shown = columns(6)
    bump = Value("helm.version", "1.2.0", "1.3.0")
    text = Value("values", lines=(" replicas: 2", "-host: a", "+host: b"))
    return FleetMap(
        states=EFFECTS,
        columns=tuple(each._replace(cluster=f"{each.labels[0][1]}-{at}") for at, each in enumerate(shown)),
        rows=(
            Row("platform", every),
            Row("rocky", every, ("tenant 'rocky' is paused",)),
            Row("movy", every[:4]),
            Row("idle", every),
        ),
        entries=(
            Entry(row=0, columns=every, state=0, kind="add-on", name="certs", of=6, values=(text,)),
            Entry(
                row=1,
                columns=every[:5],
                state=0,
                kind="app",
                name="web",
                of=6,
                words="1.2.0 → 1.3.0",
                values=(bump,),
                objects=("HelmRelease a/b",) * 30,
            ),
            Entry(row=1, columns=(0,), state=4, kind="rights", name="", about=(1,), alert=0),
            Entry(row=2, columns=every[2:4], state=2, kind="app", name="queue", of=2, lines=("is added",)),
            Entry(row=2, columns=(0,), state=3, kind="app", name="worker", of=1, lines=("its objects are deleted",)),
        ),
        alerts=(Alert(label="rights", text="tenant 'rocky' gets cluster-admin", where="prod, on eu-0", entries=(2,)),),
        idle="unchanged",
    )


def failing() -> FleetMap:
    """An app that fails on all clusters, and one that is ready."""
    every, failed = tuple(range(3)), [each.label for each in HEALTH].index("failed")
    app = Entry(row=0, columns=every, state=failed, kind="app", name="web", of=3, lines=("no such chart",), alert=0)
    return FleetMap(
        states=HEALTH,
        columns=columns(3),
        rows=(Row("rocky", every),),
        entries=(app, replace(app, state=0, name="db", lines=(), alert=-1)),
        alerts=(Alert(label="failed", text="rocky/web: no such chart", where="", entries=(0,)),),
    )


def failing_alike() -> FleetMap:
    """The same in two tenants."""
    one = failing()
    others = tuple(replace(each, row=1) for each in one.entries)
    return replace(one, rows=(*one.rows, Row("movy", (0, 1, 2))), entries=(*one.entries, *others))


def alike(tenants: int = 5) -> FleetMap:
    """The same change of many tenants, and one that another has besides."""
    every, bump = tuple(range(6)), Value("helm.version", "1.2.0", "1.3.0")
    app = Entry(
        row=0, columns=every, state=0, kind="app", name="web", of=6, values=(bump,), objects=("HelmRelease a/b",)
    )
    return FleetMap(
        states=EFFECTS,
        columns=columns(6),
        rows=tuple(Row(f"tenant-{at}", every) for at in range(tenants)),
        entries=(*(replace(app, row=at) for at in range(tenants)), replace(app, columns=(1,), name="db")),
        idle="unchanged",
        listed=True,
    )


def large(tenants: int = 200, clusters: int = 500) -> FleetMap:
    """Every tenant has an app on every cluster; one in seven cells has an entry of its own."""
    every = tuple(range(clusters))
    return FleetMap(
        states=HEALTH,
        columns=columns(clusters),
        rows=tuple(Row(f"tenant-{at}", every) for at in range(tenants)),
        entries=tuple(_entries(tenants, clusters)),
    )


def _entries(tenants: int, clusters: int) -> Iterator[Entry]:
    for row in range(tenants):
        odd = [at for at in range(clusters) if (row * 31 + at * 17) % 7 == 0]
        ready = tuple(at for at in range(clusters) if (row * 31 + at * 17) % 7)
        yield Entry(row=row, columns=ready, state=0, kind="app", name="web", of=clusters)
        for at in odd:
            yield Entry(
                row=row,
                columns=(at,),
                state=(row + at) % 4 + 1,
                kind="app",
                name="web",
                of=clusters,
                lines=(f"message of cluster {at}",),
            )
