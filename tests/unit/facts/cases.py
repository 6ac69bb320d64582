"""Changes of fleets that reviews are tested with: by name, the text before and the text after."""

from __future__ import annotations

from collections.abc import Iterator

from tests.unit.texts import CHART, FROM_GIT, rocky

APPS = (
    "web: {kustomize: {source: manifests, path: ./web}}\ncache: {helm: {source: charts, chart: valkey, version: 1.0.0}}"
)
EVERYWHERE = "clusters: {all: true}"
BASE = rocky(APPS, EVERYWHERE)
KAMAJI = "kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}"
EDGE = next(line for line in BASE.splitlines() if line.startswith("  edge:"))
TINA = """\
  tina:
    clusters: {names: [hub]}
    owners: [{group: tina-devs, role: edit}, {user: eve}]
    quota: {pods: 5}
    sources: {m: {git: {url: https://git.example.com/t, ref: {branch: main}}}}
    apps:
      web: {kustomize: {source: m, path: ./tina/web}}
      db: {kustomize: {source: m, path: ./db}, clusters: {names: [edge]}}
"""
TWO = BASE + TINA
ADDON = (
    "addons: {dns: {clusters: {all: true}, source: {helm: {url: https://charts.example.com}},"
    " helm: {chart: dns, version: 1.0.0, targetNamespace: dns}, namespaces: {dns: {}}}}"
)
WITH_ADDON = BASE.replace("platform: {", f"platform: {{{ADDON}, ")
GIVEN_UP = BASE.replace("labels: {tier: edge}", "labels: {tier: edge}, state: decommissioned")
SHARED = rocky(
    "\n".join(f"app{number}: {{kustomize: {{source: manifests, path: ./{number}}}}}" for number in range(3)), EVERYWHERE
)
CA = "objects: {ca: {apiVersion: v1, kind: ConfigMap, data: {a: b}}}"
POLICY = (
    "objects: {out: {apiVersion: networking.k8s.io/v1, kind: NetworkPolicy,"
    " spec: {podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}}}"
)
BINDING = (
    "objects: {ci: {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding,"
    " roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view},"
    " subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: ci}]}}"
)
ATTACHED = (
    "credentials: {git: {keys: [username, password]}, hook: {keys: [token, address]}}",
    "configs: {env: {data: {HOST: '{cluster}.example.com'}}}",
    "alerts: {chat: {provider: {type: slack, channel: ops}, credentials: hook, apps: [web]}}",
    "receivers: {push: {type: github, credentials: hook}}",
)
FAR = "  far: {environments: [dev], kubeconfig: {kamaji: {controlPlane: far, namespace: kamaji}}}"


def with_settings(*settings: str) -> str:
    return rocky(APPS, "\n".join([EVERYWHERE, *settings]))


def edited(before: str, *pairs: tuple[str, str]) -> tuple[str, str]:
    """The text, and the text after replacements."""
    after = before
    for old, new in pairs:
        assert old in after
        after = after.replace(old, new)
    return before, after


def cases() -> Iterator[tuple[str, tuple[str, str]]]:
    yield from _apps()
    yield from _sources()
    yield from _settings()
    yield from _namespaces()
    yield from _tenants()
    yield from _platform()
    yield from _clusters()
    yield from _environments()


