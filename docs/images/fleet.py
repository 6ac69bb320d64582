"""Draws docs/images/fleet.svg: environment `dev` of the repository's tenants.yaml, computed from its plan.

`make picture` writes the file, and `make check` fails if it is out of date.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import wrap

from tenantry.load import load_fleet, plan_one
from tenantry.plan.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
FLEET, ENVIRONMENT = ROOT / "tenants.yaml", "dev"
PICTURE = Path(__file__).with_suffix(".svg")

_INSTALLS = {"Kustomization": "manifests", "HelmRelease": "Helm chart"}
_COLUMNS = 46
"""Characters on a line of a box."""


@dataclass(frozen=True, slots=True)
class Box:
    """A namespace or an add-on: its name, what it is, and what is in it."""

    title: str
    note: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """What a plan puts on its management cluster, and what Flux makes of it on each remote cluster."""

    management: str
    objects: int
    namespaces: tuple[Box, ...]
    remotes: tuple[tuple[str, tuple[Box, ...]], ...]


def picture_of(plan: Plan) -> Picture:
    clusters = dict.fromkeys(app.cluster for app in plan.apps if app.cluster != plan.management)
    return Picture(
        plan.management,
        len(plan.objects),
        tuple(sorted(_namespaces(plan), key=lambda box: not box.note.startswith("tenant"))),
        tuple((cluster, tuple(_remote(plan, cluster))) for cluster in clusters),
    )


def _namespaces(plan: Plan) -> Iterator[Box]:
    tenants = {
        each: placed.tenant for placed in plan.placements for each in placed.namespaces if _local(plan, placed.cluster)
    }
    for namespace in dict.fromkeys(each.id.namespace for each in plan.objects if each.id.namespace):
        objects = [(each.id.kind, each.id.name) for each in plan.objects if each.id.namespace == namespace]
        tenant = tenants.get(namespace)
        yield Box(namespace, f"tenant {tenant}" if tenant else "next to the kubeconfig", tuple(_summary(objects)))


def _local(plan: Plan, cluster: str) -> bool:
    return cluster == plan.management


def _remote(plan: Plan, cluster: str) -> Iterator[Box]:
    """The add-ons of a remote cluster, then its tenants' namespaces."""
    apps = [app for app in plan.apps if app.cluster == cluster]
    yield from (Box(app.name, "add-on", (_INSTALLS[app.id.kind],)) for app in apps if not app.tenant)
    for placed in plan.placements:
        if placed.cluster == cluster:
            lines = [f"app {app.name}: {_INSTALLS[app.id.kind]}" for app in apps if app.tenant == placed.tenant]
            kinds = _baseline(plan, placed.tenant, cluster)
            yield Box(placed.namespace, f"tenant {placed.tenant}", (*_kinds(kinds), *lines))


def _baseline(plan: Plan, tenant: str, cluster: str) -> list[str]:
    """The kinds of the objects that a tenant's baseline installs beside the namespaces."""
    releases = (
        each.manifest for each in plan.objects if each.owner == (tenant, cluster) and each.id.kind == "HelmRelease"
    )
    held = (each for release in releases for each in release["spec"].get("values", {}).get("objects", ()))
    return [each["kind"] for each in held if each["kind"] != "Namespace"]


