"""Which differences between an object that was read and the planned one are harmless: a table of rules, and what they know.

A difference is harmless if Flux and the API server do the same with both values, now and in every later run. Another account,
another place, and what prunes, replaces or uninstalls something is never harmless: it goes well only if somebody has checked it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from tenantry.compare.fields import Entry, FieldChange
from tenantry.importing.checkouts import FLUX
from tenantry.importing.equivalence import NAMESPACES_OF_SOURCES, effective_spec
from tenantry.importing.known import Known
from tenantry.importing.model import Harmless
from tenantry.importing.owners import CONTROLLERS
from tenantry.kube.objects import Manifest, group_of
from tenantry.messages.data import ABSENT, mapping_at

MISSING_CRDS = {"crds": "Create"}
"""What an upgrade does with the chart's CRDs if nothing is written: Flux creates those that are missing, whatever the text of its
field says. Source: fluxcd/helm-controller, internal/action/crds.go, DefaultCRDPolicy.
"""
OF_KUBERNETES = ("default", "kube-system")
"""Namespaces that every cluster has."""


class Difference(NamedTuple):
    """A field of an object in its surroundings. others: all fields that differ, this one too."""

    environment: str
    read: Manifest
    planned: Manifest
    field: FieldChange
    others: tuple[FieldChange, ...]
    known: Known

    @property
    def kind(self) -> str:
        return str(self.planned["kind"])

    @property
    def namespace(self) -> str:
        return str(self.planned["metadata"]["namespace"])

    @property
    def spec(self) -> dict[str, Any]:
        """What is planned."""
        return mapping_at(self.planned, "spec")

    def is_new(self, value: object) -> bool:
        """Whether the field is new, with this value."""
        return self.field.before is ABSENT and self.field.after == value


@dataclass(frozen=True, slots=True)
class Rule:
    """kinds: empty for all. path: of the field, or of one above it. holds: the condition. reason: why it is harmless then."""

    name: str
    kinds: tuple[str, ...]
    path: tuple[str, ...]
    holds: Callable[[Difference], bool]
    reason: str


def judged(
    environment: str, read: Manifest, planned: Manifest, fields: tuple[FieldChange, ...], known: Known
) -> tuple[tuple[FieldChange, ...], tuple[Harmless, ...]]:
    """The differences that can change what runs, and the harmless ones with their reasons."""
    changed: list[FieldChange] = []
    harmless: list[Harmless] = []
    for field in fields:
        parts = tuple(_parts(field))
        reasons = [_reason(Difference(environment, read, planned, part, fields, known)) for part in parts]
        if all(reasons):
            harmless += [Harmless(part, reason) for part, reason in zip(parts, reasons, strict=True)]
        else:
            changed.append(field)
    return tuple(changed), tuple(harmless)


def _reason(difference: Difference) -> str:
    """Why a difference is harmless; "" if it is not."""
    kind, path = difference.kind, difference.field.path
    for rule in RULES:
        if (not rule.kinds or kind in rule.kinds) and path[: len(rule.path)] == rule.path and rule.holds(difference):
            return rule.reason
    return ""


def _parts(field: FieldChange) -> Iterator[FieldChange]:
    """The values of a mapping that is new, so that each is judged by itself. A reference and an entry of a list are one value."""
    in_list = any(isinstance(part, int | Entry) for part in field.path)
    is_new = field.before is ABSENT and isinstance(field.after, dict) and field.after
    if is_new and field.path not in _WHOLE and not in_list:
        for key, value in field.after.items():
            yield from _parts(FieldChange((*field.path, key), ABSENT, value))
    else:
        yield field


_WHOLE = (("spec", "chartRef"), ("spec", "sourceRef"))


# --- conditions ---------------------------------------------------------------------------------------------------------


def _has_one_group(difference: Difference) -> bool:
    field = difference.field
    return group_of(str(field.before)) == group_of(str(field.after))


def _waits_for_pruning(difference: Difference) -> bool:
    field, both = difference.field, (difference.read, difference.planned)
    pruned = all(mapping_at(each, "spec").get("prune") is True for each in both)
    return pruned and field.before in ("MirrorPrune", "Delete") and field.after == "WaitForTermination"


def _is_new_and(value: object) -> Callable[[Difference], bool]:
    return lambda difference: difference.is_new(value)


def _keeps_its_chart(difference: Difference) -> bool:
    """The name of the chart is the same, or both objects take the whole chart from one OCI repository."""
    chart = ("spec", "chart", "spec", "chart")
    is_same = not any(each.path[:4] == chart or each.path in (chart[:2], chart[:3]) for each in difference.others)
    return difference.is_new("InPlaceUpdate") and is_same


def _takes_the_chart_as_an_object(difference: Difference) -> bool:
    """`chart` becomes a `chartRef` to a HelmChart that says the same."""
    is_new = difference.field.before is ABSENT and "chart" in mapping_at(difference.read, "spec")
    if not is_new or mapping_at(difference.spec, "chartRef").get("kind") != "HelmChart":
        return False
    of_chart = [each for each in difference.others if each.path[:2] == ("spec", "chart")]
    return all(_reason(difference._replace(field=each)) for each in of_chart)


def _fetches_the_same(difference: Difference) -> bool:
    """Both sources were read or are planned, and differ in nothing but in how often they are fetched."""
    path, environment, known = difference.field.path, difference.environment, difference.known
    if path in NAMESPACES_OF_SOURCES:
        return False
    at = tuple(map(str, path[: path.index("sourceRef") + 1 if "sourceRef" in path else 2]))
    old = known.read_source(environment, difference.read, *at)
    new = known.planned_source(environment, difference.planned, *at)
    if old is None or new is None or old["kind"] != new["kind"] or known.is_assumed(environment, difference.read, *at):
        return False
    one, other = (_what_is_fetched(each) for each in (old, new))
    is_beside = old["metadata"].get("namespace") == new["metadata"].get("namespace")
    return one == other and (is_beside or not any(key in one for key in _NAMES))


def _is_copied_from_there(difference: Difference) -> bool:
    """The artifact is a directory of the planned source, as it is."""
    field = difference.field
    if not difference.known.is_copied(difference.environment, difference.read, field):
        return False
    return _fetches_the_same(difference._replace(field=FieldChange(("spec", "sourceRef"), field.before, field.after)))


_OFTEN = ("interval", "timeout")
"""What a source says of when it is fetched, and not of what."""
_NAMES = ("secretRef", "certSecretRef", "proxySecretRef", "serviceAccountName", "include", "verify")
"""What a source names in its own namespace."""


def _what_is_fetched(source: Manifest) -> dict[str, Any]:
    return {key: value for key, value in effective_spec(source).items() if key not in _OFTEN and value is not None}


def _waits_for_what_it_applied(difference: Difference) -> bool:
    """A dependency that hands over what it applied, or something of that in its place."""
    kind, known, environment = difference.kind, difference.known, difference.environment
    entries = [each for each in difference.others if each.path[:2] == ("spec", "dependsOn") and len(each.path) == 3]

    def there(value: Any) -> tuple[str, str]:
        return str(value.get("namespace") or difference.namespace), str(value["name"])

    gone = {there(each.before) for each in entries if isinstance(each.before, dict) and each.after is ABSENT}
    new = {there(each.after) for each in entries if isinstance(each.after, dict) and each.before is ABSENT}
    handed = {each for each in gone if known.is_replaced(environment, kind, *each)}
    carried = {each: known.applied_by(environment, kind, *each) for each in new}
    field = difference.field
    if isinstance(field.before, dict) and field.after is ABSENT:
        return there(field.before) in handed & set(carried.values())
    return isinstance(field.after, dict) and field.before is ABSENT and carried[there(field.after)] in handed


def _is_the_controllers_own(difference: Difference) -> bool:
    """Flux's controller impersonates itself: the API server sees one user with and without the field."""
    account = difference.known.default_account(difference.environment, difference.kind)
    is_there = difference.namespace == FLUX and "kubeConfig" not in difference.spec
    return is_there and difference.is_new(CONTROLLERS.get(difference.kind)) and account == ""