def _apps() -> Iterator[tuple[str, tuple[str, str]]]:
    yield "a version", edited(BASE, ("version: 1.0.0", "version: 2.x"))
    yield "values", edited(BASE, ("version: 1.0.0", "version: 1.0.0, values: {host: a, image: {tag: '1'}}"))
    yield (
        "values with the cluster in them, and a secret",
        edited(
            BASE.replace("version: 1.0.0", "version: 1.0.0, values: {host: '{cluster}.a', password: x}"),
            ("{cluster}.a', password: x", "{cluster}.b', password: y"),
        ),
    )
    yield "a path", edited(BASE, ("./web", "./web/next"))
    yield "a path with the cluster in it", edited(BASE, ("path: ./web", "path: './{cluster}/web'"))
    yield "a paused app", edited(BASE, ("web: {", "web: {state: paused, "))
    yield "a resumed app", edited(BASE.replace("web: {", "web: {state: paused, "), ("state: paused, ", ""))
    yield "an app marked for removal", edited(BASE, ("web: {", "web: {state: offboarding, "))
    yield (
        "a mark of removal that a new name has taken along",
        edited(BASE.replace("web: {", "web: {state: removing, "), ("web: {state", "site: {state")),
    )
    yield (
        "an app that is not removed after all",
        edited(BASE.replace("web: {", "web: {state: offboarding, "), ("state: offboarding, ", "")),
    )
    yield "a dependency that only Pulumi keeps", edited(BASE, ("cache: {", "cache: {dependsOn: [web], "))
    yield "a release's name", edited(BASE, ("chart: valkey", "chart: valkey, releaseName: store"))
    yield "metadata", edited(BASE, ("web: {", "web: {metadata: {labels: {example.com/a: b}}, "))
    yield (
        "a release instead of manifests",
        edited(
            BASE,
            ("{kustomize: {source: manifests, path: ./web}}", "{helm: {source: charts, chart: web, version: 1.0.0}}"),
        ),
    )
    yield "a renamed app", edited(BASE, ("web: {", "shop: {"), ("./web", "./shop"))
    yield "a removed app", edited(BASE, (APPS.splitlines()[1], ""))
    yield (
        "a removed app whose objects stay",
        edited(
            BASE.replace("path: ./web}", "path: ./web, deletionPolicy: Orphan}"),
            ("web: {kustomize: {source: manifests, path: ./web, deletionPolicy: Orphan}}", ""),
        ),
    )
    yield "an app on one cluster less", edited(BASE, ("web: {", "web: {clusters: {names: [edge]}, "))
    yield "an app that moves", edited(TWO, ("names: [edge]", "names: [hub]"))
    yield (
        "an app that moves and keeps its tenant there",
        edited(BASE.replace("web: {", "web: {clusters: {names: [edge]}, "), ("names: [edge]", "names: [hub]")),
    )


def _sources() -> Iterator[tuple[str, tuple[str, str]]]:
    yield "a ref", edited(BASE, ("branch: main", "tag: v1"))
    yield "a URL that three apps share", edited(SHARED, ("git.example.com/rocky", "git.example.com/other"))
    git = "{git: {url: https://git.example.com/rocky, ref: {branch: main}}}"
    yield (
        "an artifact instead of a repository",
        edited(BASE, (git, "{oci: {url: oci://r.example.com/x, ref: {tag: v1}}}")),
    )
    yield "credentials, a config, an alert and a receiver", (BASE, with_settings(*ATTACHED))
    yield (
        "a quota, and beside it a source that a receiver fetches from now on",
        edited(
            with_settings("quota: {pods: 5}", *ATTACHED),
            ("pods: 5", "pods: 6"),
            (
                "      charts: {helm",
                "      more: {git: {url: https://git.example.com/more, ref: {tag: v1}}}\n      charts: {helm",
            ),
            ("      web: {", "      more: {kustomize: {source: more}}\n      web: {"),
        ),
    )
    yield (
        "an alert's channel, a receiver's type, a key of credentials and a config",
        edited(
            with_settings(*ATTACHED),
            ("channel: ops", "channel: dev"),
            ("type: github", "type: gitlab"),
            ("token, address", "token, address, more"),
            ("'{cluster}.example.com", "'www.{cluster}.example.com"),
        ),
    )


