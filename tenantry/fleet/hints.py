"""What an author probably meant by a key that does not fit, or that earlier drafts of the language had, as the fix of a finding.

Called by: `shape` for the model's keys, `blocks` for Flux's.
Never: decides whether something is wrong, quotes what may be a secret, or proposes to remove an entry of the fleet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from tenantry.fleet.value_hints import IN_A_SECRET, quoted
from tenantry.flux.schemas import schema_of
from tenantry.grants.model import Grants, Include
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path
from tenantry.messages.text import closest, format_path
from tenantry.model import (
    SOURCE_KINDS,
    After,
    App,
    AppOverride,
    ChartDirectory,
    Cluster,
    Credentials,
    Document,
    Environment,
    Excluded,
    FluxBlock,
    Git,
    HelmPatch,
    Kubeconfig,
    KustomizePatch,
    Model,
    ObjectsChart,
    Oci,
    PlacedSettings,
    Platform,
    PlatformOverride,
    RolloutWave,
    Selector,
    Source,
    Tenant,
    TenantOverride,
    When,
)
from tenantry.model.apps import OF_ADDONS
from tenantry.model.clusters import Capi, KubeconfigObject
from tenantry.model.strict import fields_of, model_at
from tenantry.model.tenancy import AddonAccount, ExtraNamespace, Limits, TenantOwner

_BLOCKS: Mapping[str, type[FluxBlock]] = {"kustomize": KustomizePatch, "helm": HelmPatch}
_REFS: Mapping[type[Model], str] = {Git: "GitRepository", Oci: "OCIRepository", ChartDirectory: "GitRepository"}
"""The kinds of Flux whose `ref` a mapping has."""
_LOGIN = ("username", "password", "token", "identity", "bearerToken")
_ON_THE_APP = "set it on the app itself, because overrides cannot change it"
_OF_WHEN = ("clusters", "environments", "cluster", "environment", "where")
_IN_WHEN = "write it in 'when:', which says where the override holds"
_ABOVE = "set it outside of 'overrides', which cannot change it"
_A_SUBJECT = "write 'user: NAME', 'group: NAME' or 'serviceAccount: {name: NAME}'"
_A_REF = "write 'ref: {branch: NAME}', or 'tag', 'semver' or 'commit' in it"
_A_CA = (
    "remove it: the CA of a Git host is a key of the source's own credentials, such as 'git: {keys: [username, password, ca.crt]}'"
    " with 'credentials: git' beside the block"
)
_A_CHART = "write 'helm: {url: ..., version: ...}', or 'git:' with 'url', 'ref' and 'path'"
_BY_LABELS = "write 'clusters: {labels: {KEY: VALUE}}'"
AT_THE_TOP: Mapping[str, str] = {
    "addons": "write 'platform: {addons: ...}'",
    "variables": "write 'environments: {NAME: {variables: ...}}'",
    **{key: f"write 'tenants: {{NAME: {{{key}: ...}}}}'" for key in ("apps", "sources", "namespaces", "credentials")},
}
"""Keys that stand at the top of the file, or as names of tenants."""
_INSTEAD: Mapping[type[Model], Mapping[str, str]] = {
    Document: AT_THE_TOP,
    When: {
        "labels": _BY_LABELS,
        "environment": "write 'environments: [NAME]'",
        "cluster": "write 'clusters: {names: [NAME]}'",
        "names": "write 'clusters: {names: [NAME]}'",
    },
    PlatformOverride: dict.fromkeys(_OF_WHEN, _IN_WHEN),
    AppOverride: {
        **dict.fromkeys(_OF_WHEN, _IN_WHEN),
        "state": _ON_THE_APP,
        "when": "write it in the override around it, which says where both hold",
        "source": "write 'kustomize: {source: NAME}' or 'helm: {source: NAME}'",
    },
    TenantOverride: dict.fromkeys(_OF_WHEN, _IN_WHEN),
    Tenant: {
        "namespace": "set it in the environment, for all tenants: 'namespace: \"{tenant}\"'",
        **dict.fromkeys(("members", "users", "admins"), "write 'owners: [{user: NAME}]'"),
    },
    TenantOwner: dict.fromkeys(("kind", "name", "namespace", "apiGroup", "email", "username"), _A_SUBJECT),
    Limits: dict.fromkeys(("cpu", "memory"), "write 'default: {cpu: ..., memory: ...}'"),
    Git: {
        **dict.fromkeys(("revision", "targetRevision"), _A_REF),
        **dict.fromkeys(("certSecretRef", "caFile", "ca"), _A_CA),
    },
    KustomizePatch: {"namespace": "write 'targetNamespace'"},
    HelmPatch: {"namespace": "write 'targetNamespace'"},
    Kubeconfig: {
        **dict.fromkeys(
            ("name", "namespace", "key"), "move it under 'secret:', which takes 'name', 'namespace' and 'key'"
        ),
        **dict.fromkeys(("apiVersion", "kind", "clusters", "users", "contexts", "current-context"), IN_A_SECRET),
    },
    Capi: {"name": "write 'cluster'"},
    After: dict.fromkeys(("env", "name", "stage", "environments"), "write 'environment: NAME'"),
    ObjectsChart: dict.fromkeys(("url", "version", "ref", "path"), _A_CHART),
}
"""Model -> key -> what to write instead, also for models that extend one. Equal ones of a mapping are one finding."""


def fix_for_key(model: type[Model] | None, key: str, beside: Mapping[str, Any], lacking: Collection[str] = ()) -> str:
    """Where a key belongs that its mapping does not take; "" if that is not known.

    Args: model: of the mapping; beside: the whole mapping as written; lacking: keys of the model that it lacks.
    """
    if model is None:
        return ""
    if fix := fix_for_former(model, key):
        return fix
    if fix := next((fixes[key] for known, fixes in _INSTEAD.items() if issubclass(model, known) and key in fixes), ""):
        return fix
    if issubclass(model, TenantOverride) and key in fields_of(Tenant):
        return _ABOVE
    if issubclass(model, Environment | Cluster) and key in PlacedSettings.model_fields:
        when = "environments: [NAME]" if issubclass(model, Environment) else "clusters: {names: [NAME]}"
        return f"write it in 'defaults:' or in a tenant, as 'overrides: [{{when: {{{when}}}, {key}: ...}}]'"
    if issubclass(model, Credentials):
        keys = ", ".join(sorted(sibling for sibling in beside if sibling in _LOGIN)) or "username, password"
        return f"values never stand in the file: write 'keys: [{keys}]'"
    if issubclass(model, App | AppOverride) and (fix := _block_of(key, beside)):
        return fix
    if any(issubclass(model, block) and key in _keys_of(kind, "ref") for block, kind in _REFS.items()):
        return f"write 'ref: {{{key}: ...}}'"
    if issubclass(model, FluxBlock) and key in _LOGIN:
        return "values never stand in the file: declare 'credentials:', and name them beside the block"
    if issubclass(model, FluxBlock) and key == "credentials":
        return "put it beside the block, not into it"
    if (block := next((kind for kind in SOURCE_KINDS.values() if kind is model), None)) and _is_of_a_source(key):
        # Written as Flux writes it, so it is no misspelling of the nearest key here.
        return f"remove it: a {block.flux_kind} does not have it, sources of other kinds do"
    return "" if closest(key, fields_of(model).keys() - lacking) else _elsewhere(model, key, beside)


_PLACES: Mapping[type[Model], str] = {
    Tenant: "tenants: {NAME: {%s: ...}}",
    Environment: "environments: {NAME: {%s: ...}}",
    Cluster: "clusters: {NAME: {%s: ...}}",
    Platform: "platform: {%s: ...}",
    App: "apps: {NAME: {%s: ...}}",
}
"""Where the keys of a model stand, what people mean first."""


def _elsewhere(model: type[Model], key: str, beside: Mapping[str, Any]) -> str:
    """Where else in the file a key stands that is no misspelt one of its mapping; "" if nowhere."""
    value = beside.get(key)
    if issubclass(model, Environment) and key in ("soak", "percent"):
        after = ", or in 'after: {environment: NAME, soak: ...}'" if key == "soak" else ""
        return f"write it in a wave, such as 'waves: [{{labels: {{KEY: VALUE}}, {key}: ...}}, rest]'{after}"
    if issubclass(model, Environment) and key in ("cluster", "clusters"):
        return "write 'environments: [NAME]' in each cluster"
    if issubclass(model, KustomizePatch) and key in _keys_of("Kustomization", "postBuild"):
        return f"write 'postBuild: {{{key}: ...}}'"
    for known, place in _PLACES.items():
        of_addons = known is App and key in OF_ADDONS
        if not issubclass(model, known) and key in fields_of(known) and not of_addons:
            when = (
                ", or in an entry of its 'overrides:'" if known is Tenant and key in PlacedSettings.model_fields else ""
            )
            return f"write it as '{place % key}'{when}"
    if issubclass(model, Selector | RolloutWave | Excluded) and isinstance(value, str | int):
        return f"write '{{labels: {{{quoted(key, ())}: {quoted(value, (key,))}}}}}', if it is a label of clusters"
    return ""


def _keys_of(kind: str, key: str) -> Collection[str]:
    """The keys that Flux has below one of a kind's spec."""
    keys: dict[str, Any] = schema_of(kind).spec["properties"][key]["properties"]
    return keys


