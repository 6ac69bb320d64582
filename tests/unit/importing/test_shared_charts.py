"""Whether a HelmChart has the interval of its tenant, which only its name tells."""

from __future__ import annotations

from typing import Any

from tenantry.importing.blocks import has_shared_interval
from tenantry.importing.resources import Resource
from tenantry.kube.names import digest
from tests.table import table

WANTED = {"chart": "web", "version": "1.x"}
LABELS = {"app.kubernetes.io/managed-by": "tenantry"}


@table(
    ("spec", "suffix", "shared"),
    [
        (WANTED, digest(WANTED), True),
        ({**WANTED, "reconcileStrategy": "ChartVersion"}, digest(WANTED), True),
        ({**WANTED, "reconcileStrategy": "Revision"}, digest({**WANTED, "reconcileStrategy": "Revision"}), True),
        ({**WANTED, "reconcileStrategy": "Revision"}, digest(WANTED), False),
        (WANTED, digest({**WANTED, "interval": "1m"}), False),
    ],
)
def test_defaults_of_the_api_server_do_not_count(spec: dict[str, Any], suffix: str, *, shared: bool) -> None:
    metadata = {"name": f"charts-web-{suffix}", "namespace": "rocky", "labels": LABELS}
    whole = {**spec, "interval": "1m", "sourceRef": {"kind": "HelmRepository", "name": "charts"}}
    manifest = {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "HelmChart",
        "metadata": metadata,
        "spec": whole,
    }
    assert has_shared_interval(Resource("dev", manifest, "live")) == shared
