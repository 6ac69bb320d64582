"""The platform's credentials where several environments use them on one cluster."""

from __future__ import annotations

from tenantry.load import plan_all
from tests.unit.texts import fleet, planned

FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub, namespace: "{env}-{tenant}"}
  qa: {management: hub, namespace: "{env}-{tenant}"}
clusters:
  hub: {environments: [dev, qa]}
  edge: {environments: [dev, qa], kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}
platform:
  credentials: {git: {keys: [username, password]}}
  chart: {helm: {url: "https://charts.example.com", version: 0.1.0}, credentials: git}
  addons:
    first:
      clusters: {all: true}
      environments: [dev]
      source: {git: {url: "https://git.example.com/first", ref: {branch: main}}, credentials: git}
      kustomize: {}
    second:
      clusters: {all: true}
      environments: [qa]
      source: {git: {url: "https://git.example.com/second", ref: {branch: main}}, credentials: git}
      kustomize: {}
tenants:
  rocky:
    clusters: {all: true}
    credentials: {git: {existing: true}}
    sources: {app: {git: {url: "https://git.example.com/app", ref: {branch: main}}, credentials: git}}
    apps: {web: {kustomize: {source: app}}}
"""


def secrets(text: str, environment: str) -> set[str]:
    """Which Secrets an environment's objects name, those that it plans and those that exist."""
    return {
        each.manifest["spec"]["secretRef"]["name"]
        for each in planned(text, environment).objects
        if "secretRef" in each.manifest.get("spec", {})
    }


def test_each_environment_has_the_secrets_of_its_own_objects() -> None:
    assert secrets(FLEET, "dev") == {"git", "tenantry-system.dev.git", "dev-rocky.git"}
    assert secrets(FLEET, "qa") == {
        *("qa.platform.git", "tenantry-system.qa.git"),
        *("git", "qa-rocky.git"),
    }
    assert set(plan_all(fleet(FLEET))) == {"dev", "qa"}


def test_no_tenant_can_name_the_platforms_secret_by_being_called_like_an_environment() -> None:
    text = FLEET.replace("  rocky:\n", "  rocky:\n    namespace: qa\n    environments: [qa]\n")
    assert secrets(text, "qa") == {"git", "qa.git", "qa.platform.git", "tenantry-system.qa.git"}
