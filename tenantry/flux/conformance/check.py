"""Checks the spec of one object in the same order as an API server: structure, then CEL rules, then lists with equal keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, TypeVar

from tenantry.flux.conformance.structure import misfits, misfits_of_part
from tenantry.flux.schemas import schema_of
from tenantry.flux.texts import text_problems
from tenantry.messages.errors import Path, Problem

_T = TypeVar("_T")


def once(find: Callable[[dict[str, Any]], _T]) -> Callable[[dict[str, Any]], _T]:
    """A function of a schema that computes its result once for each. Mappings cannot be keys of a cache."""
    known: dict[int, tuple[dict[str, Any], _T]] = {}

    @wraps(find)
    def found(schema: dict[str, Any]) -> _T:
        # The schema is kept, so that no other can get its identity.
        entry = known.get(id(schema))
        if entry is None:
            entry = known[id(schema)] = (schema, find(schema))
        return entry[1]

    return found


def completed(schema: dict[str, Any], value: Any) -> Any:
    """A copy of the value with the schema's defaults, as an API server adds them. Parts without defaults are not copied."""
    defaults = _defaults_of(schema)
    return value if defaults is None else defaults.completed(value)


@dataclass(frozen=True, slots=True)
class _Defaults:
    """The defaults of a schema with properties or items, and of those of its parts that have some."""

    own: dict[str, Any]
    properties: dict[str, _Defaults]
    items: _Defaults | None

    def completed(self, value: Any) -> Any:
        if isinstance(value, dict) and (self.own or self.properties):
            complete = self.own | value
            for key, part in self.properties.items():
                if key in value:
                    complete[key] = part.completed(value[key])
            return complete
        if isinstance(value, list) and self.items:
            return [self.items.completed(entry) for entry in value]
        return value


@once
def _defaults_of(schema: dict[str, Any]) -> _Defaults | None:
    """The defaults of a schema; None: it has none."""
    properties = schema.get("properties") or {}
    own = {key: part["default"] for key, part in properties.items() if "default" in part}
    parts = {key: defaults for key, part in properties.items() if (defaults := _defaults_of(part))}
    items = _defaults_of(schema["items"]) if schema.get("items") else None
    return _Defaults(own, parts, items) if own or parts or items else None


def described(schema: dict[str, Any], value: Any) -> Any:
    """A copy of the value with None in place of parts of any type, such as the values of a chart.

    No rule reads these parts, but they can contain numbers beyond 64 bits, which CEL does not accept.
    """
    if isinstance(value, dict) and (properties := schema.get("properties")):
        return {key: described(properties[key], part) if key in properties else None for key, part in value.items()}
    if isinstance(value, list) and (items := schema.get("items")):
        return [described(items, entry) for entry in value]
    return value if "type" in schema else None


def broken_rules(schema: dict[str, Any], value: Any, at: Path) -> Iterator[Problem]:
    """The rules that a value and its parts break. The value has the right structure and includes defaults."""
    if ruled := _ruled(schema):
        yield from ruled.broken(value, at)


@dataclass(frozen=True, slots=True)
class _Ruled:
    """What a schema says beyond its structure, with the properties and the items that say something themselves.

    keys: no two entries of the list may be equal in all of them.
    """

    schema: dict[str, Any]
    rules: tuple[str, ...]
    keys: list[str]
    properties: tuple[tuple[str, _Ruled], ...]
    items: _Ruled | None

    def broken(self, value: Any, at: Path) -> Iterator[Problem]:
        for rule in self.rules:
            if not holds(rule, value, self.schema):
                yield _finding(EXPLANATIONS[rule], value, at)
        if self.keys:
            yield from _duplicates(self.keys, value, at)
        if isinstance(value, dict):
            for key, part in self.properties:
                if key in value:
                    yield from part.broken(value[key], (*at, key))
        elif self.items and isinstance(value, list):
            for index, entry in enumerate(value):
                yield from self.items.broken(entry, (*at, index))


