"""The table of names knows every key of the model that can hold one."""

from __future__ import annotations

from collections import defaultdict

from tenantry.edit.subjects.names import NAMES
from tenantry.edit.subjects.references import fields_of
from tenantry.model import Document
from tests.unit.edit.subjects.shapes import holds_text, reachable

NO_NAMES = {
    "AccountRef": "name namespace",
    "Addon": "namespace namespaces",
    "AddonAccount": "existing",
    "AddonNamespace": "annotations labels objects",
    "After": "soak",
    "Bucket": "bucketName endpoint interval timeout",
    "Capi": "cluster namespace",
    "ChartDirectory": "path url",
    "ChartRepository": "url version",
    "Cluster": "labels platformServiceAccount shard variables",
    "ClusterRights": "role",
    "CommonMetadata": "annotations labels",
    "Config": "data",
    "ConfigMap": "name namespace",
    "Credentials": "keys registry",
    "Environment": "maxDeletions namespace timeout variables",
    "Excluded": "labels",
    "ExtraNamespace": "annotations labels name objects quota",
    "FluxMetadata": "annotations labels",
    "Git": "interval sparseCheckout timeout url",
    "GitRef": "branch commit name semver tag",
    "Grants": "alerts sources",
    "HelmPatch": "chart chartInterval interval releaseName storageNamespace targetNamespace timeout values"
    " valuesFiles version",
    "HelmRepository": "interval timeout url",
    "Image": "digest name newName newTag",
    "Include": "files tenants",
    "Kamaji": "controlPlane namespace",
    "KustomizePatch": "components interval namePrefix nameSuffix path retryInterval targetNamespace timeout",
    "Limits": "default defaultRequest max min",
    "ObjectManifest": "apiVersion kind",
    "ObjectMetadata": "annotations labels name",
    "Oci": "interval timeout url",
    "OciRef": "digest semver semverFilter tag",
    "Patch": "patch",
    "PatchTarget": "annotationSelector group kind labelSelector name namespace version",
    "PlacedSettings": "annotations interval labels objects quota retryInterval role timeout",
    "Platform": "alerts namespace reservedNamespaces",
    "PodSecurity": "version",
    "PolicyRule": "apiGroups resourceNames resources verbs",
    "PostBuild": "substitute",
    "RolloutWave": "labels name soak",
    "SecretKey": "key name namespace",
    "Selector": "labels",
    "ServiceAccount": "annotations imagePullSecrets name",
    "SubstituteFrom": "name",  # found by Flux's schema, as `valuesFrom` is
    "Tenant": "alerts clusterObjects clusterRoles namespace namespaces receivers variables",
    "Tolerate": "failed unreachable",
    "TenantOwner": "group role user",
    "Vcluster": "name namespace",
}
"""Keys whose texts name nothing that others refer to. A new key belongs here or into a table."""
OTHER_NAMES = {
    "After": "environment",
    "Alert": "credentials",
    "App": "environments",
    "Cluster": "environments from",
    "Environment": "after extends",
    "Grants": "environments",
    "ObjectsChart": "credentials",
    "Receiver": "credentials",
    "Source": "credentials",
    "Tenant": "environments from",
    "When": "environments",
}
"""Keys that name environments, templates, credentials or configs, which people remove by hand."""
DECLARED = {
    "Document": "clusters environments tenants",
    "Templates": "clusters tenants",
    "Platform": "addons configs credentials sources",
    "Tenant": "apps configs credentials sources",
}
"""Keys whose own keys are the names that others refer to."""


def test_every_key_with_text_is_in_a_table_or_names_nothing() -> None:
    others: dict[str, set[str]] = defaultdict(set)
    for model in reachable(Document):
        for field in fields_of(model):
            if holds_text(field.type) and field.declared not in NAMES:
                others[field.declared[0].__name__].add(field.key)
    known: dict[str, set[str]] = defaultdict(set)
    for table in (NO_NAMES, OTHER_NAMES, DECLARED):
        for model_name, keys in table.items():
            known[model_name] |= set(keys.split())
    assert others == known


def test_the_table_has_keys_of_the_model_only() -> None:
    assert {*NAMES} <= {field.declared for model in reachable(Document) for field in fields_of(model)}
