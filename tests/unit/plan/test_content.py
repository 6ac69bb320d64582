"""What decides what an app is."""

from __future__ import annotations

from tenantry.plan.after import contents_by
from tests.table import table
from tests.unit.texts import planned

TEXT = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub-dev}
  prod: {management: hub-prod}
clusters:
  hub-dev: {environments: [dev]}
  hub-prod: {environments: [prod]}
  edge-1: {environments: [prod], kubeconfig: {kamaji: {controlPlane: edge-1, namespace: kamaji}}}
  edge-2: {environments: [prod], kubeconfig: {kamaji: {controlPlane: edge-2, namespace: kamaji}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
defaults: {clusters: {all: true}}
tenants:
  rocky:
    configs: {settings: {data: {COLOR: blue}}}
    credentials: {git: {keys: [username, password]}, values: {existing: true}}
    sources:
      manifests: {git: {url: https://git.example.com/rocky, ref: {tag: v1}}, credentials: git}
      charts: {helm: {url: https://charts.example.com/rocky}}
    apps:
      web:
        kustomize: {source: manifests, path: ./web, postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}}
      db:
        helm: {source: charts, chart: plain, version: 1.0.0, values: {color: red}, valuesFrom: [{kind: Secret, name: values}]}
"""
EDGE_3 = "  edge-3: {environments: [prod], kubeconfig: {kamaji: {controlPlane: edge-3, namespace: kamaji}}}\n"


def contents(text: str, environment: str) -> dict[str, str]:
    return contents_by(planned(text, environment), lambda app: app.full_name)


def changed(text: str, environment: str = "prod") -> set[str]:
    """The apps that differ from those of the text above."""
    before, after = contents(TEXT, environment), contents(text, environment)
    assert before.keys() == after.keys()
    return {name for name in before if before[name] != after[name]}


def test_the_same_on_other_clusters_of_another_environment_has_the_same_digest() -> None:
    found = contents(TEXT, "dev")
    assert found == contents(TEXT, "prod")
    assert {name: len(each) for name, each in found.items()} == {"rocky/web": 16, "rocky/db": 16}


@table(
    ("old", "new", "app"),
    [
        ("tag: v1", "tag: v2", "web"),
        ("https://git.example.com/rocky", "https://git.example.com/other", "web"),
        ("./web", "./other", "web"),
        ("COLOR: blue", "COLOR: green", "web"),
        ("[username, password]", "[bearerToken]", "web"),
        ("https://charts.example.com/rocky", "https://charts.example.com/other", "db"),
        ("version: 1.0.0", "version: 1.0.1", "db"),
        ("color: red", "color: green", "db"),
        ("color: red", 'color: "{cluster}"', "db"),
        ("chart: plain", "chart: plain, install: {crds: Skip}", "db"),
    ],
)
def test_what_decides_changes_the_digest_of_its_app_alone(old: str, new: str, app: str) -> None:
    assert changed(TEXT.replace(old, new)) == {f"rocky/{app}"}


@table(
    ("old", "new"),
    [
        ("{all: true}}", "{all: true}, interval: 2h, timeout: 9m, retryInterval: 1m}"),
        ("tag: v1}", "tag: v1}, interval: 3h"),
        ("      db:\n", "      db:\n        dependsOn: [web]\n"),
        ("edge-1: {", "edge-1: {state: paused, "),
        ("hub-prod}", 'hub-prod, namespace: "{tenant}-prod"}'),
        ("platform: {chart", f"{EDGE_3}platform: {{chart"),
    ],
)
def test_when_and_where_an_app_runs_does_not(old: str, new: str) -> None:
    assert changed(TEXT.replace(old, new)) == set()


def test_add_ons_have_the_name_that_users_call_them() -> None:
    dns = "{clusters: {all: true}, source: {git: {url: https://git.example.com/b, ref: {tag: v1}}}, kustomize: {path: ./dns}}"
    assert "platform/dns" in contents(TEXT.replace("platform: {", f"platform: {{addons: {{dns: {dns}}}, "), "dev")
