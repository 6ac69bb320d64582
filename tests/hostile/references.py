"""Names that form cycles, do not exist, or lead out of the directory."""

from __future__ import annotations

from collections.abc import Iterator

from tests.hostile.case import FLEET, FRAME, Case

_TEAM = "tenants:\n  movy: {clusters: {all: true}}\n"


def cases() -> Iterator[Case]:
    for name, environments in _ENVIRONMENTS.items():
        raw = f"apiVersion: tenantry/v1\nenvironments: {environments}\nclusters: {{hub: {{environments: [dev]}}}}\n"
        yield Case(f"environments/{name}", raw.encode())
    for name, apps in _APPS.items():
        raw = FLEET.replace("      web: {kustomize: {source: manifests, path: ./web}}\n", apps)
        yield Case(f"apps/{name}", raw.encode())
    for name, pattern in _PATTERNS.items():
        raw = f"{FRAME}include: [{pattern}]\ntenants: {{movy: {{}}}}\n"
        yield Case(f"include/{name}", raw.encode(), beside={"t/movy.yaml": _TEAM})
    for name, text in _INCLUDED.items():
        yield Case(
            f"included/{name}",
            f"{FRAME}include: ['t/*.yaml']\ntenants: {{movy: {{}}}}\n".encode(),
            beside={"t/movy.yaml": text},
        )
    for name, text in _PIECES.items():
        raw = f"{FLEET}include: [{{files: more.yaml}}]\n"
        yield Case(f"piece/{name}", raw.encode(), ("NEVER-SHOW-THIS",), beside={"more.yaml": text})


_PIECES = {
    "is-empty": "",
    "is-a-list": "[]",
    "includes-more": "include: ['/etc/*']\n",
    "declares-an-environment": "environments: {evil: {management: hub}}\n",
    "declares-a-tenant-again": "tenants: {rocky: {quota: {pods: 1}}}\n",
    "has-tenants-that-are-a-list": "tenants: [evil]\n",
    "has-tenants-that-are-nothing": "tenants:\n",
    "has-a-cluster-that-is-nothing": "clusters: {evil: }\n",
    "has-a-class-that-is-a-text": "tenantClasses: {evil: small}\n",
    "has-names-of-all-kinds": "tenants: {../up: {}, kube-system: {}, -a: {}, A: {}, platform: {}}\n",
    "has-a-password": "tenants: {evil: {sources: {m: {git: {url: 'https://me:NEVER-SHOW-THIS@git.example.com/x'}}}}}\n",
    "is-nested-without-end": "tenants: " + "{a: " * 2_000,
    "names-aliases-without-end": "a: &a [x, x]\n"
    + "".join(f"b{n}: &b{n} [*{'a' if not n else f'b{n - 1}'}, *{'a' if not n else f'b{n - 1}'}]\n" for n in range(40)),
}