def _settings() -> Iterator[tuple[str, tuple[str, str]]]:
    yield "a role", edited(with_settings("role: edit"), ("role: edit", "role: view"))
    yield "a quota", edited(with_settings("quota: {pods: 5}"), ("pods: 5", "pods: 3, cpu: 1"))
    yield "limits", (BASE, with_settings("limits: {default: {cpu: 1}}"))
    yield "an open network", (BASE, with_settings("network: open"))
    yield "a network policy", edited(with_settings("network: open", POLICY), ("10.0.0.0/8", "10.0.0.0/16"))
    yield (
        "owners",
        edited(
            with_settings("owners: [{group: devs, role: edit}, {user: bob}]"),
            ("{group: devs, role: edit}, {user: bob}", "{group: devs, role: view}, {user: eve}"),
        ),
    )
    yield (
        "role bindings",
        edited(
            with_settings(BINDING),
            ("kind: ClusterRole, name: view", "kind: ClusterRole, name: edit"),
            ("kind: Group, name: ci", "kind: User, name: ci"),
        ),
    )
    yield "pod security", (BASE, with_settings("podSecurity: restricted"))
    yield "labels and annotations", (BASE, with_settings("labels: {team: a}", "annotations: {example.com/a: b}"))
    yield (
        "the name of the service account",
        edited(with_settings("serviceAccount: {name: one}"), ("name: one", "name: two")),
    )
    yield (
        "the annotations of the service account",
        (BASE, with_settings("serviceAccount: {annotations: {example.com/role: arn}}")),
    )
    yield "rights on whole clusters", (BASE, with_settings("clusterRoles: {pv: {role: pv-access}}"))
    yield "permission to give cluster-admin", (BASE, with_settings("clusterAdmin: true"))
    yield "an interval", (BASE, with_settings("interval: 1m"))
    yield "an interval for retries", (BASE, with_settings("retryInterval: 45s"))
    sharded = WITH_ADDON.replace("labels: {tier: edge}", "labels: {tier: edge}, shard: a")
    yield "the shard of a cluster", (WITH_ADDON, sharded)
    yield "no more shard of a cluster", (sharded, WITH_ADDON)
    yield "adoption", (BASE, with_settings("adopt: true"))
    yield "an object", (BASE, with_settings(CA))


def _namespaces() -> Iterator[tuple[str, tuple[str, str]]]:
    two = with_settings("namespaces: {jobs: {}, more: {}}", "quota: {pods: 5}", CA)
    yield "a first namespace beside the main one", (BASE, with_settings("namespaces: {jobs: {}}"))
    yield "a quota in all namespaces", edited(two, ("pods: 5", "pods: 6"))
    yield "a quota in one of them", edited(two, ("jobs: {}", "jobs: {quota: {pods: 1}}"))
    yield "an object in all namespaces", edited(two, ("a: b", "a: c"))
    yield "a removed namespace", edited(two, ("jobs: {}, ", ""))
    yield (
        "a main namespace with the name that another one had",
        edited(two, ("namespaces: {jobs: {}, ", "namespace: '{tenant}-jobs'\n    namespaces: {")),
    )
    yield "a namespace marked for removal", edited(two, ("jobs: {}", "jobs: {state: offboarding}"))
    yield "a service account in a namespace", edited(two, ("jobs: {}", "jobs: {serviceAccount: true}"))


def _tenants() -> Iterator[tuple[str, tuple[str, str]]]:
    yield "a new tenant with two apps", (BASE, TWO)
    yield "a removed tenant", (TWO, BASE)
    yield "a tenant marked for removal", edited(TWO, ("  tina:\n", "  tina:\n    state: offboarding\n"))
    yield "a paused tenant", edited(TWO, ("  tina:\n", "  tina:\n    state: paused\n"))
    yield "a renamed tenant", edited(TWO, ("  tina:\n", "  tini:\n"))
    yield "a renamed tenant with another version", edited(BASE, ("  rocky:\n", "  rocco:\n"), ("1.0.0", "2.0.0"))
    more = (
        ("clusters: {all: true}", "quota: {pods: 9}\n    role: edit\n    clusters: {all: true}"),
        ("branch: main", "branch: next"),
    )
    yield "a renamed tenant with another quota, role and source", edited(BASE, ("  rocky:\n", "  rocco:\n"), *more)
    yield "a tenant that leaves a cluster", edited(TWO, (EVERYWHERE, "clusters: {names: [hub]}"))
    yield (
        "a tenant that comes to a cluster",
        edited(
            BASE.replace(EVERYWHERE, "clusters: {names: [hub]}") + TINA,
            ("clusters: {names: [hub]}\n    apps", f"{EVERYWHERE}\n    apps"),
        ),
    )


