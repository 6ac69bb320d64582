"""Keys that people bring along from other tools, and what to write here instead.

Called by: `hints`, for a key that its mapping does not take.
Never: says where one of our own keys belongs, which `elsewhere` derives from the model.
"""

from __future__ import annotations

from tenantry.model import (
    App,
    AppPatch,
    Cluster,
    Document,
    Environment,
    Git,
    GitRef,
    HelmPatch,
    HelmRepository,
    KustomizePatch,
    Model,
    Oci,
    OciRef,
    Platform,
    Selector,
    Tenant,
)
from tenantry.model.clusters import Kubeconfig
from tenantry.model.document import PlacedSettings
from tenantry.model.tenancy import Limits, Subject
from tenantry.rollout.model import Rollout

_SOURCE = "declare the address under 'sources:', and write 'source: NAME' here"
_SOURCE_OF_APP = "declare the address under 'sources:', and write 'source: NAME' under 'kustomize:' or 'helm:'"
_SECRET = (
    "store its kubeconfig in a Secret on the management cluster, and write 'kubeconfig:' with 'secret:' under it, which takes"
    " 'name: NAME-kubeconfig', 'namespace: clusters' and 'key: value'; for Cluster API, with 'capi: {cluster: NAME, namespace:"
    " clusters}'"
)
_IN_VALUES = "set it in the 'values:' of 'helm:', or in a patch under 'kustomize:'"
_REVISION = "write it in the source: 'ref: {branch: ...}'"
_PATCHES = "write 'patches: [{patch: ...}]'"
_PAUSED = "write 'state: paused'"
_IMAGES = "write 'images: [{name: NAME, newTag: TAG}]' under 'kustomize:', or set it in the 'values:' of 'helm:'"
_TIMES = "remove it: Flux applies an app when its source changes, and every 'interval:'"
_OF_APPS = {
    **dict.fromkeys(("repo", "repoURL", "repository", "url", "git", "oci"), _SOURCE_OF_APP),
    **dict.fromkeys(("image", "tag"), _IMAGES),
    "replicas": _IN_VALUES,
    "resources": _IN_VALUES,
    "env": _IN_VALUES,
    "chartVersion": "write 'version' under 'helm:'",
    "helmRelease": "write 'helm'",
    "HelmRelease": "write 'helm'",
    "chartRef": "write 'source' under 'helm:'",
    "syncPolicy": "remove it: Flux applies every change; 'prune' stands under 'kustomize:'",
    "project": "remove it: the tenant takes the place of a project",
    "destination": "write 'clusters: {names: [CLUSTER]}'",
    "strategy": "write 'rollout: {waves: [...]}'",
    "spec": "write 'kustomize:' or 'helm:', with the keys of the spec",
    "cron": _TIMES,
    "schedule": _TIMES,
}
_OF_URLS = dict.fromkeys(("repoURL", "repo", "repository", "address", "uri", "URL", "endpointURL"), "write 'url'")
_OF_SOURCES = {
    **_OF_URLS,
    **dict.fromkeys(("revision", "targetRevision"), "write 'ref: {branch: ...}', or 'tag', 'semver' or 'commit' in it"),
    "path": "write it in the app: 'kustomize: {path: ...}'",
}
_OF_LABELS = "write 'labels: {KEY: VALUE}' for selectors, or 'variables: {KEY: VALUE}' for placeholders"

