"""A fleet whose main file declares entries of a tenant, beside those of the tenant's own file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from tenantry.fleet.merge import Layer, merge
from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import InvalidFleet, Problem

Data = dict[str, Any]

MAIN: Data = yaml.safe_load("""
apiVersion: tenantry/v1
include: [rocky.yaml]
environments: {dev: {management: hub, variables: {secret: Secret, config: ConfigMap, yes: "true"}}}
clusters:
  hub: {environments: [dev]}
  edge: {environments: [dev], kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
tenants:
  rocky:
    clusters: {names: [hub, edge]}
    grants:
      clusters: {names: [hub, edge]}
      sources: ["https://git.example.com/rocky/*", "oci://registry.example.com/rocky/*", "s3://s3.example.com/*"]
      alerts: ["https://hooks.example.com/*"]
    credentials:
      deploy: {keys: [username, password, token]}
      there: {existing: true}
    configs:
      base: {data: {A: b}}
    sources:
      base: {git: {url: https://git.example.com/platform/base, ref: {branch: main}}, credentials: deploy}
      open: {git: {url: https://git.example.com/platform/open, ref: {branch: main}}}
      charts: {helm: {url: https://charts.example.com}, credentials: deploy}
    apps:
      base:
        kustomize: {source: base, postBuild: {substituteFrom: [{kind: ConfigMap, name: base}]}}
        dependsOn: [open]
      open: {kustomize: {source: open, postBuild: {substituteFrom: [{kind: Secret, name: there}]}}}
      chart: {helm: {source: charts, chart: a, version: 1.x}}
""")
OWN: Data = yaml.safe_load("""
credentials: {mine: {keys: [address, username, password, token]}}
configs: {mine: {data: {A: b}}}
sources:
  m: {git: {url: https://git.example.com/rocky/m, ref: {branch: main}}, credentials: mine}
  o: {oci: {url: oci://registry.example.com/rocky/o, ref: {tag: v1}}}
  s: {bucket: {bucketName: b, endpoint: s3.example.com}}
  h: {helm: {url: oci://registry.example.com/rocky/h, type: oci}}
apps:
  web: {kustomize: {source: m, postBuild: {substituteFrom: [{kind: ConfigMap, name: mine}]}}}
  cache: {helm: {source: h, chart: c, version: 1.x}}
  blob: {kustomize: {source: s}}
  oci: {kustomize: {source: o}}
""")
"""What the file of the team says in all cases."""
CHAT: Data = {"type": "generic-hmac", "address": "https://hooks.example.com/x"}


def at(path: str, value: Any) -> Data:
    """`a.b` and 1 as {"a": {"b": 1}}."""
    for key in reversed(path.split(".")):
        value = {key: value}
    return value


def together(*layers: Data) -> Data:
    return merge([Layer((), each) for each in layers])


def write(said: Data, main: Data | None = None) -> Path:
    Path("rocky.yaml").write_text(json.dumps({"tenants": {"rocky": together(OWN, said)}}))
    Path("tenants.yaml").write_text(json.dumps(together(MAIN, main or {})))
    return Path("tenants.yaml")


def problems(said: Data, main: Data | None = None) -> list[Problem]:
    try:
        plan_all(load_fleet(write(said, main)))
    except InvalidFleet as invalid:
        return list(invalid.diagnostics)
    return []


def granted(**grants: Any) -> Data:
    return at("tenants.rocky.grants", grants)
