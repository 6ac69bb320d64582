"""A Helm chart repository made from chart directories."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from tenantry.charts.archive import CREATED
from tenantry.charts.package import Package, package
from tenantry.sandbox import archives

INDEX = "index.yaml"


def publish(charts: Iterable[Path], target: Path) -> None:
    """Make the directory hold exactly these charts and their index; unchanged files are not written."""
    packages = sorted((package(chart) for chart in charts), key=lambda each: each.file)
    files = {each.file: each.archive for each in packages}
    files[INDEX] = _index(packages)
    archives.publish(files, target)


def _index(packages: Iterable[Package]) -> bytes:
    entries: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in packages:
        entries[each.name].append(_entry(each))
    return yaml.safe_dump({"apiVersion": "v1", "entries": dict(entries), "generated": CREATED}).encode()


def _entry(chart: Package) -> dict[str, Any]:
    """What the index says about a chart."""
    digest = hashlib.sha256(chart.archive).hexdigest()
    return {**chart.metadata, "created": CREATED, "digest": digest, "urls": [chart.file]}
