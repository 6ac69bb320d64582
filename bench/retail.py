"""The fleet of a retailer: 1,500 stores as remote clusters of two hubs, with the versions of each ring. It is made here, not kept.

`python -m bench.retail DIRECTORY` writes it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from bench.fleets import write

REGIONS = {"eu": ("de", "fr", "nl"), "us": ("east", "south")}
"""By environment, each with a hub of its own."""
STORES = 1_500

_HEAD = """\
apiVersion: tenantry/v1
environments:
  eu:
    management: hub-eu
    namespace: "{tenant}"
    protected: true
    variables: {registry: eu.registry.shop.example}
    waves:
      - {name: lab, labels: {ring: lab}}
      - {name: pilot, labels: {ring: pilot}}
      - {name: ten, percent: 10}
      - {name: half, percent: 50}
      - {name: rest, all: true}
    timeout: 30m
    tolerate: {failed: 0, unreachable: 5%}
  us: {extends: eu, management: hub-us, variables: {registry: us.registry.shop.example}}
templates:
  clusters:
    store:
      kubeconfig: {secret: {name: "{cluster}-kubeconfig", namespace: stores, key: value}}
      labels: {kind: store, size: m}
      variables: {pos: 5.4.1, kiosk: 2.8.0}
    lab: {from: store, labels: {ring: lab}, variables: {pos: 5.6.0-rc.2, kiosk: 3.0.0}}
    pilot: {from: store, labels: {ring: pilot}, variables: {pos: 5.5.0, kiosk: 2.9.0}}
    late: {from: store, labels: {ring: late}}
"""
_REST = """\
platform:
  chart: {helm: {url: "oci://registry.shop.example/charts", type: oci, version: 0.1.0}}
  addons:
    agent:
      clusters: {labels: {kind: store}}
      source: {oci: {url: "oci://registry.shop.example/platform/agent", ref: {tag: v3.1.0}}}
      kustomize: {postBuild: {substitute: {STORE: "{cluster}", REGION: "{region}"}}}
    dns:
      clusters: {labels: {kind: store}}
      source: {helm: {url: "oci://registry.shop.example/charts", type: oci}}
      helm: {chart: dns, version: 1.2.0, targetNamespace: dns}
defaults:
  clusters: {labels: {kind: store}}
  interval: 6h
  retryInterval: 10m
  timeout: 10m
  quota: {pods: 30}
tenants:
  pos:
    sources:
      till: {oci: {url: "oci://{registry}/pos/till", ref: {tag: "{pos}"}, interval: 1h}}
    apps:
      db: {kustomize: {source: till, path: ./db}}
      till:
        kustomize: {source: till, path: ./till, postBuild: {substitute: {STORE: "{cluster}"}}}
        dependsOn: [db]
        overrides:
          - {when: {clusters: {labels: {size: l}}}, kustomize: {postBuild: {substitute: {TILLS: 24}}}}
          - {when: {clusters: {labels: {size: s}}}, kustomize: {postBuild: {substitute: {TILLS: 4}}}}
  kiosk:
    sources:
      charts: {helm: {url: "oci://{registry}/charts", type: oci}}
    apps:
      kiosk: {helm: {source: charts, chart: kiosk, version: "{kiosk}", values: {store: "{cluster}"}}}
"""


def retail(stores: int = STORES) -> bytes:
    """The file. stores: of both hubs together; each wave has a store from 24 on."""
    return "".join((_HEAD, *_templates(), "clusters:\n", *_clusters(stores), _REST)).encode()


def _templates() -> Iterator[str]:
    for environment in REGIONS:
        yield from (
            f"    {ring}-{environment}: {{from: {ring}, environments: [{environment}]}}\n"
            for ring in ("lab", "pilot", "late")
        )


def _clusters(stores: int) -> Iterator[str]:
    count = stores // len(REGIONS)
    lab = max(1, count // 150)
    pilot = lab + max(1, count // 15)
    for environment, regions in REGIONS.items():
        yield f"  hub-{environment}: {{environments: [{environment}]}}\n"
        for index in range(count):
            ring = "lab" if index < lab else "pilot" if index < pilot else "late"
            region, size = regions[index % len(regions)], "sml"[index % 3]
            own = f", size: {size}" if size != "m" else ""  # the template's own
            yield (
                f"  store-{environment}-{index:04}: {{from: {ring}-{environment}, labels: {{region: {region}{own}}},"
                f" variables: {{region: {region}}}}}\n"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="bench.retail", description="Write the fleet of a retailer.")
    parser.add_argument("directory", type=Path)
    given = parser.parse_args()
    print(write(given.directory, retail()))
