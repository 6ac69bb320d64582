"""Runs a project with the roles that `tenantry rbac` prints instead of an administrator's rights.

Its stacks name the kubeconfig of a service account, which gets the roles whenever the file has changed. As an administrator would,
the tests apply what is new before a run, and take nothing away before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import yaml
from lightkube import Client, KubeConfig
from lightkube.codecs import from_dict
from lightkube.core.exceptions import ApiError

NAMESPACE, ACCOUNT = "ci", "deployer"
FILE = "deployer.kubeconfig"
_NAMED = re.compile(r"\.sandbox/([a-z0-9-]+)/kubeconfig")
_RBAC = "rbac.authorization.k8s.io/v1"


def take_from_administrator(root: Path) -> None:
    """Have all stacks of a project name the service account's kubeconfigs."""
    for file in root.glob("Pulumi.*.yaml"):
        file.write_text(_NAMED.sub(rf".sandbox/\1/{FILE}", file.read_text()))


def give_back(root: Path) -> None:
    """Have them name the administrator's again."""
    for file in root.glob("Pulumi.*.yaml"):
        file.write_text(file.read_text().replace(f"/{FILE}", "/kubeconfig"))


def hubs_of(root: Path, environment: str) -> list[str]:
    """The management clusters that a stack reaches as the service account."""
    file = root / f"Pulumi.{environment}.yaml"
    return re.findall(rf"\.sandbox/([a-z0-9-]+)/{FILE}", file.read_text()) if file.exists() else []


def log_in(sandbox: Path, hub: str) -> None:
    """Make the account on a management cluster and write its kubeconfig, which has a token for a day."""
    administrator = sandbox / hub / "kubeconfig"
    with closing(Client(config=KubeConfig.from_file(administrator))) as client:
        _apply(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        account = {"name": ACCOUNT, "namespace": NAMESPACE}
        _apply(client, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{ACCOUNT}/token"
        asked = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 24 * 3600},
        }
        answer = client._client._client.post(path, json=asked)
        token = answer.raise_for_status().json()["status"]["token"]
    content = yaml.safe_load(administrator.read_text())
    content["users"][0]["user"] = {"token": token}
    (sandbox / hub / FILE).write_text(yaml.safe_dump(content))


def give(administrator: Path, manifests: Sequence[dict[str, Any]]) -> None:
    """Apply printed manifests. What a role has stays in it."""
    with closing(Client(config=KubeConfig.from_file(administrator))) as client:
        for manifest in manifests:
            if manifest["kind"] in ("Role", "ClusterRole"):
                before = _rules(client, manifest)
                manifest["rules"] += [rule for rule in before if rule not in manifest["rules"]]
            if manifest["kind"] != "Namespace" or manifest["metadata"]["name"] not in _namespaces(client):
                _apply(client, manifest)


def _rules(client: Client, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    made: Any = from_dict(manifest)
    where = {"namespace": made.metadata.namespace} if made.metadata.namespace else {}
    try:
        return list(client.get(type(made), made.metadata.name, **where).to_dict().get("rules") or ())
    except ApiError as error:
        if error.status.code != 404:
            raise
    return []


def _namespaces(client: Client) -> Iterator[str]:
    from lightkube.resources.core_v1 import Namespace

    return (each.metadata.name for each in client.list(Namespace) if each.metadata and each.metadata.name)


def _apply(client: Client, manifest: dict[str, Any]) -> None:
    client.apply(from_dict(manifest), field_manager="administrator", force=True)
