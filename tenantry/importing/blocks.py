"""Flux's objects backward, to the blocks of the file: a Kustomization or HelmRelease of an app, and the source of either.

What Flux would do without a field is written out where Tenantry differs. A release that is installed stays the same one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tenantry.fleet.settings import TIMES, TenantSettings
from tenantry.flux.references import references, renamed
from tenantry.flux.schemas import schema_of
from tenantry.importing.world import FoundApp, Thing, World
from tenantry.kube.names import digest
from tenantry.messages.data import mapping_at, value_at
from tenantry.model import Helm, Kustomize
from tenantry.model.flux import FluxBlock
from tenantry.model.sources import SOURCE_KINDS
from tenantry.plan.objects.lifecycle import without_kept_definitions
from tenantry.plan.objects.scope import MANAGED_BY

_BRACES = re.compile(r"\$\{[^{}]*\}|[{}]")


def literal_mapping(data: dict[str, Any]) -> dict[str, Any]:
    """The same for a mapping."""
    return {key: literal(each) for key, each in data.items()}


def literal(value: Any) -> Any:
    """Plain data whose texts mean themselves, although the file knows placeholders."""
    if isinstance(value, str):
        return _BRACES.sub(lambda found: found[0] if found[0].startswith("$") else found[0] * 2, value)
    if isinstance(value, dict):
        return {key: literal(each) for key, each in value.items()}
    return [literal(each) for each in value] if isinstance(value, list) else value


_NOT_THE_AUTHORS = (
    *("tenantry/", "pulumi.com/", "app.kubernetes.io/managed-by", "kubectl.kubernetes.io/", "kubernetes.io/"),
    *("meta.helm.sh/", "helm.sh/", "reconcile.fluxcd.io/", "sharding.fluxcd.io/", "field.cattle.io/"),
)


def is_authors(key: str) -> bool:
    """Whether a label or an annotation was written by a person, and not by Tenantry, Flux, Helm or Kubernetes."""
    return not key.startswith(_NOT_THE_AUTHORS) and "toolkit.fluxcd.io/" not in key


def metadata_of(thing: Thing) -> dict[str, Any]:
    """`metadata:` of an app or source."""
    made: dict[str, Any] = {}
    for key, there in (("labels", thing.labels), ("annotations", thing.annotations)):
        if own := {each: str(value) for each, value in there.items() if is_authors(each)}:
            made[key] = literal(own)
    return made


def without_defaults(block: Mapping[str, Any], model: type[FluxBlock]) -> dict[str, Any]:
    """A block without the values that Tenantry sets anyway."""
    fields = model.model_fields
    return {key: value for key, value in block.items() if key not in fields or fields[key].default != value}


def leave_owned(world: World, thing: Thing, model: type[FluxBlock], spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec without the keys that the fleet decides; each is left over with the model's reason."""
    kept: dict[str, Any] = dict(spec)
    for path, reason in model.owned.items():
        parts = path.split(".")
        value = value_at(kept, tuple(parts))
        if value is None or value is False or value == {}:
            kept = _without(kept, parts)
            continue
        text = f"Tenantry does not take '{path}': {reason}"
        world.notes.leave(thing.read, text, "nothing, if the result is right", f"spec.{path}")
        kept = _without(kept, parts)
    return kept


def _without(data: dict[str, Any], parts: list[str]) -> dict[str, Any]:
    first, *rest = parts
    if first not in data:
        return data
    if rest and isinstance(data[first], dict):
        below = _without(data[first], rest)
        return {**data, first: below} if below else {key: each for key, each in data.items() if key != first}
    return data if rest else {key: each for key, each in data.items() if key != first}


