"""The fleet of a bank: three stages on two management clusters, with 62 clusters and 40 tenants. It is made here, not kept.

`python -m bench.bank DIRECTORY` writes it as three environments, `--split` as an environment for each stage and management cluster.
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


def bank(tenants: int = TENANTS, *, split: bool = False) -> bytes:
    """The file. split: an environment for each stage and management cluster, as files had to say it before."""
    entries = (_TENANT.format(number, REGIONS[number % 2]) for number in range(tenants))
    return "".join(
        (
            "apiVersion: tenantry/v1\nenvironments:\n",
            *(_split_environments() if split else _environments()),
            "clusterGroups:\n",
            *_groups(split=split),
            "clusters:\n",
            *_clusters(split=split),
            'platform:\n  chart: {helm: {url: "https://charts.example.com", version: 0.3.0}}\n  addons:\n',
            '    policies: {clusters: {all: true}, source: {git: {url: "https://git.example.com/policies", ref: {tag: v1}}},'
            " kustomize: {path: ./policies}}\n",
            "defaults: {clusters: {labels: {tier: edge}}}\ntenants:\n",
            *entries,
        )
    ).encode()


def _environments() -> Iterator[str]:
    for stage in REMOTES:
        rollout = ", protected: true, rollout: {waves: [{percent: 10}, {all: true}]}" if stage == "prod" else ""
        hubs = ", ".join(f"hub-{region}" for region in REGIONS)
        yield f'  {stage}: {{management: [{hubs}], namespace: "{{env}}-{{tenant}}", variables: {{stage: {stage}}}{rollout}}}\n'


def _split_environments() -> Iterator[str]:
    for stage in REMOTES:
        first, *others = REGIONS
        rollout = ", protected: true, rollout: {waves: [{percent: 10}, {all: true}]}" if stage == "prod" else ""
        yield (
            f'  {stage}-{first}: {{management: hub-{first}, namespace: "{stage}-{{tenant}}", variables: {{stage: {stage}}}'
            f"{rollout}}}\n"
        )
        yield from (f"  {stage}-{each}: {{extends: {stage}-{first}, management: hub-{each}}}\n" for each in others)


def _groups(*, split: bool) -> Iterator[str]:
    for region in REGIONS:
        management = "" if split else f"management: hub-{region}, "
        yield (
            f"  {region}: {{{management}labels: {{tier: edge, region: {region}}},"
            ' kubeconfig: {capi: {cluster: "{cluster}", namespace: clusters}}}\n'
        )


def _clusters(*, split: bool) -> Iterator[str]:
    for region in REGIONS:
        every = ", ".join(_environment(stage, region, split=split) for stage in REMOTES)
        yield f"  hub-{region}: {{environments: [{every}]}}\n"
        for stage, count in REMOTES.items():
            environment = _environment(stage, region, split=split)
            yield from (
                f"  {stage}-{region}-{n}: {{group: {region}, environments: [{environment}]}}\n" for n in range(count)
            )


def _environment(stage: str, region: str, *, split: bool) -> str:
    return f"{stage}-{region}" if split else stage


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="bench.bank", description="Write the fleet of a bank.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--split", action="store_true", help="as an environment for each stage and management cluster")
    given = parser.parse_args()
    print(write(given.directory, bank(split=given.split)))
