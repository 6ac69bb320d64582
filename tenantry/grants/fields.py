"""The fields that a tenant's objects may have, by kind. What a new version of Flux brings is refused until it stands here.

Not here: service accounts of sources and of decryption, with whose rights a controller would act; `accessFrom` and namespaces of
references; `createNamespace`; `readyExpr`, which reads the object of a dependency; charts within a HelmRelease.
"""

from __future__ import annotations

from tenantry.messages.data import tree

_OBJECT = "apiVersion kind metadata(name namespace labels(*) annotations(*))"
_APP = "interval timeout suspend dependsOn(name namespace) serviceAccountName targetNamespace commonMetadata(*) kubeConfig(*)"
_ACTION = (
    "disableHooks disableOpenAPIValidation disableSchemaValidation disableTakeOwnership disableWait disableWaitForJobs crds timeout"
    " serverSideApply remediation(ignoreTestFailures remediateLastFailure retries strategy) strategy(name retryInterval)"
)
_FETCHED = "interval timeout suspend"
_TRUSTED = "certSecretRef(name) insecure provider secretRef(name)"
_SIGNED = "matchOIDCIdentity(issuer subject) provider secretRef(name)"
_GIT = "branch commit name semver tag"
BASELINE = "Baseline"
"""In place of HelmRelease, for the release of a tenant's baseline, of which the fleet fills in each field."""
_OF_FLUX = {
    "Kustomization": f"{_APP} buildMetadata components decryption(provider secretRef(name)) deletionPolicy force"
    " healthCheckExprs(*) healthChecks(apiVersion kind name namespace) ignore(*) ignoreMissingComponents images(*)"
    " namePrefix nameSuffix patches(*) path postBuild(substitute(*) substituteFrom(kind name optional) substituteStrategy)"
    " prune retryInterval sourceRef(kind name) wait",
    "HelmRelease": f"{_APP} chartRef(kind name) driftDetection(ignore(*) mode) healthCheckExprs(*) maxHistory persistentClient"
    f" install({_ACTION} replace skipCRDs) upgrade({_ACTION} cleanupOnFail force preserveValues chartNameChangeStrategy)"
    " postRenderStrategy postRenderers(kustomize(images(*) patches(*))) releaseName storageNamespace"
    " rollback(cleanupOnFail disableHooks disableWait disableWaitForJobs force recreate serverSideApply timeout)"
    " test(enable ignoreFailures filters(exclude name) timeout) waitStrategy(name) values(*)"
    " uninstall(disableHooks disableWait keepHistory deletionPropagation timeout)"
    " valuesFrom(kind name literal optional targetPath valuesKey)",
    "GitRepository": f"{_FETCHED} ignore include(fromPath repository(name) toPath) provider proxySecretRef(name) recurseSubmodules"
    f" ref({_GIT}) secretRef(name) sparseCheckout url verify(mode secretRef(name))",
    "OCIRepository": f"{_FETCHED} {_TRUSTED} ignore layerSelector(mediaType operation) proxySecretRef(name)"
    f" ref(digest semver semverFilter tag) url verify({_SIGNED} trustedRootSecretRef(name))",
    "HelmRepository": f"{_FETCHED} {_TRUSTED} passCredentials type url",
    "HelmChart": "chart ignoreMissingValuesFiles interval reconcileStrategy sourceRef(kind name) suspend valuesFiles version"
    f" verify({_SIGNED})",
    "Bucket": f"{_FETCHED} {_TRUSTED} bucketName endpoint ignore prefix proxySecretRef(name) region"
    " sts(certSecretRef(name) endpoint provider secretRef(name))",
    "Alert": "eventMetadata(*) eventSeverity eventSources(kind name matchLabels(*)) exclusionList inclusionList providerRef(name)"
    " summary suspend",
    "Provider": "address certSecretRef(name) channel commitStatusExpr interval proxy proxySecretRef(name) secretRef(name) suspend"
    " timeout type username",
    "Receiver": "events interval oidcProviders(audience issuerURL validations(*) variables(*)) resourceFilter resources(kind name)"
    " secretRef(name) suspend type",
    BASELINE: "chartRef(kind name) dependsOn(name namespace) driftDetection(*) interval kubeConfig(*) releaseName suspend timeout"
    " serviceAccountName storageNamespace targetNamespace values(objects(*))"
    " install(disableTakeOwnership strategy(*)) upgrade(chartNameChangeStrategy disableTakeOwnership strategy(*))",
}
_OF_KUBERNETES = {
    "ClusterRole": "rules(*)",
    "ConfigMap": "data(*)",
    "LimitRange": "spec(limits(*))",
    "Namespace": "",
    "NetworkPolicy": "spec(*)",
    "ResourceQuota": "spec(hard(*))",
    "Secret": "data(*) stringData(*) type",
    "ServiceAccount": "automountServiceAccountToken imagePullSecrets(name)",
    **dict.fromkeys(
        ("ClusterRoleBinding", "RoleBinding"), "roleRef(apiGroup kind name) subjects(apiGroup kind name namespace)"
    ),
}


OBJECT = tree(_OBJECT)
OF_FLUX = {kind: tree(f"{_OBJECT} spec({words})") for kind, words in _OF_FLUX.items()}
OF_KUBERNETES = {kind: tree(f"{_OBJECT} {words}") for kind, words in _OF_KUBERNETES.items()}

ADVANCED: dict[str, tuple[tuple[str, ...], ...]] = {
    "Kustomization": (("healthCheckExprs",),),
    "HelmRelease": (("healthCheckExprs",),),
    "GitRepository": (("proxySecretRef",), ("recurseSubmodules",), ("ref", "name")),
    "OCIRepository": (("proxySecretRef",),),
    "HelmRepository": (("passCredentials",),),
    "Bucket": (("proxySecretRef",), ("sts",)),
    "Provider": (("commitStatusExpr",), ("proxy",), ("proxySecretRef",)),
    "Receiver": (("oidcProviders",), ("resourceFilter",)),
}
"""Fields that an included file sets only if `advanced` is granted: CEL, which a controller evaluates; other ways of its
connections, and other addresses than that of the source, such as those of submodules; references by any name.
"""