def _platform() -> Iterator[tuple[str, tuple[str, str]]]:
    braces = WITH_ADDON.replace("{dns: {}}", "{dns: {annotations: {example.com/a: '{\"b\": 1}'}}}")
    yield "an add-on's annotation with braces", edited(braces, ("1.0.0", "2.0.0"))
    yield "a new add-on", (BASE, WITH_ADDON)
    yield "a removed add-on", (WITH_ADDON, BASE)
    yield "an add-on's version", edited(WITH_ADDON, ("dns, version: 1.0.0", "dns, version: 2.0.0"))
    yield (
        "an add-on's URL",
        edited(WITH_ADDON, ("source: {helm: {url: https://charts.", "source: {helm: {url: https://other.")),
    )
    yield "an add-on's namespace", edited(WITH_ADDON, ("{dns: {}}", "{dns: {labels: {team: net}}}"))
    yield "a paused add-on", edited(WITH_ADDON, ("{dns: {clusters", "{dns: {state: paused, clusters"))
    yield "an app that waits for an add-on", edited(WITH_ADDON, ("web: {", "web: {dependsOn: [platform/dns], "))
    yield "the chart of baselines", edited(WITH_ADDON, ("version: 0.1.0", "version: 0.2.0"))
    yield "the chart of baselines from Git", edited(WITH_ADDON, (CHART, FROM_GIT))
    yield (
        "another directory and branch of the chart of baselines",
        edited(
            WITH_ADDON.replace(CHART, FROM_GIT), ("branch: main}, path", "branch: next}, path"), ("/objects/", "/own")
        ),
    )
    yield "the namespace of the platform", edited(WITH_ADDON, ("platform: {", "platform: {namespace: team-zero, "))


def _clusters() -> Iterator[tuple[str, tuple[str, str]]]:
    yield "a new cluster", edited(WITH_ADDON, ("clusters:\n", f"clusters:\n{FAR}\n"))
    yield "two new clusters", edited(BASE, ("clusters:\n", f"clusters:\n{FAR}\n{FAR.replace('far', 'farther')}\n"))
    yield "a paused cluster", edited(TWO, ("labels: {tier: edge}", "labels: {tier: edge}, state: paused"))
    yield (
        "a cluster that is given up",
        edited(TWO, ("labels: {tier: edge}", "labels: {tier: edge}, state: decommissioned")),
    )
    yield "a cluster that is not given up after all", (GIVEN_UP, BASE)
    yield (
        "a cluster that was given up and goes",
        edited(GIVEN_UP, (next(line for line in GIVEN_UP.splitlines() if line.startswith("  edge:")) + "\n", "")),
    )
    yield "a cluster that goes", edited(BASE, (f"{EDGE}\n", ""))
    yield "a renamed cluster", edited(TWO.replace("names: [edge]", "labels: {tier: edge}"), ("  edge: {", "  far: {"))
    yield (
        "a renamed cluster with another version and values",
        edited(
            BASE.replace("version: 1.0.0", "version: 1.0.0, values: {host: '{cluster}.example.com', n: 1}"),
            ("  edge: {", "  far: {"),
            ("1.0.0", "2.0.0"),
            ("n: 1", "n: 2"),
        ),
    )
    yield "another kubeconfig", edited(WITH_ADDON, ("controlPlane: edge", "controlPlane: edge-b"))
    yield "another namespace of the kubeconfig", edited(WITH_ADDON, ("namespace: kamaji", "namespace: planes"))
    yield (
        "another service account of the platform",
        edited(WITH_ADDON, ("labels: {tier: edge}", "labels: {tier: edge}, platformServiceAccount: zero")),
    )


def _environments() -> Iterator[tuple[str, tuple[str, str]]]:
    more = edited(
        BASE,
        ("{management: hub}", "{management: hub}\n  far: {management: hub-2}"),
        ("clusters:\n  hub:", "clusters:\n  hub-2: {environments: [far]}\n  hub:"),
    )
    yield "a new environment", more
    yield "an environment that is no longer declared", (more[1], more[0])
    yield "protection", edited(BASE, ("{management: hub}", "{management: hub, protected: true}"))
    yield (
        "no protection",
        edited(BASE.replace("{management: hub}", "{management: hub, protected: true}"), (", protected: true", "")),
    )
    yield (
        "another template of namespaces",
        edited(BASE, ("{management: hub}", '{management: hub, namespace: "{env}-{tenant}"}')),
    )
    yield (
        "another management cluster, and a version",
        edited(
            BASE,
            ("management: hub", "management: edge"),
            (f", {KAMAJI}", ""),
            ("labels: {tier: hub}", f"labels: {{tier: hub}}, {KAMAJI.replace('edge', 'hub')}"),
            ("1.0.0", "2.0.0"),
        ),
    )
