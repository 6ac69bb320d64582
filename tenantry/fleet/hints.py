"""What to write in place of a key that its mapping does not take, as the fix of a finding.

Called by: `shape` for the model's keys, `blocks` for Flux's.
Never: decides whether something is wrong, or repeats a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.flux.schemas import schema_of
from tenantry.grants.model import Grants, Include
from tenantry.model import (
    SOURCE_KINDS,
    After,
    App,
    Cluster,
    Credentials,
    Document,
    Environment,
    FluxBlock,
    Git,
    Model,
    PlacedSettings,
    Platform,
    RolloutWave,
    Source,
    Tenant,
)
from tenantry.model.clusters import KubeconfigObject
from tenantry.model.strict import OneOf, fields_of, model_at
from tenantry.model.tenancy import AddonAccount, ExtraNamespace


def fix_for_key(model: type[Model] | None, key: str, beside: Mapping[str, Any]) -> str:
    """Where a key belongs that its mapping does not take; "" if that is not known.

    Args: model: of the mapping; beside: the whole mapping as written.
    """
    if model is None:
        return ""
    of_sources = any(key in schema_of(kind.flux_kind).spec["properties"] for kind in SOURCE_KINDS.values())
    # Written as Flux writes it for another kind of source, so it is no misspelling of the nearest key here.
    other = "remove it: sources of other kinds have it" if of_sources and model in SOURCE_KINDS.values() else ""
    return fix_for_former(model, key) or _one_level_down(model, key, beside) or other


def _one_level_down(model: type[Model], key: str, beside: Mapping[str, Any]) -> str:
    """The mapping of the model that takes the key, such as `kustomize` of an app for `path`, if it is the only one.

    Where one of several is chosen, it is the one that is written.
    """
    names = [name for name in fields_of(model) if name in beside or not issubclass(model, OneOf)]
    places = [name for name in names if (below := model_at(model, (name,))) and key in _keys_of(below)]
    if issubclass(model, FluxBlock):
        reference = schema_of(model.flux_kind).spec["properties"].get("ref", {})
        places += ["ref"] if key in reference.get("properties", ()) else []
    return f"write '{places[0]}: {{{key}: ...}}'" if len(places) == 1 else ""


def _keys_of(model: type[Model]) -> set[str]:
    flux = (
        schema_of(model.flux_kind).spec["properties"].keys() - model.owned.keys()
        if issubclass(model, FluxBlock)
        else ()
    )
    return {*fields_of(model), *flux}


FOR_OWNED: Mapping[str, str] = {
    "sourceRef": "write 'source: NAME'",
    "chartRef": "write 'source: NAME'",
    "secretRef": "declare 'credentials:', and name them with 'credentials: NAME'",
    "dependsOn": "write 'dependsOn: [NAME]' beside the block",
}
"""What to write for keys of Flux that the fleet sets from others of ours."""


_FROM = "write 'from:' with the names of templates"
_SHARD = "write 'shard:' of each cluster"
_ARTIFACT = "Flux's own kinds of sources are left: write 'git:', 'oci:', 'helm:' or 'bucket:'"
_BY_ENVIRONMENT = (
    "declare an environment for each management cluster: 'extends:' the first, with a 'management:' of its own"
)
_OBJECTS = "declare {} under 'objects:'"
_ENGINE = "enforce it with a policy engine, such as Kyverno as an add-on"
_HANDED_OVER = "remove it: a tenant under another name is a new tenant, and an app of another tenant a new app"
_PLATFORMS = "remove it, and set the tenant's {} in the main file"
_BOUND = "remove it: what a team's file may say has bounds of its own, and the main file may say more"
_BY_SCHEDULE = "remove it: the schedule of the pipeline says when changes begin"
_A_CA = (
    "remove it: the CA of a Git host is a key of the source's own credentials, such as 'git: {keys: [username, password, ca.crt]}'"
    " with 'credentials: git' beside the block"
)
FORMER_KEYS: Mapping[type[Model], Mapping[str, str]] = {
    Include: {
        "class": "declare each tenant with its 'from:' in this file or in a piece of it, and name a team's file after its tenant",
        "clusters": "write 'files:': pieces of this file hold clusters, too",
        "each": "write an entry on one line for each row into a YAML file, and include it with 'files:'",
        "environment": "write what it says as 'overrides: [{when: {environments: ...}}]' into a piece of this file: 'files:' alone",
        "of": "name each file after the tenant that it speaks of",
    },
    App: {
        "rollout": "write 'waves: false'",
        "scope": "remove it, and declare an add-on for each environment, with 'environments:'",
        "imageAutomation": (
            "let an app on the management cluster apply the objects of image automation from the tenant's repository"
        ),
    },
    AddonAccount: dict.fromkeys(("role", "rules"), "write 'existing: NAME', an account that exists"),
    Credentials: dict.fromkeys(
        ("username", "password", "token", "identity", "bearerToken"),
        "values never stand in the file: write 'keys: [username, password]', and set the values in the stack's config",
    ),
    Git: dict.fromkeys(("certSecretRef", "caFile", "ca"), _A_CA),
    KubeconfigObject: {
        "from": "remove it: the stack that makes the cluster writes the Secret",
        **dict.fromkeys(
            ("provider", "cluster", "address", "certificateAuthority", "audiences", "serviceAccountName"),
            "remove it: who makes the cluster writes the ConfigMap with the keys of Flux's 'kubeConfig.configMapRef'",
        ),
    },
    ExtraNamespace: {"formerly": _HANDED_OVER},
    Grants: {
        "annotations": _PLATFORMS.format("annotations"),
        "labels": _PLATFORMS.format("labels"),
        "limits": _BOUND,
        "push": "remove it: nothing of a team's file pushes",
        "roles": "remove it: with 'settings: [owners]' the file gives 'view', and 'edit' if the tenant may as much",
        "share": "declare what the file names in the file itself",
        "shortestInterval": _BOUND,
        "variables": _PLATFORMS.format("variables"),
    },
    PlacedSettings: {
        "require": _ENGINE,
        "roleBindings": _OBJECTS.format("a RoleBinding") + ", or add who has the role to 'owners:'",
        "roles": _OBJECTS.format("a Role and a RoleBinding"),
    },
    Platform: {
        "longNames": "remove it: names that are too long are always shortened, with a hash",
        "receivers": "remove it: an interval of the source makes Flux fetch, and receivers of tenants stay",
        "require": _ENGINE,
    },
    Source: {
        "externalArtifact": _ARTIFACT,
        "overrides": "write it in the overrides of its tenant or of the platform: '- {when: ..., sources: {NAME: ...}}'",
    },
    Tenant: {"class": _FROM, "formerly": _HANDED_OVER, "shard": _SHARD},
    Document: {
        "clusterGroups": "write them as 'templates: {clusters: ...}', and 'from:' in clusters",
        "tenantClasses": "write them as 'templates: {tenants: ...}', and 'from:' in tenants",
        "windows": _BY_SCHEDULE,
    },
    Environment: {
        "rollout": "write its keys beside it: 'waves:', 'timeout:' and 'tolerate:'",
        "windows": _BY_SCHEDULE,
        **dict.fromkeys(("fluxShards", "dedicatedFluxShards"), _SHARD),
        "management[]": _BY_ENVIRONMENT,
        "by": "remove it: waves take clusters, by 'names:', 'labels:', 'percent:' or 'all:'",
        "disabled": "remove it: without 'waves:' a change reaches all clusters at the same time",
        "checks": "remove it, and test in the pipeline: a run ends after a wave with 'soak:', and a later run goes on",
        "maxParallel": "remove it, and write more waves, such as '10%'",
        "unreachableAfter": "remove it: a cluster counts as unreachable after two minutes",
    },
    After: {
        "gate": "remove it: a mapping refuses what the environment before does not run, and a name alone sets the order"
    },
    Cluster: {"group": _FROM, "management": _BY_ENVIRONMENT, "windows": _BY_SCHEDULE},
    RolloutWave: {
        "approval": "remove it: an environment of the pipeline, with reviewers, approves a run",
        "exclude": "remove it, and give the clusters of the wave a label of their own, or write 'names:'",
        "tenants": "write 'names:' or 'labels:' of clusters",
        "class": "write 'names:' or 'labels:' of clusters",
    },
}
"""Model -> key -> what to write, as the fix of an error; a key with `[]` had a list. A row holds for models that extend its
model, too.
"""


def fix_for_former(model: type[Model], key: str) -> str:
    """What to write instead of the key; "" if the model never had it."""
    return next((rows[key] for known, rows in FORMER_KEYS.items() if issubclass(model, known) and key in rows), "")
