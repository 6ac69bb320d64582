"""How a part on a cluster differs, and what of it may be told of the cluster or the tenant as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tenantry.compare.fields import FieldChange
from tenantry.compare.review.model import PartKind, Setting
from tenantry.compare.review.naming import label
from tenantry.compare.review.states import ACTIVE, State, state_of
from tenantry.compare.review.words import Path
from tenantry.kube.objects import KubeObject
from tenantry.messages.data import ABSENT, mapping_at
from tenantry.plan.objects.scope import SHARD_LABEL

APPS = (PartKind.APP, PartKind.ADDON)
NAME: Path = ("namespace",)
"""The setting with the name of a namespace."""


@dataclass(slots=True)
class Delta:
    """existed, exists: whether the part is there before and after.

    settings: of one side if the part is there on one alone. states, kubeconfigs, shards, accounts: before and after.
    replaced: whether the part has other objects than before. has_other_chart: whether the chart of baselines is another one.
    """

    existed: bool
    exists: bool
    settings: list[Setting] = field(default_factory=list)
    fields: list[FieldChange] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    states: tuple[State, State] = (ACTIVE, ACTIVE)
    kubeconfigs: tuple[Any, Any] = (ABSENT, ABSENT)
    shards: tuple[str, str] = ("", "")
    accounts: tuple[str, str] = ("", "")
    replaced: bool = False
    has_other_chart: bool = False

    @property
    def says_nothing(self) -> bool:
        return not (self.settings or self.fields or self.sentences)


def take_states(delta: Delta, before: KubeObject, after: KubeObject) -> None:
    """Notes what two states of a Kustomization or HelmRelease say of more than themselves."""
    delta.states = (state_of(before.manifest), state_of(after.manifest))
    delta.kubeconfigs = (kubeconfig_of(before), kubeconfig_of(after))
    delta.shards = (label(before.manifest, SHARD_LABEL), label(after.manifest, SHARD_LABEL))
    one, other = (mapping_at(each.manifest, "spec").get("serviceAccountName", "") for each in (before, after))
    delta.accounts = (one, other)


def kubeconfig_of(object: KubeObject) -> str:
    """How Flux reaches the cluster of an object, such as `Secret kamaji/edge-admin-kubeconfig, key admin.conf`; or ""."""
    reference = mapping_at(object.manifest, "spec", "kubeConfig")
    for field_, kind in (("secretRef", "Secret"), ("configMapRef", "ConfigMap")):
        if named := reference.get(field_):
            key = f", key {named['key']}" if "key" in named else ""
            return f"{kind} {object.id.namespace}/{named['name']}{key}"
    return ""
