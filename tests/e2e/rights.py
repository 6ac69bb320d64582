"""Runs a project with the roles that `tenantry bootstrap --roles` prints instead of an administrator's rights.

Its stacks name the kubeconfig of a service account, which gets the roles whenever the file has changed. As an administrator would,
the tests apply what is new before a run, and take nothing away before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import yaml
from lightkube import Client, KubeConfig
from lightkube.codecs import from_dict
from lightkube.core.exceptions import ApiError
from lightkube.models.authentication_v1 import TokenRequestSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, ServiceAccountToken

from tenantry.load import load_fleet, plan_one
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.preflight.roles import RoleName
from tenantry.preflight.roles import roles as smallest
from tenantry.render import to_yaml

NAMESPACE, ACCOUNT = "ci", "deployer"
FILE = "deployer.kubeconfig"
_NAMED = re.compile(r"\.sandbox/([a-z0-9-]+)/kubeconfig")


def take_from_administrator(root: Path) -> None:
    """Have all stacks of a project name the service account's kubeconfigs."""
    for file in root.glob("Pulumi.*.yaml"):
        file.write_text(_NAMED.sub(rf".sandbox/\1/{FILE}", file.read_text()))


@contextmanager
def as_administrator(root: Path) -> Iterator[None]:
    """Have them name the administrator's meanwhile."""
    files = {file: file.read_text() for file in root.glob("Pulumi.*.yaml")}
    for file, text in files.items():
        file.write_text(text.replace(f"/{FILE}", "/kubeconfig"))
    try:
        yield
    finally:
        for file, text in files.items():
            file.write_text(text)


def hubs_of(root: Path, environment: str) -> list[str]:
    """The management clusters that a stack reaches as the service account, and that have been started."""
    file = root / f"Pulumi.{environment}.yaml"
    named = re.findall(rf"\.sandbox/([a-z0-9-]+)/{FILE}", file.read_text()) if file.exists() else []
    return [hub for hub in named if (root / ".sandbox" / hub / "kubeconfig").exists()]


def log_in(sandbox: Path, hub: str) -> None:
    """Make the account on a management cluster and write its kubeconfig, which has a token for a day."""
    administrator = sandbox / hub / "kubeconfig"
    with closing(Client(config=KubeConfig.from_file(administrator))) as client:
        _apply(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        account = {"name": ACCOUNT, "namespace": NAMESPACE}
        _apply(client, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        spec = TokenRequestSpec(audiences=[], expirationSeconds=24 * 3600)
        asked = ServiceAccountToken(metadata=ObjectMeta(), spec=spec)
        answer = client.create(asked, ACCOUNT, namespace=NAMESPACE)
        assert answer.status
    content = yaml.safe_load(administrator.read_text())
    content["users"][0]["user"] = {"token": answer.status.token}
    (sandbox / hub / FILE).write_text(yaml.safe_dump(content))


def printed(file: Path, environment: str, hub: str, roles: Sequence[str]) -> list[dict[str, Any]]:
    """What `tenantry bootstrap --roles` prints for the account on a management cluster; nothing if the file is not valid."""
    texts = tuple(
        each.read_bytes() for each in sorted(file.parent.glob("*.yaml")) + sorted(file.parent.glob("[!.]*/*.yaml"))
    )
    return _printed(file, environment, hub, tuple(roles), texts)


@lru_cache(maxsize=64)
def _printed(
    file: Path,
    environment: str,
    hub: str,
    roles: tuple[str, ...],
    _texts: tuple[bytes, ...],  # a file that is as it was in an earlier run gets the same roles
) -> list[dict[str, Any]]:
    try:
        fleet = load_fleet(file)
        plan = plan_one(fleet, environment)
    except (InvalidFleet, Refused):
        return []
    if plan.management != hub:
        return []
    account = {"kind": "ServiceAccount", "namespace": NAMESPACE, "name": ACCOUNT}
    manifests: list[Any] = []
    for name, *options in map(str.split, roles):
        told = {each: f"--{each}" in options for each in ("kubeconfigs", "secrets")}
        manifests += smallest(fleet, plan, cast("RoleName", name), account, **told).manifests
    return list(yaml.load_all(to_yaml(manifests), yaml.CSafeLoader))


def has_all_namespaces(administrator: Path, manifests: Sequence[dict[str, Any]]) -> bool:
    """Whether no namespace is gone, with the roles in it, since the manifests were applied."""
    with closing(Client(config=KubeConfig.from_file(administrator))) as client:
        needed = {manifest["metadata"]["name"] for manifest in manifests if manifest["kind"] == "Namespace"}
        return needed <= _namespaces(client)


def give(administrator: Path, manifests: Sequence[dict[str, Any]]) -> None:
    """Apply printed manifests. What a role has stays in it."""
    with closing(Client(config=KubeConfig.from_file(administrator))) as client:
        there = _namespaces(client)
        for manifest in manifests:
            if manifest["kind"] in ("Role", "ClusterRole"):
                rules = manifest["rules"]
                before = [rule for rule in _rules(client, manifest) if rule not in rules]
                _apply(client, {**manifest, "rules": [*rules, *before]})
            elif manifest["kind"] != "Namespace" or manifest["metadata"]["name"] not in there:
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


def _namespaces(client: Client) -> set[str]:
    """Those that are there to stay."""
    found = client.list(Namespace)
    return {each.metadata.name or "" for each in found if each.metadata and not each.metadata.deletionTimestamp}


def _apply(client: Client, manifest: dict[str, Any]) -> None:
    client.apply(from_dict(manifest), field_manager="administrator", force=True)