class Named:
    """The Secrets and ConfigMaps that the objects of one owner name in one place."""

    def __init__(self, world: World, prefix: str) -> None:
        """prefix: of the names that Tenantry gives them there."""
        self._world = world
        self._prefix = prefix
        self.credentials: dict[str, Thing | None] = {}
        self.configs: dict[str, Thing | None] = {}

    def in_spec(self, thing: Thing, spec: dict[str, Any]) -> dict[str, Any]:
        """The spec with the names that the file gives them."""
        for each in references(thing.kind, spec):
            self.declare(thing, each.kind, each.name)
        return renamed(thing.kind, spec, lambda _, name: self.short(name))

    def short(self, name: str) -> str:
        return name.removeprefix(self._prefix)

    def declare(self, thing: Thing, kind: str, name: str) -> str:
        """Declare a Secret or ConfigMap that an object names; gives the name that the file gives it."""
        short = self.short(name)
        group = self.credentials if kind == "Secret" else self.configs
        if short not in group:
            group[short] = self._world.get(kind, thing.namespace, name)
        if self._prefix and not name.startswith(self._prefix):
            self._world.notes.leave(
                thing.read,
                f"{kind} {thing.namespace}/{name} will be read as {self._prefix}{name}",
                f"copy {kind} {name} in namespace {thing.namespace} to {self._prefix}{name}",
            )
        return short


_GO = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_KEYS = ("interval", "retryInterval", "timeout", "chartInterval")


def short_times(block: dict[str, Any]) -> dict[str, Any]:
    """A block whose times have no empty parts at their end."""
    return {
        key: short_time(value) if key in _KEYS and isinstance(value, str) else value for key, value in block.items()
    }


def short_time(text: str) -> str:
    """A time without empty parts at its end."""
    found = _GO.fullmatch(text)
    if not found or not text:
        return text
    parts = [
        f"{int(number)}{unit}" for number, unit in zip(found.groups(), "hms", strict=True) if number and int(number)
    ]
    return "".join(parts) or text


_ELSEWHERE = ("sourceRef", "serviceAccountName", "kubeConfig", "dependsOn")


def kustomize_block(world: World, app: FoundApp, named: Named) -> dict[str, Any]:
    """The block, without its source."""
    written = without_kept_definitions("Kustomization", app.thing.spec)
    spec = {key: value for key, value in written.items() if key not in _ELSEWHERE}
    spec = leave_owned(world, app.thing, Kustomize, spec)
    spec = short_times(named.in_spec(app.thing, spec))
    _keep_behaviour(spec)
    if app.tenant:
        _target(spec, app)
    block = {key: value for key, value in spec.items() if app.times.get(key) != value}
    return literal_mapping(without_defaults(_with_path(block), Kustomize))


def _keep_behaviour(spec: dict[str, Any]) -> None:
    spec["wait"] = bool(spec.get("wait", False))
    if spec.get("healthChecks") and not spec["wait"]:
        del spec["wait"]  # Tenantry's default beside health checks, too
    if not spec.get("prune") and "deletionPolicy" not in spec:
        spec["deletionPolicy"] = "MirrorPrune"
    if spec.get("force") is False:
        del spec["force"]
    if spec.get("suspend") is False:
        del spec["suspend"]


def _with_path(block: dict[str, Any]) -> dict[str, Any]:
    path = str(block.get("path") or "./")
    inside = path.lstrip("/") or "./"
    return {**block, "path": "./" if inside in (".", "./", "") else inside}


def _target(spec: dict[str, Any], app: FoundApp) -> None:
    if spec.get("targetNamespace") == app.main:
        del spec["targetNamespace"]
    elif "targetNamespace" not in spec and (why := _reaches_further(app)):
        app.risks.append(
            f"decide: it names no 'targetNamespace', and {why}. Tenantry moves what it applies into namespace {app.main}:"
            " if that is right, remove 'state: paused'"
        )


def _reaches_further(app: FoundApp) -> str:
    """Why an app may have something outside of the main namespace."""
    if not app.thing.spec.get("serviceAccountName"):
        return "has the rights of Flux itself"
    return f"the tenant also has {', '.join(app.extra)}" if app.extra else ""


_ELSEWHERE_OF_RELEASES = ("chart", "chartRef", "serviceAccountName", "kubeConfig", "dependsOn", "storageNamespace")
_CHART = ("chart", "version", "valuesFiles", "ignoreMissingValuesFiles", "reconcileStrategy", "verify")