_ENVIRONMENTS = {
    "extends-itself": "{dev: {extends: dev}}",
    "extends-in-a-circle": "{dev: {extends: b}, b: {extends: c}, c: {extends: dev}}",
    "extends-nothing": "{dev: {extends: gone, management: hub}}",
    "extends-a-long-chain": "{dev: {management: hub}, e0: {extends: dev}, "
    + ", ".join(f"e{number}: {{extends: e{number - 1}}}" for number in range(1, 500))
    + "}",
    "extends-a-long-circle": "{dev: {management: hub}, "
    + ", ".join(f"e{number}: {{extends: e{(number + 1) % 500}}}" for number in range(500))
    + "}",
    "after-itself": "{dev: {management: hub, after: dev}}",
    "after-in-a-circle": "{dev: {management: hub, after: b}, b: {management: hub, after: dev, namespace: '{env}-{tenant}'}}",
    "extends-a-list": "{dev: {extends: [dev], management: hub}}",
    "none": "{}",
    "all-of-them-null": "{dev: null}",
}
_APP = "      {0}: {{kustomize: {{source: manifests, path: ./web}}, dependsOn: [{1}]}}\n"
_APPS = {
    "depends-on-itself": _APP.format("web", "web"),
    "depend-in-a-circle": _APP.format("web", "db") + _APP.format("db", "web"),
    "depend-in-a-long-circle": "".join(_APP.format(f"a{number}", f"a{(number + 1) % 50}") for number in range(50)),
    "depends-on-nothing": _APP.format("web", "gone"),
    "depends-on-an-add-on-that-is-not": _APP.format("web", "platform/gone"),
    "depends-on-hundreds": _APP.format("web", ", ".join(f"gone-{number}" for number in range(300))),
    "takes-no-source": "      web: {kustomize: {path: ./web}}\n",
    "takes-a-source-of-another": "      web: {kustomize: {source: platform/manifests, path: ./web}}\n",
    "leaves-its-source": "      web: {kustomize: {source: manifests, path: ../../etc}}\n",
    "starts-at-the-root": "      web: {kustomize: {source: manifests, path: /etc}}\n",
    "asks-for-unknown-placeholders": "      web: {kustomize: {source: manifests, path: '"
    + "".join(f"{{p{number}}}" for number in range(1500))
    + "'}}\n",
    "names-endless-placeholders": f"      web: {{kustomize: {{source: manifests, path: '{'{' * 3001}x{'}' * 3001}'}}}}\n",
    "has-a-long-name": f"      {'w' * 64}: {{kustomize: {{source: manifests, path: ./web}}}}\n",
    "has-an-endless-name": f"      ? {'w' * 50_000}\n      : {{kustomize: {{source: manifests, path: ./web}}}}\n",
    "has-an-endless-interval": f"      web: {{kustomize: {{source: manifests, path: ./web, interval: {'9' * 400}h}}}}\n",
    "is-nothing": "      web:\n",
    "is-of-no-kind": "      web: {}\n",
    "is-of-two-kinds": "      web: {kustomize: {source: manifests}, helm: {source: manifests}}\n",
    "names-a-secret-of-others": "      web: {kustomize: {source: manifests, path: ./web, decryption: {provider: sops, "
    "secretRef: {name: kubeconfig}}}}\n",
    "sets-what-is-the-fleets": "      web: {kustomize: {source: manifests, path: ./web, serviceAccountName: admin}}\n",
}
_PATTERNS = {
    "leaves-the-directory": "'../*.yaml'",
    "leaves-it-far-below": "'t/../../*.yaml'",
    "is-absolute": "/etc/passwd",
    "is-a-device": "/dev/zero",
    "is-the-file-itself": "tenants.yaml",
    "takes-the-file-itself": "'*.yaml'",
    "is-a-directory": "t",
    "is-the-directory-itself": "'.'",
    "takes-nothing": "'gone/*.yaml'",
    "is-empty": "''",
    "is-a-number": "5",
    "is-a-mapping": "{a: b}",
    "is-null": "~",
    "is-long": f"'{'x' * 5000}'",
    "is-deep": f"'{'*/' * 2000}x'",
    "is-deep-below-what-is-there": f"'{'./t/./' * 1}{'x/' * 100}'",
    "holds-a-nul": '"a\\0b"',
    "holds-a-surrogate": '"a\\ud800"',
    "holds-a-newline": '"a\\nb"',
    "is-a-home": "'~/tenants.yaml'",
    "is-a-url": "'https://example.com/tenants.yaml'",
    "is-an-open-bracket": "'[a-'",
    "is-stars": f"'{'*' * 2000}x'",
    "is-double-stars": f"'{'**/' * 30}x'",
}
_INCLUDED = {
    "is-empty": "",
    "is-no-yaml": "tenants: [",
    "is-a-list": "- a\n",
    "includes-others": f"{_TEAM}include: ['*.yaml']\n",
    "holds-clusters": f"{_TEAM}clusters: {{}}\n",
    "has-tenants-that-are-none": "tenants: 5\n",
    "has-no-tenants": "{}\n",
    "is-a-bomb": "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)),
    "is-another-fleet": FLEET,
    "has-thousands-of-unknown-keys": "tenants:\n  movy:\n" + "".join(f"    key{n}: 1\n" for n in range(4000)),
    "has-thousands-of-labels": "tenants: {movy: {labels: {" + ", ".join(f"l{n}: a" for n in range(5000)) + "}}}\n",
    "is-full-of-braces": (
        "tenants: {movy: {clusters: {names: [hub]}, sources: {s: {git: {url: 'https://git.example.com/a', ref: {branch: '"
        + "{x}" * 233_333
        + "'}}}}, apps: {a: {kustomize: {source: s, path: '"
        + "{" * 700_001
        + "'}}}}}\n"
    ),
    "has-a-tenant-of-the-system": "tenants:\n  KUBE-system: {clusters: {all: true}}\n",
}
