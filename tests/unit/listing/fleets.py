"""A fleet whose apps have different versions in environments and on clusters, by every way in which a file says so."""

from __future__ import annotations

VERSIONS = (
    """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub-dev, variables: {shop: 2.5.0}}
  prod: {management: hub-prod, variables: {shop: 2.3.0}}
clusters:
  hub-dev: {environments: [dev], labels: {tier: hub}}
  hub-prod: {environments: [prod], labels: {tier: hub}}
"""
    + "".join(
        f"  eu-{number}: {{environments: [prod], labels: {{tier: edge}},"
        f" kubeconfig: {{kamaji: {{controlPlane: eu-{number}, namespace: kamaji}}}}}}\n"
        for number in range(1, 6)
    )
    + """\
platform:
  chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}
  addons:
    dns:
      clusters: {labels: {tier: hub}}
      source: {helm: {url: "oci://registry.example.com/charts", type: oci}}
      helm: {chart: coredns, version: 1.0.0, targetNamespace: dns}
tenants:
  movy:
    clusters: {all: true}
    owners: [{group: movy-team, role: edit}, {user: jo@example.com}]
    namespaces: {jobs: {}}
    clusterRoles: {nodes: {rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]}}
    overrides: [{when: {environments: [prod]}, owners: [{group: movy-team}]}]
    sources:
      charts: {helm: {url: "https://charts.example.com/movy"}}
      manifests: {git: {url: "https://git.example.com/movy/manifests.git", ref: {branch: "{env}"}}}
      images: {oci: {url: "oci://registry.example.com/movy/app", ref: {tag: v1}}}
    apps:
      shop:
        helm: {source: charts, chart: shop, version: "{shop}"}
      cache:
        helm: {source: charts, chart: redis, version: 1.0.0}
        overrides:
          - {when: {environments: [dev]}, helm: {version: 3.0.0}}
          - {when: {clusters: {labels: {tier: edge}}}, helm: {version: 2.0.0}}
          - {when: {clusters: {names: [eu-2]}}, helm: {version: 2.1.0}}
      api:
        kustomize: {source: manifests, path: ./api}
        overrides: [{when: {environments: [prod]}, kustomize: {source: images, path: ./}}]
  rocky:
    clusters: {names: [hub-dev]}
    sources: {base: {git: {url: "https://git.example.com/movy2", ref: {branch: main}}}}
    apps:
      web: {kustomize: {source: base}}
"""
)
