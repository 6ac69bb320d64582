"""The table of names knows every key of the model that can hold one."""

from __future__ import annotations

from collections import defaultdict

from tenantry.edit.subjects.names import DECLARED, NAMES
from tenantry.edit.subjects.references import fields_of
from tenantry.model import Document
from tests.unit.edit.subjects.shapes import holds_text, reachable

NO_NAMES = {
    "AccountRef": "name namespace",
    "Identity": "issuer subject",
    "Requirements": "images labels",
    "Addon": "namespace namespaces",
    "AddonAccount": "existing role",
    "AddonNamespace": "annotations labels objects",
    "Approval": "groups",
    "After": "soak",
    "Bucket": "bucketName endpoint interval timeout",
    "Capi": "cluster namespace",
    "ChartDirectory": "path url",
    "ChartRepository": "url version",
    "Cluster": "labels platformServiceAccount shard variables windows",
    "ClusterGroup": "kubeconfig labels platformServiceAccount shard variables windows",
    "ClusterRights": "role",
    "CommonMetadata": "annotations labels",
    "Config": "data",
    "ConfigMap": "address audiences certificateAuthority cluster name namespace serviceAccountName",
    "Credentials": "keys registry",
    "Document": "windows",
    "Environment": "dedicatedFluxShards fluxShards maxDeletions namespace variables windows",
    "Excluded": "labels",
    "ExtraBinding": "role",
    "ExtraNamespace": "annotations labels name objects quota",
    "FluxMetadata": "annotations labels",
    "FormerOwner": "apps tenant",  # of former times
    "Frame": "clusterObjects clusterRoles namespace shard",
    "Git": "interval sparseCheckout timeout updates url",
    "GitRef": "branch commit name semver tag",
    "GrantedLimits": "interval timeout",
    "Grants": "alerts annotations labels push roles shortestInterval sources variables",
    "HelmPatch": "chart chartInterval interval releaseName storageNamespace targetNamespace timeout updates values"
    " valuesFiles version",
    "HelmRepository": "interval timeout url",
    "HttpCheck": "url",
    "PrometheusCheck": "query url",
    "IPBlock": "cidr except",
    "Image": "digest name newName newTag",
    "ImageAutomation": "images",
    "ImagePolicy": "interval",
    "ImageRepository": "image interval timeout",
    "ImageUpdate": "interval",
    "Include": "clusters each files tenants",
    "Kamaji": "controlPlane namespace",
    "KustomizePatch": "components interval namePrefix nameSuffix path retryInterval targetNamespace timeout",
    "LabelSelector": "matchLabels",
    "Limits": "default defaultRequest max min",
    "Network": "policies",
    "ObjectManifest": "apiVersion kind",
    "ObjectMetadata": "annotations labels name",
    "Oci": "interval timeout updates url",
    "OciRef": "digest semver semverFilter tag",
    "Patch": "patch",
    "PatchTarget": "annotationSelector group kind labelSelector name namespace version",
    "PlacedSettings": "annotations interval labels objects quota retryInterval role roleBindings roles timeout",
    "Platform": "alerts namespace receivers reservedNamespaces",
    "PodSecurity": "version",
    "Settings": "variables",
    "PolicyRule": "apiGroups resourceNames resources verbs",
    "Port": "port",
    "PostBuild": "substitute",
    "Rollout": "checks timeout unreachableAfter",
    "RolloutWave": "labels name soak",
    "Requirement": "key values",
    "SecretKey": "key name namespace",
    "Selector": "labels",
    "SemverChoice": "range",
    "ServiceAccount": "annotations imagePullSecrets name",
    "Setters": "path",
    "StackOutput": "output stack",
    "Subject": "group user",
    "SubstituteFrom": "name",  # found by Flux's schema, as `valuesFrom` is
    "Tenant": "formerly",
    "TenantClass": "alerts namespaces receivers",
    "Times": "dates days hours",
    "Tolerate": "failed unreachable",
    "TenantOwner": "role",
    "Vcluster": "name namespace",
    "Window": "timeZone",
}
"""Keys whose texts name nothing that a command renames. A new key belongs here or into the table."""


def test_every_key_with_text_is_in_the_table_or_names_nothing() -> None:
    others: dict[str, set[str]] = defaultdict(set)
    for model in reachable(Document):
        for field in fields_of(model):
            if holds_text(field.type) and field.declared not in NAMES and field.declared not in DECLARED:
                others[field.declared[0].__name__].add(field.key)
    assert {model: " ".join(sorted(keys)) for model, keys in others.items()} == NO_NAMES


def test_the_table_has_keys_of_the_model_only() -> None:
    known = {field.declared for model in reachable(Document) for field in fields_of(model)}
    assert {*NAMES, *DECLARED} <= known
