"""The content of each app of one environment: its block, its order, its source, and what would surprise on adoption."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tenantry.cluster.kubectl import suspend
from tenantry.fleet.apps import ACTIONS, EffectiveApp, completed
from tenantry.fleet.settings import TenantSettings
from tenantry.importing.blocks import (
    Block,
    Named,
    Planned,
    authors_part,
    chart_of,
    effective_spec,
    literal,
    short_time,
    smallest,
    source_entry,
    source_of,
)
from tenantry.importing.resources import FLUX, App, World
from tenantry.importing.survey import CONTROLLERS, Survey
from tenantry.kube.names import join
from tenantry.kube.objects import ObjectId, Owner
from tenantry.messages.data import leaves, mapping_at, mappings_in
from tenantry.messages.text import format_path
from tenantry.model import Helm, Kustomize
from tenantry.model.clusters import Cluster
from tenantry.model.strict import FILLED
from tenantry.plan.objects.apps import helm_release, kustomization
from tenantry.plan.objects.scope import Scope

_MISSING_CRDS = {"crds": "Create"}
"""What an upgrade does with the chart's CRDs if nothing is written: Flux creates those that are missing, whatever the text of its
field says. Source: fluxcd/helm-controller, internal/action/crds.go, DefaultCRDPolicy.
"""

_PLATFORMS = Cluster.model_fields["platformServiceAccount"].default
"""The account that Tenantry gives add-ons."""


def fill_in(survey: Survey, app: App) -> bool:
    """Give an app its content; False: it cannot be expressed, and is left."""
    resource = app.resource
    app.source = source_of(survey.world, resource)
    if app.source is None:
        resource.leave("its source was not read", "import the source with it, or declare the app by hand")
        return False
    nulls = (path for path, value in leaves(mapping_at(resource.spec, "values")) if value is None)
    if null := next(
        (format_path(("spec", "values", *path)) for path in nulls if all(isinstance(key, str) for key in path)), ""
    ):
        fix = "move the values into a ConfigMap that 'valuesFrom' names, then import again"
        resource.leave(f"its values hold null at {null}, by which the file removes a key", fix)
        return False
    named = survey.names_of(app)
    if resource.kind == "Kustomization":
        block = _kustomize_block(survey.world, app, named)
    else:
        storage = app.main if app.tenant else app.own or FLUX
        stored = effective_spec(resource.manifest)["storageNamespace"]
        if stored != storage:
            text = f"Helm stores the release in namespace {stored}, and Tenantry in {storage}"
            fix = "leave it to what applies it, or declare it by hand when it may be installed again"
            resource.leave(f"{text}, so the release would be installed again", fix)
            return False
        block = _helm_block(survey.world, app, named, storage)
    if app.tenant:
        app.content = {app.block: {"source": source_key(app), **block}}
    else:
        app.content = {"source": source_entry(app.source, named), app.block: block}
    if order := list(dict.fromkeys(_order(survey, app))):
        app.content["dependsOn"] = order
    if resource.metadata:
        app.content["metadata"] = literal(resource.metadata)
    _check_identity(app)
    return True


def source_key(app: App) -> str:
    """What the file calls the source of an app."""
    assert app.source is not None
    return app.source.name.removeprefix(join(app.place.cluster, app.main, ""))


# --- blocks -----------------------------------------------------------------------------------------------------------


def _kustomize_block(world: World, app: App, named: Named) -> Block:
    """The block, without its source."""
    flux = effective_spec(app.resource.manifest)
    times = {key: short_time(str(flux[key])) for key in ("retryInterval", "timeout")}
    spec = {"path": "", "wait": False, **times, **authors_part(app.resource, Kustomize, named)}
    if not spec.get("prune"):
        # Nothing was deleted so far when the Kustomization went.
        spec.setdefault("deletionPolicy", "MirrorPrune")
    spec["path"] = str(spec.get("path") or "").lstrip("/") or "./"
    if app.tenant and "targetNamespace" not in spec and (why := _reaches_further(app, world)):
        app.is_risky = True
        text = f"it names no 'targetNamespace', and {why}; Tenantry moves what it applies into namespace {app.main}"
        fix = "if all that it applies is in that namespace, remove 'state: paused'"
        app.resource.leave(text, fix, "spec.targetNamespace")
    return literal(smallest(spec, _as_app(app, app.main)))


def _reaches_further(app: App, world: World) -> str:
    """Why an app may have something outside of the main namespace."""
    account = app.resource.account
    if not account:
        return "has the rights of Flux itself"
    if app.resource.is_through_proxy:
        return f"Capsule gives account {account} more namespaces"
    user = f"system:serviceaccount:{app.resource.namespace}:{account}"
    own = (("ServiceAccount", app.resource.namespace, account), ("User", "", user))
    for binding in world.of("ClusterRoleBinding", "RoleBinding"):
        subjects = mappings_in(binding.at("subjects"))
        names = {
            (subject.get("kind"), str(subject.get("namespace") or ""), subject.get("name")) for subject in subjects
        }
        if binding.namespace != app.main and names & set(own):
            where = f"namespace {binding.namespace}" if binding.namespace else "all namespaces"
            return f"{binding.key} gives account {account} rights in {where}"
    return ""


def _helm_block(world: World, app: App, named: Named, storage: str) -> Block:
    """The block, without its source. storage: the namespace in which Tenantry has Helm store the release."""
    release = effective_spec(app.resource.manifest)
    spec = authors_part(app.resource, Helm, named)
    spec["driftDetection"] = {"mode": "disabled", "ignore": [], **spec.get("driftDetection", {})}
    if not app.tenant:
        spec["upgrade"] = {**_MISSING_CRDS, **spec.get("upgrade", {})}
    own = ("releaseName", "targetNamespace", "storageNamespace")
    spec |= {key: release[key] for key in own[: 3 if app.tenant else 2]}
    for action in ACTIONS:
        spec[action] = {"strategy": {"name": "RemediateOnFailure"}, **mapping_at(spec, action)}
    spec = {key: value for key, value in spec.items() if value != {}}
    return literal({**_chart(world, app), **smallest(spec, _as_app(app, storage))})


def _chart(world: World, app: App) -> dict[str, Any]:
    chart, source = chart_of(world, app.resource)
    if not chart:
        return {}
    keys = ("chart", "version", "valuesFiles", *Helm.parts["HelmChart"])
    entry = {key: chart[key] for key in keys if chart.get(key)}
    in_directory = source.get("kind") in ("GitRepository", "Bucket")
    strategy = str(entry.pop("reconcileStrategy", "ChartVersion"))
    # Flux ignores versions of charts in directories, and Tenantry refuses them there.
    if in_directory:
        entry.pop("version", None)
    else:
        entry.setdefault("version", "*")
    if strategy != ("Revision" if in_directory else "ChartVersion"):
        entry["reconcileStrategy"] = strategy
    interval = short_time(str(chart.get("interval") or app.resource.spec.get("interval")))
    return {**entry, **({"chartInterval": interval} if interval != TenantSettings().interval else {})}


def _as_app(app: App, storage: str) -> Planned:
    """What the plan makes of the block of an app in its place; storage: the namespace in which it has Helm store releases."""
    model: type[Kustomize | Helm] = Kustomize if app.resource.kind == "Kustomization" else Helm
    scope = Scope(
        environment=app.place.environment,
        cluster=app.place.cluster,
        owner=Owner(app.tenant, app.place.cluster),
        home=app.home,
        prefix=(),
        namespace=app.main,
        storage=storage,
        service_account=app.main,
        kubeconfig=None,
    )
    settings = TenantSettings()

    def planned(block: Block) -> Mapping[str, Any]:
        validated = model.model_validate(block, context=FILLED)
        data = completed(validated, settings, is_addon=not app.tenant)
        effective = EffectiveApp(app.key, validated, (), (), data, settings)
        build = kustomization if model is Kustomize else helm_release
        return effective_spec(build(scope, effective, ObjectId("", "", app.home, ""), ()).manifest)

    return planned


# --- order ------------------------------------------------------------------------------------------------------------


def _order(survey: Survey, app: App) -> Iterator[str]:
    """What an app waits for, as the file names it."""
    resource = app.resource
    for namespace, name in resource.awaited:
        awaited = survey.by_name.get((resource.kind, namespace, name))
        # What applied the app itself has done so already.
        is_outside = resource.kind == "Kustomization" and resource.applied_by != (namespace, name)
        handed_over = survey.applied_by(namespace, name) if is_outside else []
        wanted = [other for other in ([awaited] if awaited else handed_over) if other is not app]
        names = [
            f"platform/{other.key}" if app.tenant and not other.tenant else other.key
            for other in wanted
            if _can_wait(app, other)
        ]
        yield from names
        if not names:
            text = f"it waits for {namespace}/{name}, and tenants.yaml has nothing there that it can wait for"
            resource.leave(text, "make the apps retry until it is there", "spec.dependsOn")


def _can_wait(app: App, other: App) -> bool:
    return other.place == app.place and other.tenant in ("", app.tenant)


def awaited_addons(survey: Survey, apps: Collection[App]) -> list[str]:
    """The add-ons that what applied a tenant's apps has waited for, and that the tenant waits for from now on."""
    names: dict[str, None] = {}
    for applier in {app.resource.applied_by: None for app in apps}:
        owner = next(
            (resource for resource in survey.world.beside if resource.key[1:] == ("Kustomization", *applier)), None
        )
        for namespace, name in owner.awaited if owner and owner.is_replaced else ():
            known = survey.by_name.get(("Kustomization", namespace, name))
            for other in [known] if known else survey.applied_by(namespace, name):
                if not other.tenant and any(_can_wait(app, other) for app in apps):
                    names[f"platform/{other.key}"] = None
    return list(names)


# --- accounts ---------------------------------------------------------------------------------------------------------


def account_of(addon: App) -> dict[str, Any]:
    """`account` of an add-on in its place: one that exists, or that of Flux's controller if it names none."""
    resource, named = addon.resource, addon.resource.account
    if resource.namespace != addon.home:
        return {}
    if named:
        return {"existing": named} if named != _PLATFORMS else {}
    is_fluxs = addon.home == FLUX and not resource.is_remote
    return {"existing": CONTROLLERS[resource.kind]} if is_fluxs else {}


def _check_identity(app: App) -> None:
    """Say what a new name, and a source that lay elsewhere, ask for."""
    resource = app.resource
    if not app.keeps_name:
        text = f"Tenantry plans it as {resource.kind} {app.home}/{app.planned}, a new object"
        resource.leave(text, f"suspend this one before `tenantry up`: `{suspend(resource.id)}`")
    if app.source and app.source.namespace != resource.namespace and app.source.spec.get("secretRef"):
        text = f"its source is in namespace {app.source.namespace}; Tenantry gives the owner a source of its own"
        fix = f"copy the Secret that the source names to namespace {app.home}"
        resource.leave(text, fix, "spec.sourceRef.namespace")