def _is_of_a_source(key: str) -> bool:
    return any(key in schema_of(kind.flux_kind).spec["properties"] for kind in SOURCE_KINDS.values())


def _block_of(key: str, beside: Mapping[str, Any]) -> str:
    """Under which block a key of an app belongs."""
    for name in [name for name in _BLOCKS if name in beside] or _BLOCKS:
        block = _BLOCKS[name]
        known = {*block.model_fields, *schema_of(block.flux_kind).spec["properties"]} - block.owned.keys()
        if key in known or key == "namespace":
            return (
                f"use 'targetNamespace' under '{name}:'" if key == "namespace" else f"'{key}' belongs under '{name}:'"
            )
    return ""


FOR_OWNED: Mapping[str, str] = {
    "sourceRef": "write 'source: NAME'",
    "chartRef": "write 'source: NAME'",
    "secretRef": "write 'credentials: NAME' beside the block",
    "dependsOn": "write 'dependsOn: [NAME]' beside the block",
}
"""What to write for keys of Flux that the fleet sets from others of ours."""


# --- entries in a mapping of something else, such as an app beside `apps:` ---------------------------------------------

_GROUPS = {
    "a tenant": "tenants",
    "an app": "apps",
    "a source": "sources",
    "a cluster": "clusters",
    "an environment": "environments",
}
"""Under which key an entry stands, by what it looks like."""


