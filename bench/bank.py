"""The fleet of a bank: three stages in two regions, with 62 clusters and 40 tenants. It is made here, not kept.

`python -m bench.bank DIRECTORY` writes it. Each stage has an environment for each region, with a management cluster of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from bench.fleets import write

REGIONS = ("eu", "us")
REMOTES = {"dev": 5, "test": 5, "prod": 20}
"""How many remote clusters each stage has in each region: 60, and two management clusters."""
TENANTS = 40

_TENANT = """\
  team-{0}:
    quota: {{pods: 40}}
    sources:
      manifests: {{git: {{url: "https://git.example.com/{0}/manifests", ref: {{branch: main}}}}}}
      charts: {{helm: {{url: "https://charts.example.com/{0}"}}}}
    apps:
      api: {{kustomize: {{source: manifests, path: "./api/{{stage}}"}}}}
      web: {{kustomize: {{source: manifests, path: "./web/{{stage}}"}}, dependsOn: [api]}}
      cache: {{helm: {{source: charts, chart: cache, version: 1.x}}, clusters: {{labels: {{region: {1}}}}}}}
"""


def bank(tenants: int = TENANTS) -> bytes:
    """The file."""
    entries = (_TENANT.format(number, REGIONS[number % 2]) for number in range(tenants))
    return "".join(
        (
            "apiVersion: tenantry/v1\nenvironments:\n",
            *_environments(),
            "clusterGroups:\n",
            *_groups(),
            "clusters:\n",
            *_clusters(),
            'platform:\n  chart: {helm: {url: "https://charts.example.com", version: 0.3.0}}\n  addons:\n',
            '    policies: {clusters: {all: true}, source: {git: {url: "https://git.example.com/policies", ref: {tag: v1}}},'
            " kustomize: {path: ./policies}}\n",
            "defaults: {clusters: {labels: {tier: edge}}}\ntenants:\n",
            *entries,
        )
    ).encode()


def _environments() -> Iterator[str]:
    first, *others = REGIONS
    for stage in REMOTES:
        waves = ", protected: true, waves: [10%, rest]" if stage == "prod" else ""
        yield (
            f'  {stage}-{first}: {{management: hub-{first}, namespace: "{stage}-{{tenant}}", variables: {{stage: {stage}}}'
            f"{waves}}}\n"
        )
        yield from (f"  {stage}-{each}: {{extends: {stage}-{first}, management: hub-{each}}}\n" for each in others)


def _groups() -> Iterator[str]:
    for region in REGIONS:
        yield (
            f"  {region}: {{labels: {{tier: edge, region: {region}}},"
            ' kubeconfig: {capi: {cluster: "{cluster}", namespace: clusters}}}\n'
        )


def _clusters() -> Iterator[str]:
    for region in REGIONS:
        yield f"  hub-{region}: {{environments: [{', '.join(f'{stage}-{region}' for stage in REMOTES)}]}}\n"
        for stage, count in REMOTES.items():
            yield from (
                f"  {stage}-{region}-{n}: {{group: {region}, environments: [{stage}-{region}]}}\n" for n in range(count)
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="bench.bank", description="Write the fleet of a bank.")
    parser.add_argument("directory", type=Path)
    given = parser.parse_args()
    print(write(given.directory, bank()))
