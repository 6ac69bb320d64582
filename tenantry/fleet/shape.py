"""Checks the data of a file against the model and reports problems in the author's terms.

A mistake in one app must not hide the mistakes of others. So invalid entries (an app, a source, a tenant or one of its
settings, an add-on) are left out and the rest is checked. `Checked.left_out` names them, so that a reference to one is not
reported as unknown. Several findings that one mistake leads to are joined into one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from pydantic_core import ValidationError

from tenantry.fleet.lineages import ENVIRONMENTS
from tenantry.fleet.templates import Once
from tenantry.grants.model import Grants, Include
from tenantry.messages.data import ABSENT, mapping_at, value_at, without
from tenantry.messages.errors import MAX_PROBLEMS, Path, Problem, first_of
from tenantry.messages.problems import (
    empty_list,
    empty_string,
    entry_name,
    missing_key,
    no_match,
    not_allowed,
    out_of_range,
    owned_key,
    unknown_key,
    wrong_type,
)
from tenantry.model import (
    After,
    App,
    Cluster,
    Credentials,
    Document,
    Environment,
    Git,
    Model,
    Oci,
    PlacedSettings,
    Platform,
    RolloutWave,
    Source,
    Tenant,
)
from tenantry.model.clusters import KubeconfigObject
from tenantry.model.tenancy import AddonAccount, ExtraNamespace
from tenantry.model.walk import fields_of, lacking_at, model_at

_KEY_MARK = "[key]"
_GROUPS = frozenset({"alerts", "apps", "configs", "credentials", "receivers", "sources"})
"""Keys of a tenant whose entries the rest of the file can be checked without."""
_NEEDED = _GROUPS | {"adopt", "clusters", "namespaces", "state"}
"""Keys of a tenant without which its apps, which refer to them, would seem wrong. The others are settings."""


@dataclass(frozen=True, slots=True)
class Checked:
    """document: None where the frame itself (environments, clusters, ...) is wrong; left_out: paths of broken entries."""

    document: Document | None
    left_out: frozenset[Path]
    findings: tuple[Problem, ...]


def check_shape(data: dict[str, Any], known: tuple[Problem, ...] = (), once: Once | None = None) -> Checked:
    """Fit the data to the model; findings hold every misfit.

    Args: known: what is wrong with entries besides; those are left out too. once: passes over what it has reported of a template.
    """
    checked, missing = _check_whole(data, known, once), tuple(_without_management(data))
    if not missing:
        return checked
    return Checked(None, checked.left_out, tuple(without_repeats((*missing, *checked.findings), ())))


def _without_management(data: dict[str, Any]) -> Iterator[Problem]:
    """An environment without a management cluster is a frame, which others extend."""
    environments = mapping_at(data, ENVIRONMENTS.section)
    extended = {name for environment in environments.values() for name in ENVIRONMENTS.named(environment)}
    for name, environment in environments.items():
        if isinstance(environment, dict) and "management" not in environment and name not in extended:
            yield missing_key((ENVIRONMENTS.section, name), "management", "management: CLUSTER")


def _check_whole(data: dict[str, Any], known: tuple[Problem, ...], once: Once | None) -> Checked:
    findings = known
    try:
        document = Document.model_validate(data)
        if not known:
            return Checked(document, frozenset(), ())
    except ValidationError as error:
        # Each of those that are kept can come with one that repeats it.
        of_error = findings_of(error, Document, data)
        misfits = tuple(islice(once(of_error) if once else of_error, 2 * MAX_PROBLEMS + 2))
        findings += first_of(without_repeats(misfits, known))
        if len(findings) > MAX_PROBLEMS:
            return Checked(None, frozenset(), findings)
    paths = (*(finding.path for finding in findings), *(once.repeated if once else ()))
    broken = frozenset(entry for path in paths if (entry := _entry(path)))
    if any(_entry(finding.path) is None for finding in findings):
        return Checked(None, broken, findings)
    try:
        return Checked(Document.model_validate(without(data, broken)), broken, findings)
    except ValidationError:  # an entry's absence broke its parent
        return Checked(None, broken, findings)


def findings_of(error: ValidationError, model: type[Model], data: Any, at: Path = ()) -> Iterator[Problem]:
    """The findings in pydantic's error about `data`, whose place in the document is `at`."""
    for detail in error.errors(include_url=False, include_input=False):
        path = detail["loc"]
        # pydantic's mark that a key is wrong, unless the author's own key looks like it.
        at_key = path[-1:] == (_KEY_MARK,) and value_at(data, path, ABSENT) is ABSENT
        path = path[:-1] if at_key else path
        yield _finding(dict(detail), at, path, model, data, at_key=at_key)


