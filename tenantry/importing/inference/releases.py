"""A HelmRelease to the `helm:` block of an app, such that the release that is installed stays the same one."""

from __future__ import annotations

from typing import Any

from tenantry.flux.schemas import schema_of
from tenantry.importing.inference.blocks import Named, leave_owned, without_defaults
from tenantry.importing.inference.durations import short_time, short_times
from tenantry.importing.inference.found import FoundApp
from tenantry.importing.inference.literal import literal_mapping
from tenantry.importing.inference.world import Thing, World
from tenantry.kube.names import digest
from tenantry.messages.data import mapping_at
from tenantry.model import Helm
from tenantry.plan.objects.lifecycle import without_kept_definitions
from tenantry.plan.objects.scope import MANAGED_BY

_ELSEWHERE = ("chart", "chartRef", "serviceAccountName", "kubeConfig", "dependsOn", "storageNamespace")
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
    spec = {key: value for key, value in written.items() if key not in _ELSEWHERE}
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