def _summary(objects: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Reconcilers by name, after the other objects by kind."""
    objects = list(objects)
    yield from _kinds(kind for kind, _ in objects if kind not in _INSTALLS)
    yield from (f"{kind} {name}" for kind, name in objects if kind in _INSTALLS)


def _kinds(kinds: Iterable[str]) -> Iterator[str]:
    counted = [kind if number == 1 else f"{number}\u00a0{_plural(kind)}" for kind, number in Counter(kinds).items()]
    yield from wrap(", ".join(counted), _COLUMNS)


def _plural(kind: str) -> str:
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


# The drawing: three columns, each with its left edge and its width.
_FILE, _MANAGEMENT, _REMOTES = (12, 128), (248, 392), (744, 372)
_WIDTH, _MARGIN, _HEADING, _GAP, _LINE, _PAD = 1128, 12, 34, 10, 17, 10
_STYLE = (
    "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328}"
    ".head{font-weight:600}.note{fill:#656d76}.page{fill:#ffffff}"
    ".cluster{fill:#f6f8fa;stroke:#8c959f}.box{fill:#ffffff;stroke:#d0d7de}.file{fill:#ddf4ff;stroke:#54aeff}"
    ".arrow{stroke:#656d76;stroke-width:2;fill:none;marker-end:url(#tip)}.tip{fill:#656d76}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.note{fill:#9198a1}.page,.box{fill:#0d1117}"
    ".cluster{fill:#161b22;stroke:#656d76}.box{stroke:#3d444d}.file{fill:#0c2d4a;stroke:#1f6feb}"
    ".arrow{stroke:#9198a1}.tip{fill:#9198a1}}"
)


def svg(shown: Picture) -> str:
    remotes = [(f"remote cluster {name}", boxes) for name, boxes in shown.remotes]
    heights = [
        sum(_cluster_height(boxes) + _MARGIN for _, boxes in column) for column in (remotes, [("", shown.namespaces)])
    ]
    height = max(heights) + _MARGIN
    middle = height // 2
    drawn = [
        *_cluster(_MANAGEMENT, _MARGIN, f"management cluster {shown.management}, with Flux", shown.namespaces),
        *_stack(remotes),
        _rect("file", _FILE[0], middle - 30, _FILE[1], 60),
        *_label(_FILE, middle, "tenants.yaml", f"environment {ENVIRONMENT}"),
        *_arrow(_FILE, _MANAGEMENT, middle, "tenantry up", f"{shown.objects} objects"),
        *_arrow(_MANAGEMENT, _REMOTES, middle, "Flux", "reconciles"),
    ]
    return "\n".join([*_page(height), *drawn, "</svg>", ""])


def _page(height: int) -> Iterator[str]:
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}">'
    yield f"<style>{_STYLE}</style>"
    yield '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto">'
    yield '<path class="tip" d="M0,0 L6,3 L0,6 z"/></marker></defs>'
    yield _rect("page", 0, 0, _WIDTH, height)


def _stack(clusters: Iterable[tuple[str, tuple[Box, ...]]]) -> Iterator[str]:
    top = _MARGIN
    for title, boxes in clusters:
        yield from _cluster(_REMOTES, top, title, boxes)
        top += _cluster_height(boxes) + _MARGIN


def _cluster(column: tuple[int, int], top: int, title: str, boxes: Sequence[Box]) -> Iterator[str]:
    left, width = column
    yield _rect("cluster", left, top, width, _cluster_height(boxes))
    yield _text(left + _PAD, top + 22, title, "head")
    top += _HEADING
    for box in boxes:
        yield from _box(left + _PAD, top, width - 2 * _PAD, box)
        top += _box_height(box) + _GAP


def _box(left: int, top: int, width: int, box: Box) -> Iterator[str]:
    yield _rect("box", left, top, width, _box_height(box))
    yield _text(left + _PAD, top + _LINE + 3, box.title, "head")
    yield _text(left + width - _PAD, top + _LINE + 3, box.note, "note", "end")
    yield from (_text(left + _PAD, top + 3 + _LINE * (2 + at), line) for at, line in enumerate(box.lines))


def _box_height(box: Box) -> int:
    return _LINE * (1 + len(box.lines)) + _PAD


def _cluster_height(boxes: Sequence[Box]) -> int:
    return _HEADING + sum(_box_height(box) + _GAP for box in boxes)


def _arrow(begin: tuple[int, int], end: tuple[int, int], middle: int, above: str, below: str) -> Iterator[str]:
    left, right = sum(begin), end[0]
    yield f'<path class="arrow" d="M{left + 4},{middle} H{right - 6}"/>'
    yield from _label((left, right - left), middle, above, below, 10)


def _label(column: tuple[int, int], middle: int, above: str, below: str, apart: int = 4) -> Iterator[str]:
    centre = column[0] + column[1] // 2
    yield _text(centre, middle - apart, above, "head", "middle")
    yield _text(centre, middle + 10 + apart, below, "note", "middle")


def _rect(style: str, left: int, top: int, width: int, height: int) -> str:
    return f'<rect class="{style}" x="{left}" y="{top}" width="{width}" height="{height}" rx="6"/>'


def _text(left: int, base: int, text: str, style: str = "", anchor: str = "start") -> str:
    return f'<text x="{left}" y="{base}" class="{style}" text-anchor="{anchor}">{escape(text)}</text>'


def main(arguments: Sequence[str] | None = None, file: Path = PICTURE) -> int:
    parser = argparse.ArgumentParser(description="Draw the fleet of tenants.yaml from its plan.")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit with 1 if the picture is out of date"
    )
    check = parser.parse_args(arguments).check
    drawn = svg(picture_of(plan_one(load_fleet(FLEET), ENVIRONMENT)))
    stale = not file.exists() or file.read_text(encoding="utf-8") != drawn
    if check:
        if stale:
            print(f"{file} is out of date\n  fix: run `make picture` and commit the result", file=sys.stderr)
        return int(stale)
    file.write_text(drawn, encoding="utf-8")
    print(f"{file}: {'written' if stale else 'unchanged'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
