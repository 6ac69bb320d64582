"""Keys that earlier drafts had: the error says what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.fleet.hints import FORMER_KEYS, fix_for_former
from tenantry.fleet.shape import check_shape
from tenantry.load import load_fleet
from tenantry.messages.errors import InvalidFleet
from tenantry.source.parse import parse
from tests.table import table
from tests.unit.texts import FRAME, problems, rocky


def test_no_model_has_a_key_that_is_gone() -> None:
    known = [(model.__name__, key) for model, rows in FORMER_KEYS.items() for key in rows if key in model.model_fields]
    assert not known


def test_the_row_of_a_model_holds_for_those_that_extend_it() -> None:
    for model, rows in FORMER_KEYS.items():
        extended = type("Extended", (model,), {})
        assert all(fix_for_former(extended, key) == fix for key, fix in rows.items())


ENVIRONMENT = (
    "declare an environment for each management cluster: 'extends:' the first, with a 'management:' of its own"
)


_FLEET = "apiVersion: tenantry/v1\nenvironments: {dev: {management: hub}}\nclusters: {hub: {environments: [dev]}}\n"
TENANT = _FLEET + "tenants: {rocky: {%s}}\n"


@table(
    ("text", "fix"),
    [
        (
            TENANT % "grants: {annotations: [a.example.com/]}",
            "remove it, and set the tenant's annotations in the main file",
        ),
        (TENANT % "grants: {labels: [a.example.com/]}", "remove it, and set the tenant's labels in the main file"),
        (TENANT % "grants: {limits: {apps: 1}}", "remove it: what a team's file may say has bounds of its own"),
        (TENANT % "grants: {push: ['*']}", "remove it: nothing of a team's file pushes"),
        (TENANT % "grants: {roles: [view]}", "remove it: with 'settings: [owners]' the file gives 'view'"),
        (TENANT % "grants: {share: {sources: [base]}}", "declare what the file names in the file itself"),
        (TENANT % "grants: {shortestInterval: 1m}", "remove it: what a team's file may say has bounds of its own"),
        (TENANT % "grants: {variables: [seats]}", "remove it, and set the tenant's variables in the main file"),
        (TENANT % "require: {pinned: true}", "enforce it with a policy engine, such as Kyverno as an add-on"),
        (TENANT % "roleBindings: {}", "declare a RoleBinding under 'objects:', or add who has the role to 'owners:'"),
        (TENANT % "roles: {}", "declare a Role and a RoleBinding under 'objects:'"),
        (TENANT % "formerly: [rock]", "remove it: a tenant under another name is a new tenant"),
        (TENANT % "namespaces: {a: {formerly: []}}", "remove it: a tenant under another name is a new tenant"),
        (
            _FLEET + "platform: {require: {pinned: true}}\n",
            "enforce it with a policy engine, such as Kyverno as an add-on",
        ),
        (_FLEET + "defaults: {roles: {}}\n", "declare a Role and a RoleBinding under 'objects:'"),
    ],
)
def test_what_the_author_is_told(text: str, fix: str) -> None:
    found = check_shape(parse(text.encode(), "tenants.yaml").data).findings
    assert [each.code for each in found] == ["unknown-key"]
    assert found[0].fix.startswith(fix)


GONE_KEYS = [
    # what the main file says beside the frame of tests, the key, a part of the fix
    ("include: [{clusters: more.yaml}]", "clusters", "write 'files:'"),
    ("include: [{tenants: more.csv, each: {class: small}}]", "each", "an entry on one line for each row"),
    ("include: [{environment: dev, files: more.yaml}]", "environment", "overrides: [{when: {environments: ...}}]"),
    ("include: [{tenants: more.yaml, of: [rocky]}]", "of", "name each file after the tenant"),
    ("include: [{tenants: more.yaml, class: small}]", "class", "declare each tenant with its 'from:'"),
]


@table("text, key, fix", GONE_KEYS, ids=lambda row: row[0])
def test_the_error_for_a_key_of_include_says_what_to_write(
    text: str, key: str, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("more.yaml", "more.csv"):
        Path(name).write_text("tenants: {}\n")
    Path("tenants.yaml").write_text(f"{FRAME}{text}\n")
    with pytest.raises(InvalidFleet) as caught:
        load_fleet(Path("tenants.yaml"))
    found = [each.fix for each in caught.value.diagnostics if each.code == "unknown-key" and each.path[-1] == key]
    assert found, caught.value.diagnostics
    assert fix in found[0]


KAMAJI = "kamaji: {controlPlane: edge, namespace: kamaji}"
SHARD = "write 'shard:' of each cluster"
ROCKY = "clusters: {names: [hub]}"
PLATFORM = 'platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}'


@table(
    ("before", "after", "key", "fix"),
    [
        (
            "web: {",
            "web: {imageAutomation: {images: {}}, ",
            "imageAutomation",
            "let an app on the management cluster apply the objects of image automation from the tenant's repository",
        ),
        (
            "manifests: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}",
            "manifests: {externalArtifact: {}}",
            "externalArtifact",
            "Flux's own kinds of sources are left: write 'git:', 'oci:', 'helm:' or 'bucket:'",
        ),
        (
            PLATFORM,
            f"{PLATFORM}, receivers: {{push: {{type: github}}}}",
            "receivers",
            "remove it: an interval of the source makes Flux fetch, and receivers of tenants stay",
        ),
        (
            PLATFORM,
            f"{PLATFORM}, longNames: shorten",
            "longNames",
            "remove it: names that are too long are always shortened, with a hash",
        ),
        (
            PLATFORM,
            f"{PLATFORM}, addons: {{dns: {{clusters: {{all: true}}, scope: environment}}}}",
            "scope",
            "remove it, and declare an add-on for each environment, with 'environments:'",
        ),
        (
            PLATFORM,
            f"{PLATFORM}, addons: {{dns: {{clusters: {{all: true}}, account: {{role: edit}}}}}}",
            "role",
            "write 'existing: NAME', an account that exists",
        ),
        (
            KAMAJI,
            "secret: {name: a, namespace: a, key: a, from: {stack: a, output: a}}",
            "from",
            "remove it: the stack that makes the cluster writes the Secret",
        ),
        (
            KAMAJI,
            "configMap: {name: a, namespace: a, provider: aws}",
            "provider",
            "remove it: who makes the cluster writes the ConfigMap with the keys of Flux's 'kubeConfig.configMapRef'",
        ),
        ("management: hub", "management: hub, fluxShards: [a, b]", "fluxShards", SHARD),
        ("management: hub", "management: hub, dedicatedFluxShards: [a]", "dedicatedFluxShards", SHARD),
        (ROCKY, f"{ROCKY}\n    shard: a", "shard", SHARD),
        ("{source: manifests}}", "{source: manifests}, rollout: false}", "rollout", "write 'waves: false'"),
    ],
)
def test_the_error_for_an_object_that_is_gone_says_what_to_write(before: str, after: str, key: str, fix: str) -> None:
    text = rocky("web: {kustomize: {source: manifests}}", ROCKY)
    assert before in text
    assert f"error[unknown-key]: key '{key}' is not known here" in (told := problems(text.replace(before, after)))
    assert f"fix: {fix}" in told.replace("\n    ", " ")


FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub}
  prod: {management: hub-prod}
clusters:
  hub: {environments: [dev]}
  hub-prod: {environments: [prod]}
"""
HUB = "management: hub"

