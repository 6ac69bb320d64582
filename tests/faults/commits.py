"""What the attacker pushes: manifests and charts, each for an app of its own.

`refusal` is what Flux has to say of the app; {user} is whom Flux acts as, {content} where the sandbox serves repositories.
An attack without one goes through: `effect` says how far, in the words of docs/tenancy.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.faults.arena import EDGE, PLACES, TENANT, Place

RBAC = "rbac.authorization.k8s.io"
ADMISSION = "admissionregistration.k8s.io"
FORBIDDEN = 'User "{{user}}" cannot {verb} resource "{resource}" in API group "{group}" {scope}'


@dataclass(frozen=True, slots=True)
class Commit:
    """files: by path in the app's folder. targets: paths in the cluster's API whose objects have to stay as they are."""

    name: str
    tried: str
    files: Mapping[str, str]
    refusal: str
    targets: tuple[str, ...] = ()
    effect: str = ""
    places: tuple[Place, ...] = PLACES


def forbidden(verb: str, resource: str, group: str = "", namespace: str = "") -> str:
    scope = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    return FORBIDDEN.format(verb=verb, resource=resource, group=group, scope=scope)


def config_map(namespace: str, name: str = "intruder") -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: {namespace}}}\n"


def intruder(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps/intruder"


# --- manifests ------------------------------------------------------------------------------------------------------


def _moved(namespace: str) -> Mapping[str, str]:
    """Flux sets the namespace of everything; a transformer of one's own comes after that."""
    patch = f'[{{"op": "replace", "path": "/metadata/namespace", "value": "{namespace}"}}]'
    return {
        "kustomization.yaml": "resources: [app.yaml]\ntransformers: [move.yaml]\n",
        "app.yaml": config_map("anywhere"),
        "move.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: move}\n"
        f"target: {{name: intruder}}\npatch: '{patch}'\n",
    }


def _intrusion(name: str, namespace: str) -> Commit:
    refusal = forbidden("patch", "configmaps", "", namespace)
    return Commit(
        name, f"a ConfigMap moved to `{namespace}` by a transformer", _moved(namespace), refusal, (intruder(namespace),)
    )


def _manifest(
    name: str, tried: str, text: str, refusal: str, *targets: str, effect: str = "", places: tuple[Place, ...] = PLACES
) -> Commit:
    return Commit(name, tried, {"app.yaml": text}, refusal, targets, effect, places)


def _of_cluster(
    name: str, tried: str, api: str, kind: str, resource: str, body: str, object: str = "intruder"
) -> Commit:
    """Something that belongs to no namespace."""
    group = api.rpartition("/")[0]
    base = f"/apis/{api}" if group else f"/api/{api}"
    text = f"apiVersion: {api}\nkind: {kind}\nmetadata: {{name: {object}}}\n{body}"
    return _manifest(name, tried, text, forbidden("patch", resource, group), f"{base}/{resource}/{object}")


_EVERYTHING = "rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]\n"
_MASTER = f"roleRef: {{apiGroup: {RBAC}, kind: ClusterRole, name: cluster-admin}}\nsubjects: [{{kind: User, name: {TENANT}}}]\n"
_DEFINITION = (
    "spec: {group: example.com, scope: Cluster, names: {kind: Intruder, plural: intruders}, versions:"
    " [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n"
)
_WEBHOOK = (
    "webhooks: [{name: a.example.com, clientConfig: {url: 'https://127.0.0.1:1/'}, sideEffects: None,"
    " admissionReviewVersions: [v1], rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]}]\n"
)
_ESCALATION = "is attempting to grant RBAC permissions not currently held"
_OWN = f"/api/v1/namespaces/{TENANT}"
_CRITICAL = (
    "spec:\n  priorityClassName: system-cluster-critical\n"
    "  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}\n"
    "  containers: [{name: a, image: a, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]\n"
)
_FLUX = (
    "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: intruder}\n"
    "spec: {interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: manifests}}\n"
)

