"""What a hostile team writes: values that hurt in one place or another."""

from __future__ import annotations

from typing import Any

TEXTS: tuple[str, ...] = (
    *("{tenant}", "{env}", "{cluster}", "{app}", "{cloud}", "{system}", "{other}", "{fast}", "{up}", "{nope}"),
    *("aws", "azure", "gcp", "generic", "github", "sops"),
    *("movy", "movy-web", "edge-movy-manifests", "edge.movy.git", "web", "baseline", "tenantry", "rocky"),
    *("kube-system", "flux-system", "default", "clusters", "certs", "tenantry-system", "monitoring", "istio-system"),
    *("tenantry-platform", "edge-kubeconfig", "far-kubeconfig", "clusterrole-aggregation-controller"),
    *("cluster-admin", "admin", "edit", "view", "system:masters", "system:serviceaccount:clusters:movy"),
    *("0s", "1ms", "1s", "29s", "30s", "1m", "0.001h"),
    *("edge", "far", "hub", "edge-rocky", "dev", "prod", "all", "..", "."),
    *("googlepubsub", "azureeventhub", "azuredevops", "slack", "generic-hmac", "privileged", "restricted"),
)
ADDRESSES: tuple[str, ...] = (
    "https://evil.example.com/x",
    "https://git.example.com/movy/manifests",
    "https://git.example.com/rocky",
    "https://git.example.com/rocky/../movy/manifests",
    "https://git.example.com/rocky/%2e%2e/movy/manifests",
    "https://git.example.com/rocky/{up}/movy/manifests",
    "https://git.example.com/rocky//manifests",
    "https://git.example.com@evil.example.com/rocky/manifests",
    "https://git.example.com:8443/rocky/manifests",
    "https://git.example.com.evil.example.com/rocky/x",
    "https://GIT.example.com/rocky/manifests",
    "https://git.example.com/rocky/a?b=/rocky/",
    "https://git.example.com/rocky\\@evil.example.com",
    "https://git.example.com/rocky/..;/movy/manifests",
    "https://git.example.com/rocky/\uff0e\uff0e/movy/manifests",
    "https://git.example.com/rocky/manifests,https://evil.example.com",
    "nats://git.example.com,nats://evil.example.com:4222",
    "https://{other}.example.com/rocky/x",
    "https://git.example.com/{tenant}/new",
    "http://git.example.com/rocky/manifests",
    "http://169.254.169.254/latest",
    "ssh://git@git.example.com/rocky/manifests",
    "oci://registry.example.com/rocky/bundle",
    "oci://registry.example.com/movy/bundle",
    "http://source-controller.flux-system.svc/gitrepository/movy",
)
PATHS: tuple[Any, ...] = (
    *("./web", "web/{env}", "../movy", "a/../../movy", "{up}/movy", "web/{up}/{up}", "/etc", "a\\..\\..\\b", "..", ""),
    *("{nope}", None),
)
ANYTHING: tuple[Any, ...] = (None, None, {}, [], True, False, 0, "", ["movy"], {"name": "movy"}, [{"name": "movy"}])
TIMES = ("0s", "1ms", "{fast}", "0.001h", "29s", "30s", "1m", "5m", "10m", "61m", "25h", "8700h")
SOURCES_OF_APPS = (
    "manifests",
    "charts",
    "bundle",
    "given",
    "given",
    "lent",
    "movy",
    "edge-movy-manifests",
    "{other}",
    None,
)
SECRETS = (
    "git",
    "deploy",
    "deploy",
    "edge.rocky.deploy",
    "sops",
    "there",
    "movy",
    "edge.movy.git",
    "edge-kubeconfig",
    "{other}",
    None,
)
REFERENCES: tuple[Any, ...] = (
    *({"name": "there"}, {"name": "git"}, {"name": "sops"}, {"name": "there", "key": "ca.crt"}),
    *({"kind": "Secret", "name": "there"}, {"kind": "ConfigMap", "name": "settings", "optional": True}),
    *({"name": "deploy"}, {"kind": "Secret", "name": "deploy"}, {"kind": "{secret}", "name": "deploy"}),
    *({"kind": "ConfigMap", "name": "lent"}, {"kind": "{config}", "name": "lent"}),
    {"name": "movy"},
    {"name": "git", "namespace": "movy"},
    {"name": "edge.movy.git"},
    {"name": "edge-kubeconfig"},
    {"name": "{other}"},
    {"kind": "GitRepository", "name": "manifests", "namespace": "movy"},
    {"kind": "Secret", "name": "edge.movy.git"},
    None,
    {},
    {"name": None},
)
DECRYPTIONS: tuple[Any, ...] = (
    {"provider": "sops"},
    {"provider": "sops", "secretRef": None},
    {"provider": "sops", "secretRef": {}},
    {"provider": "sops", "secretRef": {"name": "{other}"}},
    {"provider": "sops", "serviceAccountName": "movy"},
    None,
)
KUBECONFIGS: tuple[Any, ...] = (
    {"secretRef": {"name": "edge-kubeconfig", "key": "value"}},
    {"configMapRef": {"name": "settings"}},
    None,
)
SUBJECTS: tuple[Any, ...] = (
    [{"group": "team-rocky", "role": "cluster-admin"}],
    [{"group": "system:masters"}],
    [{"user": "system:serviceaccount:clusters:movy"}],
    [{"serviceAccount": {"name": "movy", "namespace": "movy"}, "role": "edit"}],
    [{"serviceAccount": {"name": "default", "namespace": "{other}"}}],
    [{"serviceAccount": {"name": "tenantry-platform", "namespace": "clusters"}}],
    [{"serviceAccount": {"name": "certs", "namespace": "certs"}}],
    [{"user": "eve", "role": "edit"}],
    [{"user": "eve"}],
)
METADATA: tuple[Any, ...] = (
    {"rocky.example.com/stage": "beta"},
    {"rocky.example.com.evil/x": "y"},
    {"admission.gatekeeper.sh/ignore": "true"},
    {"istio-injection": "enabled"},
    {"pod-security.kubernetes.io/enforce": "privileged"},
    {"pod-security.kubernetes.io/enforce-version": "v1.0"},
    {"toolkit.fluxcd.io/tenant": "movy"},
    {"helm.sh/resource-policy": "keep"},
    {"team": "other"},
)
NAMESPACES: tuple[Any, ...] = (
    {"jobs": {}},
    {"jobs": {"name": "movy"}},
    {"jobs": {"name": "{namespace}"}},
    {"web": {"name": "{namespace}-{key}"}},
    {"x": {"name": "kube-{namespace}"}},
    {"x": {"name": "{namespace}-system"}},
    {"jobs": {"podSecurity": "privileged"}},
    {"jobs": {"labels": {"istio-injection": "enabled"}}},
    {"jobs": {"labels": {"rocky.example.com/a": "b"}}},
    {"jobs": {"quota": {"pods": 1000}}},
)
_WHENS: tuple[Any, ...] = (
    {"environments": ["dev"]},
    {"clusters": {"labels": {"zone": "in"}}},
    *({"clusters": {"names": [name]}} for name in ("edge", "hub", "far")),
)
OVERRIDES: tuple[Any, ...] = tuple(
    [{"when": when, kind: {key: value}}]
    for when in _WHENS
    for kind in ("kustomize", "helm")
    for key, value in (
        ("timeout", "1m"),
        ("path", "./other"),
        ("values", {"a": "b"}),
        ("interval", "1ms"),
        ("retryInterval", "{fast}"),
        ("targetNamespace", "{other}"),
        ("targetNamespace", "kube-system"),
        ("decryption", {"secretRef": None}),
        ("decryption", None),
        ("kubeConfig", {"secretRef": {"name": "far-kubeconfig"}}),
        ("serviceAccountName", "movy"),
        ("source", "given"),
        ("valuesFrom", [{"kind": "Secret", "name": "edge.movy.git"}]),
        ("postBuild", {"substituteFrom": [{"kind": "Secret", "name": "edge-kubeconfig"}]}),
    )
)
OVERRIDES_OF_TENANTS: tuple[Any, ...] = (
    *OVERRIDES,
    *([{"when": each["when"], "apps": {"web": each}}] for (each,) in OVERRIDES),
    *([{**each, "when": {}}] for (each,) in OVERRIDES[:2]),
    *(
        [{"when": when, "sources": {"manifests": {"git": {key: value}}}}]
        for when in _WHENS
        for key, value in (
            ("url", "https://git.example.com/rocky/other"),
            ("url", "https://git.example.com/movy/manifests"),
            ("url", "{other}"),
            ("secretRef", {"name": "deploy"}),
            ("interval", "1ms"),
            ("ref", {"branch": "next"}),
            ("proxySecretRef", {"name": "edge.movy.git"}),
        )
    ),
    *([{"when": when, "sources": {"manifests": {"credentials": each}}}] for when in _WHENS for each in SECRETS),
    *(
        [{"when": when, key: value}]
        for when in _WHENS
        for key, value in (("quota", {"pods": 1000}), ("network", "open"))
    ),
)
_FOREIGN: tuple[dict[str, Any], ...] = (
    {"role": "cluster-admin"},
    {"state": "offboarding"},
    {"podSecurity": "privileged"},
    {"labels": {"istio-injection": "enabled"}},
    {"apps": {"given": {"kustomize": {"path": "./mine"}}}},
    {"apps": {"movy": {"dependsOn": []}}},
    {"sources": {"given": {"git": {"url": "https://evil.example.com"}}}},
    {"clusters": {"all": True}},
)
FOREIGN_OVERRIDES: tuple[Any, ...] = tuple([{"when": when, **change}] for when in _WHENS for change in _FOREIGN)
PROVIDERS: tuple[Any, ...] = ("aws", "azure", "gcp", "{cloud}", "generic", "github", None)