@once
def _ruled(schema: dict[str, Any]) -> _Ruled | None:
    """What a schema or a part of it says beyond its structure; None: nothing."""
    rules = tuple(schema.get("x-kubernetes-validations", ()))
    keys = schema.get("x-kubernetes-list-map-keys") or []
    parts = tuple((key, ruled) for key, part in schema.get("properties", {}).items() if (ruled := _ruled(part)))
    items = _ruled(schema["items"]) if schema.get("items") else None
    return _Ruled(schema, rules, keys, parts, items) if rules or keys or parts or items else None


def holds(rule: str, value: Any, schema: dict[str, Any]) -> bool:
    """Whether the value satisfies the rule. As on an API server, a rule that cannot be evaluated is not satisfied."""
    return _compiled(rule).eval(data={"self": described(schema, value)}).value() is True


@cache
def _compiled(rule: str) -> Any:
    return _environment().compile(rule)


@cache
def _environment() -> Any:
    # Most commands, and fleets without rules to check, do not need it.
    from cel_expr_python import cel  # type: ignore[import-untyped]

    return cel.NewEnv(variables={"self": cel.Type.DYN})


def _finding(explanation: Explanation, value: Any, at: Path) -> Problem:
    """The finding for a broken rule: at the key to change if the author wrote it, otherwise at the block."""
    at_key = explanation.key in value
    return Problem(
        (*at, explanation.key) if at_key else at,
        explanation.code,
        explanation.message,
        explanation.notes,
        explanation.fix,
        at_key=at_key,
    )


def _duplicates(keys: list[str], entries: list[dict[str, Any]], at: Path) -> Iterator[Problem]:
    seen: dict[tuple[Any, ...], int] = {}
    for index, entry in enumerate(entries):
        first = seen.setdefault(tuple(entry.get(key) for key in keys), index)
        if first != index:
            message = f"{' and '.join(keys)} must differ between entries, entry {first} has the same"
            yield Problem((*at, index), "duplicate", message, fix="remove one of them")


def check_part(kind: str, part: Mapping[str, Any], at: Path) -> Iterator[Problem]:
    """The problems of a part of a spec. Missing keys are no problem, because other layers can add them.

    Args:    part: as written; `null` removes a key.
    Raises:  KeyError: there is no such kind.
    """
    schema = schema_of(kind)
    if part:  # most blocks have no keys of Flux's own, and a validator takes a while to build
        yield from misfits_of_part(schema, dict(part), at)


