"""docs/images/performance.svg: how the time of commands grows with the fleet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot  # the backend comes first

from bench.tables import Table

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "performance.svg"
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "tenantry",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 11,
}


def draw(tables: Mapping[str, Table], file: Path = PICTURE) -> None:
    """Seconds of the processor over the number of objects, both in powers of ten, and a straight line for comparison."""
    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(figsize=(7, 4))
        for table in (each for id, each in tables.items() if id.startswith("growth-")):
            sizes = [int(row.name.split()[0].replace(",", "")) for row in table.rows]
            axes.plot(sizes, [row.processor or 0 for row in table.rows], marker="o", label=table.title.split("`")[1])
        ends = axes.get_xlim()[0], 90_000
        axes.plot(ends, [end / 10_000 for end in ends], color="grey", linestyle="dotted", label="100 ms per 1,000")
        axes.set(xscale="log", yscale="log", xlabel="objects", ylabel="seconds of the processor")
        axes.grid(visible=True, alpha=0.3)
        axes.legend(frameon=False)
        figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None}, transparent=False)
        pyplot.close(figure)