SCHEDULE = "remove it: the schedule of the pipeline says when changes begin"
CLUSTERS = "write 'names:' or 'labels:' of clusters"


@table(
    ("before", "after", "key", "fix"),
    [
        ("environments:", "windows: {night: {allow: {hours: '22:00-04:00'}}}\nenvironments:", "windows", SCHEDULE),
        (HUB, f"{HUB}, windows: [night]", "windows", SCHEDULE),
        ("{environments: [dev]}", "{environments: [dev], management: hub}", "management", ENVIRONMENT),
        ("clusters:", "templates: {clusters: {edge: {management: hub}}}\nclusters:", "management", ENVIRONMENT),
        ("{environments: [dev]}", "{environments: [dev], windows: [night]}", "windows", SCHEDULE),
        ("clusters:", "templates: {clusters: {edge: {windows: [night]}}}\nclusters:", "windows", SCHEDULE),
        (
            "management: hub-prod",
            "management: hub-prod, after: {environment: dev, gate: warn}",
            "gate",
            "remove it: a mapping refuses what the environment before does not run, and a name alone sets the order",
        ),
        (
            HUB,
            f"{HUB}, rollout: {{waves: [{{all: true}}]}}",
            "rollout",
            "write its keys beside it: 'waves:', 'timeout:' and 'tolerate:'",
        ),
        (
            HUB,
            f"{HUB}, by: tenants, waves: [{{all: true}}]",
            "by",
            "remove it: waves take clusters, by 'names:', 'labels:', 'percent:' or 'all:'",
        ),
        (
            HUB,
            f"{HUB}, disabled: true, waves: [{{all: true}}]",
            "disabled",
            "remove it: without 'waves:' a change reaches all clusters at the same time",
        ),
        (
            HUB,
            f"{HUB}, waves: [{{all: true}}], checks: {{up: {{http: {{url: 'https://example.com'}}}}}}",
            "checks",
            "remove it, and test in the pipeline: a run ends after a wave with 'soak:', and a later run goes on",
        ),
        (
            HUB,
            f"{HUB}, waves: [{{all: true}}], maxParallel: 20",
            "maxParallel",
            "remove it, and write more waves, such as '10%'",
        ),
        (
            HUB,
            f"{HUB}, waves: [{{all: true}}], unreachableAfter: 5m",
            "unreachableAfter",
            "remove it: a cluster counts as unreachable after two minutes",
        ),
        (
            HUB,
            f"{HUB}, waves: [{{all: true, approval: {{groups: [release]}}}}]",
            "approval",
            "remove it: an environment of the pipeline, with reviewers, approves a run",
        ),
        (
            HUB,
            f"{HUB}, waves: [{{all: true, exclude: [hub]}}]",
            "exclude",
            "remove it, and give the clusters of the wave a label of their own, or write 'names:'",
        ),
        (HUB, f"{HUB}, waves: [{{all: true, tenants: [rocky]}}]", "tenants", CLUSTERS),
        (HUB, f"{HUB}, waves: [{{all: true, class: small}}]", "class", CLUSTERS),
    ],
)
def test_the_error_for_a_key_about_runs_says_what_to_write_instead(before: str, after: str, key: str, fix: str) -> None:
    told = problems(FLEET.replace(before, after, 1))
    assert f"error[unknown-key]: key '{key}' is not known here\n" in told, told
    assert f"\n  fix: {fix}\n" in told, told
    assert told.endswith("Found 1 error\n"), told


def test_a_list_of_management_clusters_becomes_an_environment_for_each() -> None:
    told = problems(
        rocky("web: {kustomize: {source: manifests}}", ROCKY).replace("management: hub", "management: [hub, edge]")
    )
    assert "fix: declare an environment for each management cluster" in told