def _is_the_default(difference: Difference) -> bool:
    """The controller was read, and takes this account of the object's namespace where an object names none."""
    account = difference.known.default_account(difference.environment, difference.kind)
    return bool(account) and difference.is_new(account)


def _is_read_first(difference: Difference) -> bool:
    """Flux takes the key `value` if the Secret has it, and the Secret was read."""
    name = str(mapping_at(difference.spec, "kubeConfig", "secretRef").get("name"))
    secret = difference.known.read_object(difference.environment, difference.planned, "Secret", name)
    return difference.is_new("value") and "value" in mapping_at(secret, "data")


def _is_there(difference: Difference) -> bool:
    """The namespace that Helm would create was read, or is one that every cluster has, or that the object itself is in."""
    target = str(difference.spec.get("targetNamespace"))
    is_usual = target in (difference.namespace, *OF_KUBERNETES)
    there = is_usual or difference.known.has_namespace(difference.environment, target)
    return difference.is_new(value=True) and "kubeConfig" not in difference.spec and there


# --- rules --------------------------------------------------------------------------------------------------------------

_BOTH = ("Kustomization", "HelmRelease")
_SOURCE = "the source has another name, and the same address, reference, filters and credentials"
_DEFAULT = "it is Flux's default, written out"

RULES: tuple[Rule, ...] = (
    Rule(
        "version", (), ("apiVersion",), _has_one_group, "the API server keeps one object for all versions of its kind"
    ),
    Rule(
        "waits",
        ("Kustomization",),
        ("spec", "deletionPolicy"),
        _waits_for_pruning,
        "when the Kustomization goes, Flux deletes the same objects, and then also waits until they are gone",
    ),
    Rule("source", ("Kustomization",), ("spec", "sourceRef"), _fetches_the_same, _SOURCE),
    Rule(
        "copy",
        ("Kustomization",),
        ("spec", "path"),
        _is_copied_from_there,
        "the artifact is a copy of this directory of the source, which the Kustomization takes itself",
    ),
    Rule("source of a chart", ("HelmRelease",), ("spec", "chart", "spec", "sourceRef"), _fetches_the_same, _SOURCE),
    Rule("chart in a registry", ("HelmRelease",), ("spec", "chartRef", "name"), _fetches_the_same, _SOURCE),
    Rule(
        "chart",
        ("HelmRelease",),
        ("spec", "chartRef"),
        _takes_the_chart_as_an_object,
        "it takes the same chart and version from the same source, by a HelmChart of its own",
    ),
    Rule("drift", ("HelmRelease",), ("spec", "driftDetection", "mode"), _is_new_and("disabled"), _DEFAULT),
    *(
        Rule(
            f"strategy of {action}",
            ("HelmRelease",),
            ("spec", action, "strategy", "name"),
            _is_new_and("RemediateOnFailure"),
            f"{_DEFAULT}; only its feature gate DefaultToRetryOnFailure would change that default",
        )
        for action in ("install", "upgrade")
    ),
    Rule(
        "name of a chart",
        ("HelmRelease",),
        ("spec", "upgrade", "chartNameChangeStrategy"),
        _keeps_its_chart,
        "it matters only when the chart gets another name: the release is then upgraded, and not installed anew",
    ),
    Rule(
        "order",
        _BOTH,
        ("spec", "dependsOn"),
        _waits_for_what_it_applied,
        "it waits for what the other one applied, which has nothing to do any more",
    ),
    Rule(
        "account",
        _BOTH,
        ("spec", "serviceAccountName"),
        _is_the_controllers_own,
        "it is the account of Flux's own controller, which acts as the same user without this field",
    ),
    Rule(
        "default account",
        _BOTH,
        ("spec", "serviceAccountName"),
        _is_the_default,
        "it is the account that Flux's controller takes without this field, by its flag --default-service-account",
    ),
    Rule(
        "missing CRDs",
        ("HelmRelease",),
        ("spec", "upgrade", "crds"),
        _is_new_and(MISSING_CRDS["crds"]),
        "Flux creates the CRDs of a chart that are missing without this field, too",
    ),
    Rule(
        "key of a kubeconfig",
        _BOTH,
        ("spec", "kubeConfig", "secretRef", "key"),
        _is_read_first,
        "it is the key that Flux takes without this field, and the Secret has it",
    ),
    Rule(
        "namespace of a release",
        ("HelmRelease",),
        ("spec", "install", "createNamespace"),
        _is_there,
        "the namespace is there, so Helm has none to create",
    ),
    Rule(
        "pods",
        ("Namespace",),
        ("metadata", "labels", "pod-security.kubernetes.io/enforce"),
        _is_new_and("privileged"),
        "it admits every pod, as a namespace without the label does by the API server's default",
    ),
    Rule(
        "token of an account",
        ("ServiceAccount",),
        ("automountServiceAccountToken",),
        _is_new_and(value=False),
        "Flux impersonates the account and needs no token; a pod that runs as it would have to mount one itself",
    ),
)
"""The differences that are harmless. The first rule that holds gives the reason."""