def check_spec(kind: str, spec: Mapping[str, Any], at: Path) -> Iterator[Problem]:
    """The problems of the spec of a Flux object.

    CEL rules and texts with a grammar of their own rely on the structure, so they are checked only if the structure is right.
    Args:    spec: JSON data as it would be sent, without null; defaults may be missing. at: its path in the document.
    Returns: findings at paths below `at`, as if the author had written the spec there.
    Raises:  KeyError: there is no such kind.
    """
    schema = schema_of(kind)
    complete = completed(schema.spec, dict(spec))
    has_misfit = False
    for finding in misfits(schema, complete, at):
        has_misfit = True
        yield finding
    if not has_misfit:
        yield from broken_rules(schema.spec, complete, at)
        yield from text_problems(kind, spec, at)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The message for a block that breaks the rule.

    key: the finding points at this key if the author wrote it, otherwise at the block.
    """

    message: str
    key: str = ""
    fix: str = ""
    notes: tuple[str, ...] = ()
    code: str = "bad-combination"


_NO_RETRIES = "retryInterval has no effect unless failures are retried"
_OIDC = "type 'generic-oidc'"
_NEITHER_KUBECONFIG = "kubeConfig needs either 'configMapRef:' or 'secretRef:'; it has neither"
_BOTH_KUBECONFIGS = "kubeConfig needs either 'configMapRef:' or 'secretRef:'; it has both"

EXPLANATIONS = {
    # Bucket
    "self.provider == 'aws' || self.provider == 'generic' || !has(self.sts)": Explanation(
        "sts needs provider 'aws' or 'generic'", "sts", "remove it, or change the provider"
    ),
    "self.provider != 'aws' || !has(self.sts) || self.sts.provider == 'aws'": Explanation(
        "with provider 'aws', sts.provider must be 'aws'", "sts", "write 'provider: aws' in it"
    ),
    "self.provider != 'generic' || !has(self.sts) || self.sts.provider == 'ldap'": Explanation(
        "with provider 'generic', sts.provider must be 'ldap'", "sts", "write 'provider: ldap' in it"
    ),
    "!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.secretRef)": Explanation(
        "sts of provider 'aws' takes no secretRef", "sts", "remove secretRef from it"
    ),
    "!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.certSecretRef)": Explanation(
        "sts of provider 'aws' takes no certSecretRef", "sts", "remove certSecretRef from it"
    ),
    "self.provider != 'generic' || !has(self.serviceAccountName)": Explanation(
        "provider 'generic' takes no serviceAccountName", "serviceAccountName", "remove it, or name a cloud's provider"
    ),
    "!has(self.secretRef) || !has(self.serviceAccountName)": Explanation(
        "secretRef and serviceAccountName cannot be combined", "serviceAccountName", "remove one of them"
    ),
    # GitRepository
    (
        "!has(self.serviceAccountName) || (has(self.provider) && (self.provider == 'azure' || self.provider == 'aws'))"
    ): Explanation(
        "serviceAccountName needs provider 'aws' or 'azure'", "serviceAccountName", "remove it, or change the provider"
    ),
    # HelmChart
    "!has(self.verify) || self.sourceRef.kind == 'HelmRepository'": Explanation(
        "only charts of a HelmRepository can be verified", "verify", "remove it"
    ),
    # HelmRelease
    "(has(self.chart) && !has(self.chartRef)) || (!has(self.chart) && has(self.chartRef))": Explanation(
        "a release needs either 'chart:' or 'chartRef:'", "chartRef", code="choose-one"
    ),
    "!has(self.retryInterval) || self.name != 'RemediateOnFailure'": Explanation(
        _NO_RETRIES, "retryInterval", "remove it, or write 'name: RetryOnFailure' beside it"
    ),
    "!has(self.retryInterval) || self.name == 'RetryOnFailure'": Explanation(
        _NO_RETRIES, "retryInterval", "remove it, or write 'name: RetryOnFailure' beside it"
    ),
    # HelmRelease and Kustomization
    "has(self.configMapRef) || has(self.secretRef)": Explanation(_NEITHER_KUBECONFIG, code="choose-one"),
    "!has(self.configMapRef) || !has(self.secretRef)": Explanation(_BOTH_KUBECONFIGS, code="choose-one"),
    # Provider
    (
        "self.type == 'github' || self.type == 'gitlab' || self.type == 'gitea' || self.type == 'bitbucketserver' || "
        "self.type == 'bitbucket' || self.type == 'azuredevops' || !has(self.commitStatusExpr)"
    ): Explanation(
        "commitStatusExpr needs a provider that sets commit statuses",
        "commitStatusExpr",
        "remove it, or change the type",
        ("types: azuredevops, bitbucket, bitbucketserver, gitea, github, gitlab",),
    ),
    # Receiver
    "self.type != 'generic-oidc' || (has(self.oidcProviders) && size(self.oidcProviders) > 0)": Explanation(
        f"{_OIDC} needs at least one entry in oidcProviders", "oidcProviders", "name the issuer to trust"
    ),
    "self.type == 'generic-oidc' || !has(self.oidcProviders) || size(self.oidcProviders) == 0": Explanation(
        f"oidcProviders needs {_OIDC}", "oidcProviders", "remove it, or change the type"
    ),
    "self.type != 'generic-oidc' || !has(self.secretRef)": Explanation(
        f"{_OIDC} takes no secretRef", "secretRef", "remove it"
    ),
    "self.type == 'generic-oidc' || has(self.secretRef)": Explanation(
        "every type but 'generic-oidc' needs a secretRef", fix="add 'secretRef:'"
    ),
}