MANIFESTS = (
    _intrusion("neighbour", "rocky"),
    _intrusion("platform", "tenantry-system"),
    _intrusion("kubeconfigs", "kamaji-edge"),
    _intrusion("kube-system", "kube-system"),
    _of_cluster(
        "cluster-admin",
        "a ClusterRoleBinding to `cluster-admin`",
        f"{RBAC}/v1",
        "ClusterRoleBinding",
        "clusterrolebindings",
        _MASTER,
    ),
    _of_cluster(
        "aggregation",
        "a ClusterRole added to `admin`",
        f"{RBAC}/v1",
        "ClusterRole",
        "clusterroles",
        f"aggregationRule: {{clusterRoleSelectors: [{{matchLabels: {{{RBAC}/aggregate-to-admin: 'true'}}}}]}}\n{_EVERYTHING}",
    ),
    _manifest(
        "own-binding",
        "a RoleBinding to `cluster-admin` in its own namespace",
        f"apiVersion: {RBAC}/v1\nkind: RoleBinding\nmetadata: {{name: intruder}}\n{_MASTER}",
        _ESCALATION,
        f"/apis/{RBAC}/v1/namespaces/{TENANT}/rolebindings/intruder",
    ),
    _manifest(
        "own-role",
        "a Role with all rights in its own namespace",
        f"apiVersion: {RBAC}/v1\nkind: Role\nmetadata: {{name: intruder}}\n{_EVERYTHING}",
        _ESCALATION,
        f"/apis/{RBAC}/v1/namespaces/{TENANT}/roles/intruder",
    ),
    _manifest(
        "own-namespace",
        "another tenant's label, and no pod security, on its own namespace",
        f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {TENANT}\n"
        "  labels: {toolkit.fluxcd.io/tenant: rocky, pod-security.kubernetes.io/enforce: privileged}\n",
        forbidden("patch", "namespaces", "", TENANT),
        _OWN,
    ),
    _of_cluster(
        "crd",
        "a CustomResourceDefinition",
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        _DEFINITION,
        "intruders.example.com",
    ),
    _of_cluster(
        "webhook",
        "a webhook that sees all Secrets",
        f"{ADMISSION}/v1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        _WEBHOOK,
    ),
    _of_cluster(
        "api-service",
        "an APIService",
        "apiregistration.k8s.io/v1",
        "APIService",
        "apiservices",
        "spec: {group: example.com, version: v1, groupPriorityMinimum: 1, versionPriority: 1, service: {name: a, namespace: a}}\n",
        "v1.example.com",
    ),
    _of_cluster(
        "volume",
        "a PersistentVolume on the node's disk",
        "v1",
        "PersistentVolume",
        "persistentvolumes",
        "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /}}\n",
    ),
    _of_cluster(
        "priority",
        "a PriorityClass for all pods",
        "scheduling.k8s.io/v1",
        "PriorityClass",
        "priorityclasses",
        "value: 1000000\nglobalDefault: true\n",
    ),
    _of_cluster(
        "admission",
        "an admission policy emptied",
        f"{ADMISSION}/v1",
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
        "spec: {validations: [{expression: 'true'}]}\n",
        "tenantry-tenants",
    ),
    _manifest(
        "quota",
        "a quota of its own raised",
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: tenantry}\nspec: {hard: {pods: '4000'}}\n",
        forbidden("patch", "resourcequotas", "", TENANT),
        f"{_OWN}/resourcequotas/tenantry",
    ),
    _manifest(
        "limits",
        "limits of its own raised",
        "apiVersion: v1\nkind: LimitRange\nmetadata: {name: tenantry}\nspec: {limits: [{type: Container, default: {cpu: '64'}}]}\n",
        forbidden("patch", "limitranges", "", TENANT),
        f"{_OWN}/limitranges/tenantry",
    ),
    _manifest(
        "host-path",
        "a Pod on the node's disk, under `podSecurity: restricted`",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: intruder}\n"
        "spec: {containers: [{name: a, image: a}], volumes: [{name: a, hostPath: {path: /}}]}\n",
        'violates PodSecurity "restricted:latest"',
        f"{_OWN}/pods/intruder",
    ),
    _manifest(
        "endpoints",
        "an EndpointSlice that leads to others' pods",
        "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: intruder}\n"
        "addressType: IPv4\nendpoints: [{addresses: [10.0.0.1]}]\nports: [{port: 80}]\n",
        forbidden("patch", "endpointslices", "discovery.k8s.io", TENANT),
        f"/apis/discovery.k8s.io/v1/namespaces/{TENANT}/endpointslices/intruder",
    ),
    _manifest(
        "flux-on-remote",
        "a Flux object on a remote cluster",
        _FLUX,
        'no matches for kind "Kustomization"',
        places=(EDGE,),
    ),
    Commit(
        "remote-base",
        "a neighbour's repository as a base",
        {"kustomization.yaml": "resources: ['{content}/git/rocky/manifests.git//db']\n"},
        "fs-security-constraint",
        (f"/apis/apps/v1/namespaces/{TENANT}/statefulsets/db",),
    ),
    Commit(
        "remote-file",
        "a file from a URL as a resource",
        {"kustomization.yaml": "resources: ['{content}/charts/index.yaml']\n"},
        "kustomize build failed",
    ),
    Commit(
        "traversal",
        "a file outside of the source as a resource",
        {"kustomization.yaml": f"resources: [{'../' * 12}etc/hosts]\n"},
        "fs-security-constraint read /etc/hosts: path '/etc/hosts' is not in or below",
    ),
    Commit(
        "generator",
        "a generator that reads the controller's files",
        {"kustomization.yaml": "configMapGenerator: [{name: intruder, files: [/etc/hosts]}]\n"},
        "fs-security-constraint read /etc/hosts: path '/etc/hosts' is not in or below",
    ),
    Commit(
        "inflation",
        "Helm run by kustomize",
        {"kustomization.yaml": "helmCharts: [{name: a, repo: 'https://127.0.0.1:1', version: 1.0.0}]\n"},
        "must specify --enable-helm",
    ),
    Commit(
        "execution",
        "a program run by kustomize",
        {
            "kustomization.yaml": "resources: [app.yaml]\ntransformers: [run.yaml]\n",
            "run.yaml": "apiVersion: example.com/v1\nkind: Run\nmetadata:\n  name: run\n"
            "  annotations: {config.kubernetes.io/function: 'exec: {path: /bin/true}'}\n",
        },
        "external plugins disabled; unable to load external plugin 'Run'",
    ),
    _manifest(
        "written-namespace",
        "a ConfigMap with `namespace: rocky`",
        config_map("rocky", "guest"),
        "",
        "/api/v1/namespaces/rocky/configmaps/guest",
        effect="it lands in the tenant's own namespace",
    ),
    _manifest(
        "own-network",
        "a network policy of its own that lets everybody in",
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: intruder}\n"
        "spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{}]}\n",
        "",
        effect="opens the tenant's own pods",
    ),
    _manifest(
        "network",
        "the network policy of its baseline opened",
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: tenantry-isolated}\n"
        "spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{}]}\n",
        "names that begin with 'tenantry' are the platform's to give",
        "/apis/networking.k8s.io/v1/namespaces/rocky/networkpolicies/tenantry-isolated",
    ),
    _manifest(
        "external-address",
        "a Service that claims an address",
        "apiVersion: v1\nkind: Service\nmetadata: {name: intruder}\nspec: {ports: [{port: 443}], externalIPs: [10.9.9.9]}\n",
        "",
        effect="allowed by Kubernetes; see docs/tenancy.md",
    ),
    _manifest(
        "critical-pod",
        "a Pod of priority `system-cluster-critical`",
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: critical}}\n{_CRITICAL}",
        "",
        effect="allowed by Kubernetes; see docs/tenancy.md",
    ),
)