HABITS: dict[type[Model], dict[str, str]] = {
    App: _OF_APPS | {"enabled": _PAUSED, "suspend": _PAUSED},
    AppPatch: _OF_APPS,
    KustomizePatch: {
        **dict.fromkeys(("repo", "repoURL", "repository", "url", "git"), _SOURCE),
        **dict.fromkeys(("targetRevision", "revision", "branch", "tag", "ref"), _REVISION),
        **dict.fromkeys(("patchesStrategicMerge", "patchesJson6902"), _PATCHES),
        **dict.fromkeys(("resources", "bases"), "remove it: the kustomization.yaml in 'path' lists them"),
        "replicas": _PATCHES,
        "values": "remove it: only 'helm:' apps take values; write 'postBuild: {substitute: {KEY: VALUE}}'",
        **dict.fromkeys(("substitute", "substituteFrom"), "write 'postBuild: {substitute: ...}'"),
    },
    HelmPatch: {
        **dict.fromkeys(("repo", "repoURL", "repository", "url"), _SOURCE),
        **dict.fromkeys(("chartVersion", "targetRevision", "revision"), "write 'version'"),
        **dict.fromkeys(("set", "parameters"), "write 'values'"),
        **dict.fromkeys(("name", "release"), "write 'releaseName'"),
        "valueFiles": "write 'valuesFiles'",
        "createNamespace": "remove it: the app's namespaces are created before it",
        "atomic": "write 'upgrade: {remediation: {retries: 3}}'",
        "wait": "remove it: Flux waits, unless 'disableWait: true' stands under 'install:' and 'upgrade:'",
        "skipCrds": "write 'install: {crds: Skip}'",
    },
    Git: _OF_SOURCES,
    Oci: _OF_SOURCES,
    HelmRepository: {
        **_OF_URLS,
        **dict.fromkeys(("chart", "version", "chartVersion"), "write it in the app, under 'helm:'"),
    },
    Limits: {
        "requests": "write 'defaultRequest'",
        "request": "write 'defaultRequest'",
        "limits": "write 'default'",
        "limit": "write 'default'",
    },
    GitRef: {
        "revision": "write 'branch', 'tag' or 'commit'",
        "ref": "write 'branch', 'tag' or 'commit'",
        "version": "write 'tag', or 'semver' for a range",
        "sha": "write 'commit'",
        "hash": "write 'commit'",
    },
    OciRef: {"version": "write 'tag', or 'semver' for a range", "branch": "write 'tag'", "revision": "write 'digest'"},
    Selector: {
        "matchLabels": "write 'labels'",
        "matchExpressions": "write 'labels: {KEY: VALUE}', or list the clusters: 'names: [...]'",
        "labelSelector": "write 'labels: {KEY: VALUE}'",
        "selector": "write 'labels: {KEY: VALUE}'",
        **dict.fromkeys(("environments", "environment", "env"), "write 'environments: [...]' beside 'clusters:'"),
    },
    Environment: {
        "clusters": "write 'environments: [NAME]' in each cluster under 'clusters:'",
        "cluster": "write 'management'",
        **dict.fromkeys(("hubs", "managements"), "write 'management: [...]'"),
        "dependsOn": "write 'after'",
        "domain": "write 'variables: {domain: ...}'",
    },
    Cluster: {
        **dict.fromkeys(("server", "endpoint", "url", "context", "apiServer", "secretRef", "kubeConfig"), _SECRET),
        **dict.fromkeys(("region", "zone", "cloud", "type", "tags", "tier", "provider"), _OF_LABELS),
        "tenants": "remove it: tenants choose their clusters, with 'clusters:'",
        "hub": "write 'management'",
    },
    Kubeconfig: {
        "secretRef": "write 'secret:' with 'name: NAME', 'namespace: NAMESPACE' and 'key: value'",
        "configMapRef": "write 'configMap: {name: NAME, namespace: NAMESPACE}'",
    },
    Platform: {
        "apps": "write 'addons'",
        "charts": "write 'addons'",
    },
    Rollout: {"canary": "write 'waves: [{percent: 10}, {all: true}]'", "steps": "write 'waves'"},
    Subject: {
        "users": "write an entry for each: '- user: NAME'",
        "groups": "write an entry for each: '- group: NAME'",
    },
    Tenant: {
        **dict.fromkeys(
            ("secrets", "secret"), "write 'credentials: {NAME: {keys: [...]}}'; values never stand in the file"
        ),
        **dict.fromkeys(("members", "users", "team", "admins"), "write 'owners: [{user: NAME}]'"),
        "name": "remove it: the key above is the tenant's name",
        "project": "remove it: the tenant takes the place of a project",
    },
    PlacedSettings: {
        **dict.fromkeys(("networkPolicy", "networkPolicies"), "write 'network: {policies: {NAME: ...}}'"),
        **{
            key: f"remove it: it is the default; to change it, write 'kustomize: {{{key}: ...}}' in the app"
            for key in ("prune", "wait")
        },
        **dict.fromkeys(("suspend", "enabled"), "remove it, and write 'state: paused' in the tenant or the app"),
        "limitRange": "write 'limits: {default: {...}}'",
        "resources": "write 'quota:' for all pods together, or 'limits:' for each container",
    },
    Document: {
        "version": "write 'apiVersion: tenantry/v1'",
        **dict.fromkeys(("envs", "stages"), "write 'environments'"),
        **dict.fromkeys(("imports", "includes", "files"), "write 'include'"),
        **dict.fromkeys(("teams", "projects"), "write 'tenants'"),
        "sources": "write 'tenants: {NAME: {sources: ...}}', or 'platform: {sources: ...}' for add-ons",
    },
}
"""What to write instead, by the model of the mapping and the key."""


def fix_for_habit(model: type[Model], key: str) -> str:
    """What to write instead of a key of another tool; "" if it is none."""
    return next((fixes[key] for known, fixes in HABITS.items() if issubclass(model, known) and key in fixes), "")
