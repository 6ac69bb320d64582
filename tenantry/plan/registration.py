"""What `tenantry cluster register` makes: the account as which Flux connects to a remote cluster, and what renews its token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tenantry.kube.objects import Manifest
from tenantry.model import SecretKey
from tenantry.plan.bootstrap import MARKER
from tenantry.plan.objects.scope import MANAGED_BY, WATCHED

ACCOUNT = "tenantry-connection"
"""The account on the remote cluster, in the platform's namespace, and its roles."""
RENEWAL = "tenantry-renewal"
"""The CronJob on the management cluster, in the platform's namespace, and its account."""
REGISTERED = "tenantry/registered"
"""A label of the Secrets that `cluster register` makes; its value is the name of the cluster."""
_RBAC = "rbac.authorization.k8s.io"
_POLICIES = ["validatingadmissionpolicies", "validatingadmissionpolicybindings"]


def connection(platform: str, namespace: str) -> tuple[Manifest, ...]:
    """The account and its rights, Namespaces first.

    Flux impersonates the accounts of one namespace and does nothing as itself. The rest is what `preflight` reads, and the
    right to a new token for the account itself.

    Args:   platform: the platform's namespace. namespace: the kubeconfig's, whose accounts are impersonated.
    """
    own = [
        _allowed("", ["configmaps"], ["get"], [MARKER]),
        _allowed("", ["serviceaccounts/token"], ["create"], [ACCOUNT]),
    ]
    read = [
        _allowed("", ["namespaces"], ["get", "list"]),
        _allowed("admissionregistration.k8s.io", _POLICIES, ["get"]),
        _allowed("authorization.k8s.io", ["subjectaccessreviews"], ["create"]),
    ]
    return (
        *(_object("v1", "Namespace", each) for each in (platform, namespace)),
        _object("v1", "ServiceAccount", ACCOUNT, platform) | {"automountServiceAccountToken": False},
        *_role(ACCOUNT, namespace, [_allowed("", ["serviceaccounts"], ["get", "list", "impersonate"])], platform),
        *_role(ACCOUNT, platform, own, platform),
        *_role(ACCOUNT, "", read, platform),
    )


def kubeconfig_secret(cluster: str, at: SecretKey, content: str) -> dict[str, Any]:
    """The Secret on the management cluster. content: the kubeconfig in base64."""
    secret = _object("v1", "Secret", at.name, at.namespace, {**WATCHED, REGISTERED: cluster})
    return {**secret, "type": "Opaque", "data": {at.key: content}}


def renewal(platform: str, secrets: Sequence[SecretKey], image: str, seconds: int, schedule: str) -> list[Manifest]:
    """A CronJob that renews the tokens in Secrets every time it runs, with the right to these Secrets alone.

    Args:   image: with `sh`, `base64` and `kubectl`. seconds: how long a token is valid.
    """
    names: dict[str, list[str]] = {}
    for at in secrets:
        names.setdefault(at.namespace, []).append(at.name)
    roles = (
        each
        for namespace, own in sorted(names.items())
        for each in _role(RENEWAL, namespace, [_allowed("", ["secrets"], ["get", "patch"], sorted(own))], platform)
    )
    container = {
        "name": "renew",
        "image": image,
        "command": ["sh", "-c", RENEW.replace("ACCOUNT", ACCOUNT).replace("PLATFORM", platform), "renew"],
        "args": [f"{at.namespace}/{at.name}/{at.key}" for at in secrets],
        "env": [{"name": "HOME", "value": "/tmp"}, {"name": "DURATION", "value": f"{seconds}s"}],
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }
    pod = {
        "serviceAccountName": RENEWAL,
        "restartPolicy": "Never",
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {"medium": "Memory"}}],
    }
    job = {"backoffLimit": 2, "activeDeadlineSeconds": 1800, "template": {"spec": pod}}
    spec = {"schedule": schedule, "concurrencyPolicy": "Forbid", "jobTemplate": {"spec": job}}
    account = _object("v1", "ServiceAccount", RENEWAL, platform)
    return [account, *roles, _object("batch/v1", "CronJob", RENEWAL, platform) | {"spec": spec}]


RENEW = r"""set -u
umask 077
cd "$HOME" || exit 1
renew() {
  kubectl get secret "$2" --namespace "$1" --output "go-template={{index .data \"$3\"}}" | base64 -d > old || return 1
  token=$(kubectl --kubeconfig old create token ACCOUNT --namespace PLATFORM --duration "$DURATION") || return 1
  while IFS= read -r line; do
    case $line in
      *' token: '*) printf '%s token: %s\n' "${line%% token: *}" "$token" ;;
      *) printf '%s\n' "$line" ;;
    esac
  done < old > new
  kubectl --kubeconfig new auth whoami > /dev/null || return 1
  printf '{"data":{"%s":"%s"}}' "$3" "$(base64 < new | tr -d '\n')" > patch || return 1
  kubectl patch secret "$2" --namespace "$1" --type merge --patch-file patch
}
failed=0
for secret in "$@"; do
  rest=${secret#*/}
  renew "${secret%%/*}" "${rest%%/*}" "${rest#*/}" || { echo "$secret: not renewed" >&2; failed=1; }
  rm -f old new patch
done
exit $failed
"""
"""What the CronJob runs, with NAMESPACE/NAME/KEY of each Secret. A token is in no argument of a program."""


def _object(
    api_version: str, kind: str, name: str, namespace: str = "", labels: Mapping[str, str] | None = None
) -> dict[str, Any]:
    metadata = {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "labels": {**MANAGED_BY, **(labels or {})},
    }
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def _allowed(group: str, resources: list[str], verbs: list[str], names: Iterable[str] = ()) -> dict[str, Any]:
    only = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": resources, **only, "verbs": verbs}


def _role(name: str, namespace: str, rules: list[dict[str, Any]], home: str) -> tuple[Manifest, Manifest]:
    """A role and its binding to the account of the same name; namespace: "": a ClusterRole. home: the account's namespace."""
    prefix = "" if namespace else "Cluster"
    role = _object(f"{_RBAC}/v1", f"{prefix}Role", name, namespace) | {"rules": rules}
    binding = {
        "roleRef": {"apiGroup": _RBAC, "kind": f"{prefix}Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": home}],
    }
    return role, _object(f"{_RBAC}/v1", f"{prefix}RoleBinding", name, namespace) | binding