# --- charts ---------------------------------------------------------------------------------------------------------

_HOOK = (
    f"apiVersion: {RBAC}/v1\nkind: ClusterRoleBinding\n"
    f"metadata: {{name: hooked, annotations: {{helm.sh/hook: pre-upgrade}}}}\n{_MASTER}"
)
_CRD = (
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    f"metadata: {{name: intruders.example.com}}\n{_DEFINITION}"
)


def _chart(name: str, tried: str, text: str, refusal: str, *targets: str) -> Commit:
    return Commit(name, tried, {"templates/app.yaml": text}, refusal, targets)


def _loot(lookup: str) -> str:
    return f"{config_map(TENANT)}data: {{loot: {{{{ (lookup {lookup}) | toJson | quote }}}}}}\n"


CHARTS = (
    _chart(
        "chart-neighbour",
        "a chart's ConfigMap in `rocky`",
        config_map("rocky"),
        forbidden("get", "configmaps", "", "rocky"),
        intruder("rocky"),
    ),
    _chart(
        "chart-platform",
        "a chart's ConfigMap in `tenantry-system`",
        config_map("tenantry-system"),
        forbidden("get", "configmaps", "", "tenantry-system"),
        intruder("tenantry-system"),
    ),
    _chart(
        "chart-hook",
        "a hook that makes itself administrator",
        _HOOK,
        forbidden("delete", "clusterrolebindings", RBAC),
        f"/apis/{RBAC}/v1/clusterrolebindings/hooked",
    ),
    _chart(
        "chart-namespace",
        "a chart's Namespace",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: intruder}\n",
        forbidden("get", "namespaces", "", "intruder"),
        "/api/v1/namespaces/intruder",
    ),
    _chart(
        "chart-lookup",
        "a chart that looks up a cluster's kubeconfig",
        _loot('"v1" "Secret" "kamaji-edge" "edge-1-admin-kubeconfig"'),
        forbidden("get", "secrets", "", "kamaji-edge"),
        intruder(TENANT),
    ),
    _chart(
        "chart-lookup-all",
        "a chart that looks up all Secrets of a neighbour",
        _loot('"v1" "Secret" "rocky" ""'),
        forbidden("list", "secrets", "", "rocky"),
        intruder(TENANT),
    ),
    Commit(
        "chart-crd",
        "a chart's CustomResourceDefinition",
        {"crds/a.yaml": _CRD},
        forbidden("patch", "customresourcedefinitions", "apiextensions.k8s.io"),
        ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/intruders.example.com",),
    ),
)
COMMITS = (*MANIFESTS, *CHARTS)
