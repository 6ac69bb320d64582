"""What a difference changes in practice, and which key or step avoids it: one line for each kind of difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tenantry.compare.fields import FieldChange
from tenantry.importing.equivalence import NAMESPACES_OF_SOURCES
from tenantry.importing.model import Proven
from tenantry.importing.owners import CONTROLLERS
from tenantry.messages.data import ABSENT

OTHER_MANIFESTS = "Flux applies other manifests, and deletes what only the old ones have"
ASSUMED = "Flux applies other manifests if the source that it has is not the one that the Git remote tells"
READ_SOURCE = "compare the source: the steps have the command that shows what Flux has"
_NEW_RELEASE = "Flux uninstalls the release and installs another one"
_UPGRADE = "Helm upgrades the release, so pods can restart"
_CORRECT = "correct the entry in tenants.yaml"
_AS_IT_IS = "write '{key}' as it is"
_SAME_SOURCE = "make the source in tenants.yaml say what the old one says, credentials too"
_BOTH = ("Kustomization", "HelmRelease")
_SOURCES = ("GitRepository", "OCIRepository", "HelmRepository", "Bucket", "HelmChart")
_RBAC = ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")


class Effect(NamedTuple):
    """kinds: empty for all. paths: of the fields, or of ones above them. when: what else has to be so.

    In the reason and the fix `{key}` stands for the key below `spec`.
    """

    kinds: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...]
    reason: str
    fix: str
    when: Callable[[Proven, FieldChange], bool] = lambda *_: True


def _spec(*keys: str) -> tuple[tuple[str, ...], ...]:
    return tuple(("spec", key) for key in keys)


def _of_chart(*keys: str) -> tuple[tuple[str, ...], ...]:
    return tuple(("spec", "chart", "spec", key) for key in keys)


EFFECTS: tuple[Effect, ...] = (
    Effect(
        _BOTH,
        _spec("serviceAccountName"),
        "Flux acts as the account of its own controller. That is the same user, unless the controller has the flag"
        " --default-service-account: it was not read",
        "read the controller, too: run `kubectl get deployments --namespace flux-system --output yaml > controllers.yaml`, and add"
        " `-e ENVIRONMENT=controllers.yaml`",
        lambda kept, field: field.before is ABSENT and field.after == CONTROLLERS.get(kept.planned.id.kind),
    ),
    Effect(
        _BOTH,
        _spec("serviceAccountName"),
        "Flux acts as the platform's account, which may do everything once `tenantry bootstrap` has bound it",
        "do that step first; or name an account that has the rights: account: {existing: NAME}",
        lambda kept, _: not kept.planned.owner.tenant,
    ),
    Effect(
        _BOTH,
        _spec("serviceAccountName"),
        "Flux acts with the rights of another account: what that one may not do fails",
        "give it what the app needs by 'role' and 'clusterRoles' of the tenant, or move the app to the platform's add-ons",
    ),
    Effect(
        ("Kustomization",),
        _spec("targetNamespace"),
        "Flux moves what the manifests put into other namespaces: it deletes the old objects",
        "see that all manifests name this namespace, or none: `tenantry preflight --dry-run` warns if one of today's objects lies"
        " elsewhere",
    ),
    Effect(
        _BOTH,
        (("spec", "kubeConfig", "secretRef", "key"),),
        "Flux reads this key of the Secret alone. Without it, Flux takes 'value', or else 'value.yaml'",
        "see with `kubectl describe secret` that the Secret has the key, or name the one that it has",
        lambda _, field: field.before is ABSENT,
    ),
    Effect(
        _BOTH,
        NAMESPACES_OF_SOURCES,
        "Flux takes the source from the namespace of the object, and an apply alone leaves the old namespace",
        "run the command of the steps right before `tenantry up`",
    ),
    Effect(("Kustomization",), _spec("path", "components"), OTHER_MANIFESTS, _CORRECT),
    Effect(("Kustomization",), _spec("sourceRef"), OTHER_MANIFESTS, _SAME_SOURCE),
    Effect(("Kustomization",), _spec("kubeConfig"), "Flux applies the manifests to another cluster", _CORRECT),
    Effect(
        ("Kustomization",), _spec("prune"), "Flux deletes what its manifests no longer have", "write 'prune: false'"
    ),
    Effect(("Kustomization",), _spec("postBuild"), "Flux applies other values, so pods can restart", _CORRECT),
    Effect(
        ("Kustomization",),
        _spec("patches"),
        "Flux changes what it applies",
        "remove the patch, or write 'keepCRDs: false'",
    ),
    Effect(
        ("Kustomization",),
        _spec("deletionPolicy"),
        "when the Kustomization goes, Flux deletes something else than today",
        _AS_IT_IS,
    ),
    Effect(("HelmRelease",), _spec("releaseName", "targetNamespace"), _NEW_RELEASE, _AS_IT_IS),
    Effect(("HelmRelease",), _spec("storageNamespace"), _NEW_RELEASE, "leave the release to what applies it"),
    Effect(("HelmRelease",), _of_chart("chart"), _NEW_RELEASE, _CORRECT),
    Effect(
        ("HelmRelease",), (*_of_chart("version", "valuesFiles"), *_spec("values", "valuesFrom")), _UPGRADE, _CORRECT
    ),
    Effect(
        ("HelmRelease",),
        _of_chart("interval"),
        "Flux looks for new versions of the chart at other times",
        "write 'chartInterval' as it is",
    ),
    Effect(
        ("HelmRelease",),
        _spec("chart", "chartRef"),
        "Flux takes the chart from another source, which may hold another one",
        _SAME_SOURCE,
    ),
    Effect(("HelmRelease",), _spec("postRenderers"), _UPGRADE, "remove what is added, or write 'keepCRDs: false'"),
    Effect(("HelmRelease",), _spec("kubeConfig"), "Flux installs the release on another cluster", _CORRECT),
    Effect(
        ("HelmRelease",),
        _spec("driftDetection"),
        "Flux sets back what others have changed in the release",
        "write 'driftDetection: {mode: disabled}'",
    ),
    Effect(
        ("HelmRelease",),
        _spec("install", "upgrade"),
        "Flux does something else in an {key}, or after one that failed",
        _AS_IT_IS,
    ),
    Effect(
        _BOTH,
        _spec("interval", "retryInterval", "timeout"),
        "Flux tries again, or gives up, after another time",
        _AS_IT_IS,
    ),
    Effect(
        _BOTH,
        _spec("dependsOn"),
        "Flux waits for something else: it may fail until that is there, and is tried again",
        "write 'dependsOn' with apps of the file",
    ),
    Effect(
        _BOTH,
        _spec("suspend"),
        "Flux stops what it does today, or starts it again",
        "follow the comment at 'state' in tenants.yaml",
    ),
    Effect(_SOURCES, (("spec",),), "Flux fetches something else, or at other times", _CORRECT),
    Effect(
        ("Namespace",),
        (("metadata", "labels", "pod-security.kubernetes.io/enforce"),),
        "pods that break this level are refused when they start next",
        "write 'podSecurity: {enforce: privileged}'",
        lambda _, field: field.after not in ("privileged", ABSENT),
    ),
    Effect(
        ("Namespace",),
        (("metadata", "labels"),),
        "policies that select namespaces by labels see another one",
        "have these policies select the new value, too",
    ),
    Effect(
        (),
        (("metadata", "labels"),),
        "what selects it by labels finds another value",
        "have that select the new value, too",
    ),
    Effect(_RBAC, ((),), "somebody gets rights, or loses them", _CORRECT),
    Effect((), ((),), "it says something else than today", _CORRECT),
)
"""The first that fits a difference tells of it. The last one fits all."""


def effect_of(kept: Proven, field: FieldChange) -> tuple[str, str]:
    """What a field that adoption changes does, and what avoids it."""
    kind = kept.planned.id.kind
    found = next(
        each
        for each in EFFECTS
        if (not each.kinds or kind in each.kinds)
        and any(field.path[: len(path)] == path for path in each.paths)
        and each.when(kept, field)
    )
    key = str(field.path[1]) if len(field.path) > 1 else ""
    return found.reason.replace("{key}", key), found.fix.replace("{key}", key)