def chart_of(world: World, thing: Thing) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a release takes: the spec of its chart, and the reference to the chart's source. Both may be empty."""
    if template := mapping_at(thing.spec, "chart", "spec"):
        return template, mapping_at(template, "sourceRef")
    reference = mapping_at(thing.spec, "chartRef")
    if reference.get("kind") != "HelmChart":
        return {}, reference
    namespace = str(reference.get("namespace") or thing.namespace)
    chart = world.get("HelmChart", namespace, str(reference.get("name")))
    if chart is None:
        return {}, {}
    return chart.spec, {**mapping_at(chart.spec, "sourceRef"), "namespace": namespace}


def has_shared_interval(chart: Thing) -> bool:
    """Whether Tenantry made the chart, for all releases that set no interval of their own: its name tells.

    On a live cluster the API server has filled in defaults, which the name may leave out.
    """
    wanted = {key: each for key, each in chart.spec.items() if key not in ("interval", "sourceRef")}
    fields = schema_of("HelmChart").spec["properties"]
    written = {key: each for key, each in wanted.items() if fields.get(key, {}).get("default") != each}
    return _is_ours(chart) and any(chart.name.endswith(f"-{digest(each)}") for each in (wanted, written))


def _has_own_interval(chart: Thing | None) -> bool:
    return chart is not None and _is_ours(chart) and not has_shared_interval(chart)


def _is_ours(thing: Thing) -> bool:
    return all(thing.labels.get(key) == value for key, value in MANAGED_BY.items())


def helm_block(world: World, app: FoundApp, named: Named, storage: str) -> dict[str, Any]:
    """The block, without its source. storage: the namespace in which Tenantry has Helm store the release."""
    thing = app.thing
    written = without_kept_definitions("HelmRelease", thing.spec)
    spec = {key: value for key, value in written.items() if key not in _ELSEWHERE_OF_RELEASES}
    if mapping_at(spec, "install").get("createNamespace"):  # the baseline makes it, or Tenantry says so for an add-on
        spec["install"] = {key: value for key, value in spec["install"].items() if key != "createNamespace"}
    spec = leave_owned(world, thing, Helm, spec)
    spec = short_times(named.in_spec(thing, spec))
    _keep_release(spec, app, storage)
    block = {**_chart(world, app), **{key: value for key, value in spec.items() if app.times.get(key) != value}}
    return literal_mapping(without_defaults({key: value for key, value in block.items() if value != {}}, Helm))


def _keep_release(spec: dict[str, Any], app: FoundApp, storage: str) -> None:
    """The release's name, its namespaces and what Flux does about drift."""
    thing = app.thing
    target = str(spec.get("targetNamespace") or thing.namespace)
    written = f"{spec['targetNamespace']}-{thing.name}" if spec.get("targetNamespace") else thing.name
    release = str(spec.get("releaseName") or written)
    spec["releaseName"] = release
    if release == app.key:
        del spec["releaseName"]
    spec["targetNamespace"] = target
    if target == app.main:
        del spec["targetNamespace"]
    stored = str(thing.spec.get("storageNamespace") or thing.namespace)
    if stored != storage:
        app.moves.append(f"Helm stores the release in namespace {stored}, and Tenantry in {storage}")
    spec.setdefault("driftDetection", {"mode": "disabled"})
    if spec.get("suspend") is False:
        del spec["suspend"]
    _same_actions(spec, app.times.get("retryInterval", ""))


def _same_actions(spec: dict[str, Any], retry: str) -> None:
    """Leave out the strategy that Tenantry writes anyway."""
    for action in ("install", "upgrade"):
        written = dict(mapping_at(spec, action))
        if written.get("strategy") == {"name": "RetryOnFailure", "retryInterval": retry}:
            del written["strategy"]
        if written:
            spec[action] = written
        else:
            spec.pop(action, None)


