"""A fleet of 500 clusters in ten groups: `python -m bench.groups [DIRECTORY]` writes it, and times `validate` and `explain`.

Each command runs in a process of its own, as a user starts it. Without a directory, the fleet is written to a temporary one.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_COMMAND = Path(sys.executable).with_name("tenantry")
CLUSTERS, GROUPS, TENANTS = 500, 10, 20

_HEAD = """\
apiVersion: tenantry/v1
include:
  - {clusters: "clusters.d/*.yaml"}
  - {tenants: "tenants.d/*.yaml"}
environments:
  prod: {management: hub, protected: true, variables: {git: "https://git.example.com"}}
clusterGroups:
  edge:
    environments: [prod]
    labels: {tier: edge}
    kubeconfig: {kamaji: {controlPlane: "{cluster}", namespace: kamaji}}
"""
_GROUP = """\
  edge-{0}:
    group: edge
    labels: {{ring: "{1}", zone: zone-{0}}}
    variables: {{domain: "zone-{0}.example.com"}}
"""
_REST = """\
clusters:
  hub: {environments: [prod]}
platform:
  chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}
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


def write(directory: Path) -> Path:
    """Write the fleet into a directory. Returns: its main file."""
    groups = "".join(_GROUP.format(number, min(number, 2)) for number in range(GROUPS))
    tenants = [f"team-{number:02}" for number in range(TENANTS)]
    clusters = (f"  edge-{number:03}: {{group: edge-{number % GROUPS}}}\n" for number in range(CLUSTERS))
    texts = {
        "tenants.yaml": _HEAD + groups + _REST + "".join(f"  {name}: {{}}\n" for name in tenants),
        "clusters.d/discovered.yaml": "clusters:\n" + "".join(clusters),
        **{f"tenants.d/{name}.yaml": _FILLING.format(name) for name in tenants},
    }
    for name, text in texts.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return directory / "tenants.yaml"


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        file = write(Path(sys.argv[1] if len(sys.argv) > 1 else directory))
        print(f"{file}: {len(file.read_text().splitlines())} lines, {CLUSTERS} clusters, {TENANTS} tenants")
        for command in (["validate"], ["explain", "team-07", "web", "-e", "prod", "-c", "edge-250"]):
            _time([*command, "--file", str(file)])


def _time(arguments: list[str]) -> None:
    """Run a command of Tenantry, and print its seconds and its peak of memory."""
    start = time.perf_counter()
    process = subprocess.Popen([_COMMAND, *arguments], stdout=subprocess.PIPE)
    out = process.stdout.read().decode() if process.stdout else ""
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    assert status == 0, out
    print(f"{' '.join(arguments[:-2]):50} {seconds:6.2f} s  {_megabytes(used):5.0f} MB  {out.splitlines()[0][-60:]}")


def _megabytes(used: resource.struct_rusage) -> float:
    return used.ru_maxrss / 1024


if __name__ == "__main__":
    main()