def _finding(detail: dict[str, Any], at: Path, path: Path, model: type[Model], data: Any, *, at_key: bool) -> Problem:
    kind, context = detail["type"], detail.get("ctx", {})
    place = (*at, *path)
    match kind:
        case "extra_forbidden":
            return unknown_key_of(place, model_at(model, path[:-1]))
        case "missing":
            return missing_key(place[:-1], str(path[-1]), _example(model_at(model, path[:-1]), path))
        case "literal_error":
            allowed = context["expected"].replace("'", "").replace(" or ", ", ")
            return not_allowed(place, value_at(data, path), [allowed.replace("True", "true")])
        case "too_short":
            return empty_list(place)
        case "string_pattern_mismatch":
            value = path[-1] if at_key else value_at(data, path)
            return replace(no_match(place, value, context["pattern"]), at_key=at_key)
        case "string_too_short":
            return empty_string(place)
        case "greater_than_equal" | "less_than_equal":
            bound = context["ge" if kind.startswith("greater") else "le"]
            return out_of_range(place, kind.replace("_", "-"), value_at(data, path), bound)
        case _ if kind in _EXPECTED:
            value = value_at(data, path)
            above = model_at(model, path[:-1]) if isinstance(value, list) else None
            fix = fix_for_former(above, f"{path[-1]}[]") if above else ""
            if path[-1] == "ref":
                fix = f"write '{_EXAMPLES['ref']}'"
            return wrong_type(place, _EXPECTED[kind], value, _keys_to_write(model_at(model, path)), fix)
        case _:  # our own refusals carry their code as the type
            text = context.get("text", detail["msg"])
            text = f"{entry_name(place)} {text}" if context.get("of_entry") else text
            if kind == "choose-one" and isinstance(value := value_at(data, path), dict):
                # The second of the keys is where the mistake shows.
                given = [key for key in value if key in context["keys"]]
                place, at_key = ((*place, given[-1]), True) if len(given) > 1 else (place, at_key)
            return Problem(place, kind.replace("_", "-"), text, fix=context.get("fix", ""), at_key=at_key)


def _keys_to_write(model: type[Model] | None) -> list[str]:
    """The keys of a mapping that its author cannot do without, or the first ones."""
    fields = fields_of(model) if model else {}
    return [name for name, field in fields.items() if field.is_required()] or list(fields)[:_SHOWN]


_SHOWN = 4
_EXAMPLES = {
    "apiVersion": "apiVersion: tenantry/v1",
    "ref": "ref: {branch: main}",
    "environments": "environments: [...]",
    "clusters": "clusters: {...}",
    "when": "when: {environments: [...]}",
}
"""What to add where a key is missing, if more can be said than its name."""

_EXPECTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "list_type": "a list",
    "none_required": "nothing",
}


def _example(model: type[Model] | None, path: Path) -> str:
    """A missing key with a value; "" if nothing can be said."""
    if model is Document and path[-1] == "environments":
        return "environments: {NAME: {management: CLUSTER}}"
    if model and issubclass(model, Oci):
        return "ref: {tag: ...}"
    return _EXAMPLES.get(str(path[-1]), "")


def unknown_key_of(path: Path, model: type[Model] | None) -> Problem:
    """The finding for a key that its mapping does not take. Args: model: of the mapping."""
    key = str(path[-1])
    if model and (reason := model.owned.get(key)):
        return owned_key(path, reason, FOR_OWNED.get(key, ""))
    lacking = lacking_at(Document, path[:-1])
    known = fields_of(model).keys() - lacking if model else ()
    return unknown_key(path, known, fix_for_former(model, key) if model else "")


def _entry(path: Path) -> Path | None:
    """The smallest entry around a path that the rest of the file can be checked without."""
    match path:
        case ("tenants", _, group, _, *_) if group in _GROUPS:
            return path[:4]
        case ("tenants", _, key, *_) if key not in _NEEDED:
            return path[:3]
        case ("defaults", key, *_) if key not in _NEEDED:
            return path[:2]
        case ("tenants", _, *_):
            return path[:2]
        case ("templates", "tenants", _, *_) | ("platform", "addons" | "alerts" | "configs" | "credentials", _, *_):
            return path[:3]
    return None


def without_repeats(findings: tuple[Problem, ...], known: tuple[Problem, ...]) -> Iterator[Problem]:
    """Findings that do not repeat others: a typo of a key that is needed is no missing key, too.

    Args: known: further findings, which are reported.
    """
    meant = {problem.meant for problem in (*known, *findings) if problem.code == "unknown-key"} - {()}
    wrong_keys = {problem.path for problem in findings if problem.at_key}
    for problem in findings:
        if problem.code == "missing-key" and problem.meant in meant:
            continue
        if problem.at_key or not any(problem.path[:depth] in wrong_keys for depth in range(1, len(problem.path) + 1)):
            yield problem


# --- keys that are gone, or that the fleet sets ---------------------------------------------------------------------

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
