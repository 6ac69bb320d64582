"""What a tenant may fill in the `spec` of each of Flux's kinds.

Not in the tables: service accounts of sources and of decryption, with whose rights a controller would act; `accessFrom` and the
namespaces of references; `createNamespace`; `readyExpr`, which reads the object of a dependency; and charts within a
HelmRelease, because each HelmChart is an object of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from tenantry.policy.fields.table import (
    ADDRESS,
    IDENTITY,
    INTERVAL,
    KUBECONFIG,
    OWN_NAME,
    SUBMODULES,
    TOLD,
    Each,
    Keys,
    Table,
    anything,
    component,
    duration,
    in_source,
    number,
    switch,
    text,
    word,
)

_NAME: Table = {"name": OWN_NAME}
_OBJECT: Table = {"kind": OWN_NAME, "name": OWN_NAME}
_TEXTS = Each(text)
_TARGET: Table = dict.fromkeys(
    ("annotationSelector", "group", "kind", "labelSelector", "name", "namespace", "version"), text
)
_IMAGES = Each(dict.fromkeys(("digest", "name", "newName", "newTag"), text))
_PATCHES = Each({"patch": text, "target": _TARGET})
_METADATA: Table = {"annotations": Keys(text), "labels": Keys(text)}
_HEALTH = Each(dict.fromkeys(("apiVersion", "current", "failed", "inProgress", "kind"), text))
_IGNORED = Each({"paths": _TEXTS, "target": _TARGET})
_AFTER = Each({"name": OWN_NAME, "namespace": OWN_NAME})
_SIGNERS = Each({"issuer": text, "subject": text})
_CLOUD = IDENTITY
_CLUSTER: Table = {"configMapRef": {"name": KUBECONFIG}, "secretRef": {"key": KUBECONFIG, "name": KUBECONFIG}}
_EVENTS_OF = Each({**_OBJECT, "matchLabels": Keys(OWN_NAME)})

_KUSTOMIZATION: Table = {
    "buildMetadata": Each(word("originAnnotations", "transformerAnnotations")),
    "commonMetadata": _METADATA,
    "components": Each(component),
    "decryption": {"provider": word("sops"), "secretRef": _NAME},
    "deletionPolicy": word("MirrorPrune", "Delete", "WaitForTermination", "Orphan"),
    "dependsOn": _AFTER,
    "force": switch,
    "healthCheckExprs": _HEALTH,
    "healthChecks": Each(dict.fromkeys(("apiVersion", "kind", "name", "namespace"), text)),
    "ignore": _IGNORED,
    "ignoreMissingComponents": switch,
    "images": _IMAGES,
    "interval": INTERVAL,
    "kubeConfig": _CLUSTER,
    "namePrefix": text,
    "nameSuffix": text,
    "patches": _PATCHES,
    "path": in_source,
    "postBuild": {
        "substitute": Keys(text),
        "substituteFrom": Each({**_OBJECT, "optional": switch}),
        "substituteStrategy": word("WithVariables", "Always"),
    },
    "prune": switch,
    "retryInterval": INTERVAL,
    "serviceAccountName": OWN_NAME,
    "sourceRef": _OBJECT,
    "suspend": switch,
    "targetNamespace": OWN_NAME,
    "timeout": duration,
    "wait": switch,
}

_FLAGS = ("disableHooks", "disableOpenAPIValidation", "disableSchemaValidation", "disableTakeOwnership", "disableWait")
_ACTION: Table = {
    **dict.fromkeys((*_FLAGS, "disableWaitForJobs"), switch),
    "crds": word("Skip", "Create", "CreateReplace"),
    "remediation": {
        **dict.fromkeys(("ignoreTestFailures", "remediateLastFailure"), switch),
        "retries": number,
        "strategy": word("rollback", "uninstall"),
    },
    "strategy": {"name": word("RemediateOnFailure", "RetryOnFailure"), "retryInterval": INTERVAL},
    "timeout": duration,
}
_APPLIED = word("enabled", "disabled", "auto")
_DRIFT: Table = {"ignore": _IGNORED, "mode": word("enabled", "warn", "disabled")}

_HELM_RELEASE: Table = {
    "chartRef": _OBJECT,
    "commonMetadata": _METADATA,
    "dependsOn": _AFTER,
    "driftDetection": _DRIFT,
    "healthCheckExprs": _HEALTH,
    "install": {**_ACTION, **dict.fromkeys(("replace", "serverSideApply", "skipCRDs"), switch)},
    "interval": INTERVAL,
    "kubeConfig": _CLUSTER,
    "maxHistory": number,
    "persistentClient": switch,
    "postRenderStrategy": word("nohooks", "combined", "separate"),
    "postRenderers": Each({"kustomize": {"images": _IMAGES, "patches": _PATCHES}}),
    "releaseName": text,
    "rollback": {
        **dict.fromkeys(
            ("cleanupOnFail", "disableHooks", "disableWait", "disableWaitForJobs", "force", "recreate"), switch
        ),
        "serverSideApply": _APPLIED,
        "timeout": duration,
    },
    "serviceAccountName": OWN_NAME,
    "storageNamespace": OWN_NAME,
    "suspend": switch,
    "targetNamespace": OWN_NAME,
    "test": {
        **dict.fromkeys(("enable", "ignoreFailures"), switch),
        "filters": Each({"exclude": switch, "name": text}),
        "timeout": duration,
    },
    "timeout": duration,
    "uninstall": {
        **dict.fromkeys(("disableHooks", "disableWait", "keepHistory"), switch),
        "deletionPropagation": word("background", "foreground", "orphan"),
        "timeout": duration,
    },
    "upgrade": {
        **_ACTION,
        **dict.fromkeys(("cleanupOnFail", "force", "preserveValues"), switch),
        "chartNameChangeStrategy": word("InPlaceUpdate", "Reinstall"),
        "serverSideApply": _APPLIED,
    },
    "values": anything,
    "valuesFrom": Each({**_OBJECT, "literal": switch, "optional": switch, "targetPath": text, "valuesKey": text}),
    "waitStrategy": {"name": word("poller", "legacy")},
}

_FETCHED: Table = {"interval": INTERVAL, "suspend": switch, "timeout": duration}
_TRUSTED: Table = {"certSecretRef": _NAME, "insecure": switch, "provider": _CLOUD, "secretRef": _NAME}
_SIGNED: Table = {"matchOIDCIdentity": _SIGNERS, "provider": word("cosign", "notation"), "secretRef": _NAME}
_GIT_REF: Table = dict.fromkeys(("branch", "commit", "name", "semver", "tag"), text)

_ORDER: Table = {"order": word("asc", "desc")}

SPECS: Mapping[tuple[str, str], Table] = {
    ("kustomize.toolkit.fluxcd.io", "Kustomization"): _KUSTOMIZATION,
    ("helm.toolkit.fluxcd.io", "HelmRelease"): _HELM_RELEASE,
    ("source.toolkit.fluxcd.io", "GitRepository"): {
        **_FETCHED,
        "ignore": text,
        "include": Each({"fromPath": in_source, "repository": _NAME, "toPath": in_source}),
        "provider": _CLOUD,
        "proxySecretRef": _NAME,
        "recurseSubmodules": SUBMODULES,
        "ref": _GIT_REF,
        "secretRef": _NAME,
        "sparseCheckout": Each(in_source),
        "url": ADDRESS,
        "verify": {"mode": word("head", "HEAD", "Tag", "TagAndHEAD"), "secretRef": _NAME},
    },
    ("source.toolkit.fluxcd.io", "OCIRepository"): {
        **_FETCHED,
        **_TRUSTED,
        "ignore": text,
        "layerSelector": {"mediaType": text, "operation": word("extract", "copy")},
        "proxySecretRef": _NAME,
        "ref": dict.fromkeys(("digest", "semver", "semverFilter", "tag"), text),
        "url": ADDRESS,
        "verify": {**_SIGNED, "trustedRootSecretRef": _NAME},
    },
    ("source.toolkit.fluxcd.io", "HelmRepository"): {
        **_FETCHED,
        **_TRUSTED,
        "passCredentials": switch,
        "type": word("default", "oci"),
        "url": ADDRESS,
    },
    ("source.toolkit.fluxcd.io", "HelmChart"): {
        "chart": in_source,
        "ignoreMissingValuesFiles": switch,
        "interval": INTERVAL,
        "reconcileStrategy": word("ChartVersion", "Revision"),
        "sourceRef": _OBJECT,
        "suspend": switch,
        "valuesFiles": Each(in_source),
        "verify": _SIGNED,
        "version": text,
    },
    ("source.toolkit.fluxcd.io", "Bucket"): {
        **_FETCHED,
        **_TRUSTED,
        "bucketName": ADDRESS,
        "endpoint": ADDRESS,
        "ignore": text,
        "prefix": text,
        "proxySecretRef": _NAME,
        "region": text,
        "sts": {"certSecretRef": _NAME, "endpoint": ADDRESS, "provider": word("aws", "ldap"), "secretRef": _NAME},
    },
    ("source.toolkit.fluxcd.io", "ExternalArtifact"): {
        "sourceRef": dict.fromkeys(("apiVersion", "kind", "name"), text),
    },
    ("image.toolkit.fluxcd.io", "ImageRepository"): {
        **_FETCHED,
        **_TRUSTED,
        "exclusionList": _TEXTS,
        "image": ADDRESS,
        "proxySecretRef": _NAME,
    },
    ("image.toolkit.fluxcd.io", "ImagePolicy"): {
        "digestReflectionPolicy": word("Always", "IfNotPresent", "Never"),
        "filterTags": {"extract": text, "pattern": text},
        "imageRepositoryRef": _NAME,
        "interval": INTERVAL,
        "policy": {"alphabetical": _ORDER, "numerical": _ORDER, "semver": {"range": text}},
        "suspend": switch,
    },
    ("image.toolkit.fluxcd.io", "ImageUpdateAutomation"): {
        "git": {
            "checkout": {"ref": _GIT_REF},
            "commit": {
                "author": {"email": text, "name": text},
                "messageTemplate": text,
                "messageTemplateValues": Keys(text),
                "signingKey": {"secretRef": _NAME, "type": word("gpg", "ssh")},
            },
            "push": {"branch": text, "options": Keys(text), "refspec": text},
        },
        "interval": INTERVAL,
        "policySelector": {"matchLabels": Keys(OWN_NAME)},
        "sourceRef": _OBJECT,
        "suspend": switch,
        "update": {"path": in_source, "strategy": word("Setters")},
    },
    ("notification.toolkit.fluxcd.io", "Alert"): {
        "eventMetadata": TOLD,
        "eventSeverity": word("info", "error"),
        "eventSources": _EVENTS_OF,
        "exclusionList": _TEXTS,
        "inclusionList": _TEXTS,
        "providerRef": _NAME,
        "summary": text,
        "suspend": switch,
    },
    ("notification.toolkit.fluxcd.io", "Provider"): {
        "address": ADDRESS,
        "certSecretRef": _NAME,
        "channel": text,
        "commitStatusExpr": text,
        "interval": INTERVAL,
        "proxy": ADDRESS,
        "proxySecretRef": _NAME,
        "secretRef": _NAME,
        "suspend": switch,
        "timeout": duration,
        "type": IDENTITY,
        "username": text,
    },
    ("notification.toolkit.fluxcd.io", "Receiver"): {
        "events": _TEXTS,
        "interval": INTERVAL,
        "oidcProviders": Each(
            {
                "audience": text,
                "issuerURL": ADDRESS,
                "validations": Each({"expression": text, "message": text}),
                "variables": Each({"expression": text, "name": text}),
            }
        ),
        "resourceFilter": text,
        "resources": Each(_OBJECT),
        "secretRef": _NAME,
        "suspend": switch,
        "type": text,
    },
}
"""By group and kind."""
