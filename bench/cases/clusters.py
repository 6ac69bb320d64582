"""A fleet of 500 clusters of ten templates, whose main file has 85 lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measure import TENANTRY, Used, run
from bench.tables import Row, Table

TEMPLATES, TENANTS = 10, 20

_HEAD = """\
apiVersion: tenantry/v1
include:
  - {files: "clusters.d/*.yaml"}
  - {tenants: "tenants.d/*.yaml"}
environments:
  prod: {management: hub, protected: true, variables: {git: "https://git.example.com"}}
templates:
  clusters:
    edge:
      environments: [prod]
      labels: {tier: edge}
      kubeconfig: {kamaji: {controlPlane: "{cluster}", namespace: kamaji}}
"""
_TEMPLATE = """\
    edge-{0}:
      from: edge
      labels: {{ring: "{1}", zone: zone-{0}}}
      variables: {{domain: "zone-{0}.example.com"}}
"""
_REST = """\
clusters:
  hub: {environments: [prod]}
platform:
  chart: {helm: {url: "https://charts.example.com", version: 0.3.0}}
  addons:
    dns:
      clusters: {labels: {tier: edge}}
      source: {helm: {url: "https://charts.example.com"}}
      helm: {chart: dns, version: 1.x, targetNamespace: dns}
defaults:
  clusters: {labels: {tier: edge}}
  quota: {pods: 40}
  grants: {sources: ["{git}/{tenant}/*", "https://charts.example.com"]}
tenants:
"""
_FILLING = """\
tenants:
  {0}:
    sources:
      manifests: {{git: {{url: "{{git}}/{0}/manifests", ref: {{branch: main}}}}}}
      charts: {{helm: {{url: "https://charts.example.com"}}}}
    apps:
      web:
        kustomize: {{source: manifests, path: ./web, postBuild: {{substitute: {{DOMAIN: "{{domain}}"}}}}}}
        dependsOn: [db]
      db: {{kustomize: {{source: manifests, path: ./db}}}}
      cache: {{helm: {{source: charts, chart: valkey, version: 0.9.x, values: {{host: "{{cluster}}.{{domain}}"}}}}}}
"""


def write(directory: Path, clusters: int) -> Path:
    """Write the fleet into a directory. Returns: its main file."""
    templates = "".join(_TEMPLATE.format(number, min(number, 2)) for number in range(TEMPLATES))
    tenants = [f"team-{number:02}" for number in range(TENANTS)]
    entries = (f"  edge-{number:03}: {{from: edge-{number % TEMPLATES}}}\n" for number in range(clusters))
    texts = {
        "tenants.yaml": _HEAD + templates + _REST + "".join(f"  {name}: {{}}\n" for name in tenants),
        "clusters.d/discovered.yaml": "clusters:\n" + "".join(entries),
        **{f"tenants.d/{name}.yaml": _FILLING.format(name) for name in tenants},
    }
    for name, text in texts.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return directory / "tenants.yaml"


def measure(*, clusters: int) -> Iterator[Table]:
    explain = ("explain", "team-07", "web", "-e", "prod", "-c", f"edge-{clusters // 2:03}")
    with TemporaryDirectory() as name:
        directory = Path(name)
        lines = len(write(directory, clusters).read_text().splitlines())
        found = [_row(words[0], run([TENANTRY, *words], directory)) for words in (("validate",), explain)]
    yield Table(
        "clusters",
        f"{TENANTS} tenants on {clusters} clusters",
        f"{TENANTS} tenants with three apps on each of {clusters} clusters of {TEMPLATES} templates; the main file has {lines}"
        " lines. One run each.",
        tuple(found),
    )


def _row(name: str, used: Used) -> Row:
    return Row(name, used.seconds, used.processor, used.memory)