class Misplaced(NamedTuple):
    """place: where the entry belongs, so that references to it are not reported; None where that is not certain."""

    fix: str
    place: Path | None


def misplaced(path: Path, value: Any, document: Mapping[str, Any]) -> Misplaced | None:
    """Where an entry belongs that stands at a path; None if it looks like none. Args: document: the whole file."""
    kind = _looks_like(value)
    *above, key = path
    overriding = "overrides" in above or any(key in mapping_at(document, part) for part in ("environments", "clusters"))
    if not kind or not isinstance(key, str) or (overriding and kind == "an app"):
        return None
    if kind == "a cluster" and (holder := model_at(Document, tuple(above))) and closest(key, fields_of(holder)):
        return None  # `wen: {environments: [dev]}` is no cluster
    place = next(_places(above, _GROUPS[kind], key), None)
    if place and place == path:
        return None
    parts = place[:-1] if place else ("tenants", "NAME", _GROUPS[kind])
    where = format_path(tuple(part if isinstance(part, int) else quoted(part, ()) for part in parts))
    return Misplaced(
        f"it looks like {kind}: move it under '{where}:', with the indentation of the entries there", place
    )


def _places(above: list[str | int], group: str, key: str) -> Iterator[Path]:
    """Where an entry of a group can stand, the nearest place first."""
    if group in above:
        yield (*above[: len(above) - above[::-1].index(group)], key)
    holder = model_at(Document, tuple(above))
    if holder and group in fields_of(holder):
        yield (*above, group, key)
    if group in fields_of(Document):
        yield (group, key)
    if above[:1] == ["tenants"] and len(above) > 1:
        yield (*above[:2], group, key)


def _looks_like(value: Any) -> str:
    """What kind of entry a value is, with its article, by the keys of the mapping; "" if it looks like none."""
    if not isinstance(value, dict) or not value:
        return ""
    keys = set(value)
    if keys & {"apps", "sources"} and keys <= fields_of(Tenant).keys():
        return "a tenant"
    if any("url" in mapping_at(value, kind) for kind in SOURCE_KINDS) and keys <= {*SOURCE_KINDS, "credentials"}:
        return "a source"
    if keys & {"kustomize", "helm"} and keys <= fields_of(App).keys():
        return "an app"
    if "management" in keys and keys <= fields_of(Environment).keys():
        return "an environment"
    of_cluster = keys & {"kubeconfig", "labels", "variables"} or keys == {"environments"}
    return (
        "a cluster"
        if of_cluster and keys & {"kubeconfig", "environments"} and keys <= fields_of(Cluster).keys()
        else ""
    )


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
"""Model -> key -> what to write, as the fix of an error. A row holds for models that extend its model, too."""


def fix_for_former(model: type[Model], key: str) -> str:
    """What to write instead of the key; "" if the model never had it."""
    return next((rows[key] for known, rows in FORMER_KEYS.items() if issubclass(model, known) and key in rows), "")