def _chart(world: World, app: FoundApp) -> dict[str, Any]:
    thing = app.thing
    chart, source = chart_of(world, thing)
    if not chart:
        return {}
    made = {key: chart[key] for key in _CHART if chart.get(key)}
    in_directory = source.get("kind") in ("GitRepository", "Bucket")
    strategy = str(made.pop("reconcileStrategy", "ChartVersion"))
    # Flux ignores versions of charts in directories, and Tenantry refuses them there.
    if in_directory:
        made.pop("version", None)
    else:
        made.setdefault("version", "*")
    if strategy != ("Revision" if in_directory else "ChartVersion"):
        made["reconcileStrategy"] = strategy
    interval = short_time(str(chart.get("interval") or thing.spec.get("interval")))
    reference = mapping_at(thing.spec, "chartRef")
    own = _has_own_interval(world.get("HelmChart", thing.namespace, str(reference.get("name"))))
    if own or interval != app.times.get("interval"):
        made["chartInterval"] = interval
    return made


KEYS = {model.flux_kind: key for key, model in SOURCE_KINDS.items()}
"""The key of a source by its kind."""
_REFS: dict[str, dict[str, str]] = {"GitRepository": {"branch": "master"}, "OCIRepository": {"tag": "latest"}}
"""What Flux takes if an object does not say. Source: fluxcd.io, GitRepository and OCIRepository, "Reference"."""


def included(world: World, thing: Thing) -> list[Thing]:
    """The Git repositories that one includes."""
    written = thing.spec.get("include")
    names = [mapping_at(each, "repository").get("name") for each in written] if isinstance(written, list) else []
    found = (world.get("GitRepository", thing.namespace, str(each)) for each in names)
    return [each for each in found if each is not None and each is not thing]


def source_entry(world: World, thing: Thing, named: Named, prefix: str = "") -> dict[str, Any]:
    """The entry of a source, with the credentials that it names. prefix: of the names of sources in its place."""
    key = KEYS[thing.kind]
    model = SOURCE_KINDS[key]
    spec = dict(thing.spec)
    spec.pop("suspend", None) if not spec.get("suspend") else None
    secret = mapping_at(spec, "secretRef").get("name")
    spec.pop("secretRef", None)
    if spec.get("provider") == "generic":
        del spec["provider"]
    if not spec.get("ref") and thing.kind in _REFS:
        spec["ref"] = dict(_REFS[thing.kind])
    if isinstance(spec.get("include"), list):
        spec["include"] = [_included(each, prefix) for each in spec["include"]]
    spec = leave_owned(world, thing, model, spec)
    spec = short_times(named.in_spec(thing, spec))
    entry: dict[str, Any] = {key: without_defaults(literal(spec), model)}
    if secret:
        entry["credentials"] = named.declare(thing, "Secret", str(secret))
    if metadata := metadata_of(thing):
        entry["metadata"] = metadata
    return entry


def _included(entry: Any, prefix: str) -> Any:
    """An entry of `include` with the name that the file gives the repository."""
    name = str(mapping_at(entry, "repository").get("name"))
    short = name.removeprefix(prefix)
    kept = {key: each for key, each in entry.items() if not (key == "toPath" and each == short)}
    return {**kept, "repository": {"name": short}}


Times = Mapping[str, str]


def tenantrys_own() -> dict[str, str]:
    """The times of a file that says none."""
    settings = TenantSettings()
    return {key: str(getattr(settings, key)) for key in TIMES}


def shared_times(
    apps: Iterable[Thing], charts: Iterable[Thing], baselines: Iterable[Thing], others: Times
) -> dict[str, str]:
    """The times of a tenant in one place.

    Args: charts: those that Tenantry made, which have the tenant's interval. baselines: releases that Tenantry made, which have
          all of the tenant's times. others: what holds where there is no agreement.
    """
    found = dict(others)
    for key in TIMES:
        votes = [_time(each, key) for each in baselines]
        if not votes and key == "interval":
            votes = [_time(each, key) for each in charts]
        votes = votes or [_time(each, key) for each in apps]
        if votes and votes[0] and len(set(votes)) == 1:
            found[key] = votes[0]
    return found


def _time(thing: Thing, key: str) -> str:
    value: Any = thing.spec.get(key)
    if key == "retryInterval" and thing.kind == "HelmRelease":
        ways = [mapping_at(thing.spec, action, "strategy") for action in ("install", "upgrade")]
        values = {str(each.get(key, "")) for each in ways}
        value = values.pop() if len(values) == 1 else ""
    return short_time(value) if isinstance(value, str) else ""
