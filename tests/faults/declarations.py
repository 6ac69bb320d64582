"""What the attacker writes into the part of tenants.yaml that is its own: a file that `include` takes in.

`refusal` is what `tenantry validate` has to say of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.faults.arena import TENANT
from tests.faults.forgeries import KUBECONFIG


@dataclass(frozen=True, slots=True)
class Declaration:
    """text: the whole file."""

    name: str
    tried: str
    text: str
    refusal: str


def tenant(body: str, name: str = TENANT) -> str:
    return f"tenants:\n  {name}:\n{body}"


GIT = '    sources: {manifests: {git: {url: "{git}/mallory/manifests.git", ref: {branch: main}}}}\n'
_CHARTS = '    sources: {charts: {helm: {url: "{charts}"}}}\n'


def app(block: str) -> str:
    return tenant(f"{GIT}    apps: {{web: {{kustomize: {{source: manifests, path: ./bait, {block}}}}}}}\n")


def release(block: str) -> str:
    return tenant(f"{_CHARTS}    apps: {{web: {{helm: {{source: charts, chart: movy-web, version: 1.x, {block}}}}}}}\n")


def with_setting(settings: str, name: str = TENANT) -> str:
    return tenant(f"    {settings}\n{GIT}    apps: {{web: {{kustomize: {{source: manifests}}}}}}\n", name)


def source_block(block: str) -> str:
    url = 'url: "{git}/mallory/manifests.git", ref: {branch: main}'
    return tenant(
        f"    sources: {{manifests: {{git: {{{url}, {block}}}}}}}\n    apps: {{web: {{kustomize: {{source: manifests}}}}}}\n"
    )


# Without the name, which a message leaves out where it may be a secret itself.
_UNDECLARED = "which are not declared"
_VALUES = f"valuesFrom: [{{kind: Secret, name: {KUBECONFIG}}}]"
_VARIABLES = f"postBuild: {{substituteFrom: [{{kind: Secret, name: {KUBECONFIG}}}]}}"
_REFERENCE = f"secretRef: {{name: {KUBECONFIG}}}"


def _called(name: str) -> Declaration:
    refusal = f"this file may not speak of tenant '{name}'"
    return Declaration(f"called-{name}", f"a tenant called `{name}`", with_setting("alerts: {}", name), refusal)


def _owned(key: str, block: str, *, helm: bool = False) -> Declaration:
    text = release(block) if helm else app(block)
    return Declaration(f"owned-{key.lower()}", f"`{block}`", text, f"key '{key}' cannot be set")


DECLARATIONS = (
    Declaration("values", f"`{_VALUES}`", release(_VALUES), _UNDECLARED),
    Declaration("variables", f"`{_VARIABLES}`", app(_VARIABLES), _UNDECLARED),
    Declaration(
        "decryption", f"`decryption: {_REFERENCE}`", app(f"decryption: {{provider: sops, {_REFERENCE}}}"), _UNDECLARED
    ),
    Declaration(
        "verification", f"`verify: {_REFERENCE}`", source_block(f"verify: {{mode: HEAD, {_REFERENCE}}}"), _UNDECLARED
    ),
    Declaration(
        "source-secret", f"a source's `{_REFERENCE}`", source_block(_REFERENCE), "key 'secretRef' cannot be set"
    ),
    _owned("kubeConfig", f"kubeConfig: {{{_REFERENCE}}}"),
    _owned("serviceAccountName", "serviceAccountName: tenantry-platform"),
    _owned("sourceRef", "sourceRef: {kind: GitRepository, name: rocky.manifests.33453a54}"),
    Declaration(
        "storage",
        "`storageNamespace: tenantry-system`",
        release("storageNamespace: tenantry-system"),
        f"'tenantry-system' is not a namespace of tenant '{TENANT}'",
    ),
    _owned("chartRef", "chartRef: {kind: HelmChart, name: any, namespace: rocky}", helm=True),
    Declaration(
        "target",
        "`targetNamespace: rocky`",
        app("targetNamespace: rocky"),
        f"'rocky' is not a namespace of tenant '{TENANT}'",
    ),
    Declaration(
        "namespace",
        "a second namespace called `rocky`",
        with_setting("namespaces: {x: {name: rocky}}"),
        "name 'rocky' does not contain '{namespace}'",
    ),
    _called("rocky"),
    _called("kube-system"),
    _called("newcomer"),
    Declaration(
        "platform",
        "`platform:` in its file",
        f"platform: {{namespace: rocky}}\n{with_setting('alerts: {}')}",
        "an included file may only contain 'tenants:', not 'platform:'",
    ),
    Declaration(
        "clusters",
        "`clusters:` in its file",
        f"clusters: {{}}\n{with_setting('alerts: {}')}",
        "an included file may only contain 'tenants:', not 'clusters:'",
    ),
    Declaration(
        "masters",
        "`system:masters` as an owner",
        with_setting("owners: [{group: 'system:masters'}]"),
        "'system:masters' is reserved by Kubernetes",
    ),
    Declaration(
        "account",
        "a role for a neighbour's service account",
        with_setting("owners: [{serviceAccount: {name: rocky, namespace: rocky}}]"),
        f"service account 'rocky/rocky' belongs to tenant 'rocky', not to tenant '{TENANT}'",
    ),
    Declaration(
        "neighbours-source",
        "a neighbour's source",
        tenant(f"{GIT}    apps: {{web: {{kustomize: {{source: rocky/manifests}}}}}}\n"),
        "names source 'rocky/manifests', which is not declared",
    ),
    Declaration(
        "path",
        "a path out of the source",
        tenant(f"{GIT}    apps: {{web: {{kustomize: {{source: manifests, path: ../rocky}}}}}}\n"),
        "path '../rocky' leaves the source",
    ),
    Declaration(
        "dependency",
        "an app of a neighbour in `dependsOn`",
        tenant(f"{GIT}    apps: {{web: {{dependsOn: [rocky/web], kustomize: {{source: manifests}}}}}}\n"),
        "names app 'rocky/web', which is not declared",
    ),
    Declaration(
        "identity",
        "the controllers' own cloud identity",
        source_block("provider: azure"),
        "provider 'azure' uses the cloud identity of Flux's controllers",
    ),
)


def existing(name: str) -> str:
    """A sound file: credentials of some name that others have put there, which an app takes its variables from."""
    variables = f"postBuild: {{substituteFrom: [{{kind: Secret, name: {name}}}]}}"
    app = f"web: {{kustomize: {{source: manifests, {variables}}}}}"
    return tenant(f"    credentials: {{{name}: {{existing: true}}}}\n{GIT}    apps: {{{app}}}\n")
