"""The content of each app of one environment: its block, its order, its source, and what would surprise on adoption."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from typing import Any

from tenantry.fleet.apps import ACTIONS, EffectiveApp
from tenantry.fleet.settings import TenantSettings
from tenantry.importing.applied import READ_TOO
from tenantry.importing.blocks import (
    Block,
    Named,
    Planned,
    authors_part,
    chart_of,
    has_shared_interval,
    literal,
    short_time,
    smallest,
    source_entry,
)
from tenantry.importing.checkouts import FLUX
from tenantry.importing.equivalence import effective_spec
from tenantry.importing.owners import CONTROLLERS
from tenantry.importing.settings import names_account
from tenantry.importing.survey import Survey, source_of
from tenantry.importing.world import FoundApp, Thing, World
from tenantry.kube.names import join
from tenantry.kube.objects import ObjectId, Owner
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.model import Helm, Kustomize
from tenantry.model.strict import FILLED
from tenantry.plan.objects.apps import helm_release, kustomization
from tenantry.plan.objects.lifecycle import without_kept_definitions
from tenantry.plan.objects.remote import OBJECTS_CHART
from tenantry.plan.objects.scope import Scope

_MISSING_CRDS = {"crds": "Create"}
"""What an upgrade does with the chart's CRDs if nothing is written: Flux creates those that are missing, whatever the text of its
field says. Source: fluxcd/helm-controller, internal/action/crds.go, DefaultCRDPolicy.
"""


def _way_to_source(thing: Thing) -> str:
    """How the source of an app can be read."""
    reference = mapping_at(thing.spec, "sourceRef")
    command = {"GitRepository": "git", "OCIRepository": "oci", "Bucket": "bucket"}.get(str(reference.get("kind")))
    if not command:
        return "import the source with it, or declare the app by hand"
    words = ("flux", "export", "source", command, str(reference.get("name")))
    namespace = str(reference.get("namespace") or thing.namespace)
    line = shlex.join((*words, "--namespace", namespace))
    environment = thing.read.environment
    return f"{READ_TOO}: run `{line} > {environment}-source.yaml`, and add `-e {environment}={environment}-source.yaml`"


def fill_in(survey: Survey, app: FoundApp) -> bool:
    """Give an app its content; False: it cannot be expressed, and is left over."""
    notes, thing = survey.world.notes, app.thing
    app.source = source_of(survey.world, thing)
    if app.source is None:
        notes.leave(thing.read, "its source was not read", _way_to_source(thing))
        return False
    if nulls := _nulls(thing.spec.get("values"), "spec.values"):
        notes.leave(
            thing.read,
            "its values hold null, by which the file removes a key",
            "move the values into a ConfigMap that 'valuesFrom' names, then import again",
            nulls,
        )
        return False
    named = survey.names_of(app)
    keys = {name: key for key, name in survey.territories[app.tenant].extra.items()} if app.tenant else {}
    if thing.kind == "Kustomization":
        block = _kustomize_block(survey.world, app, named)
    else:
        storage = app.main if app.tenant else app.own or survey.platform
        block = _helm_block(survey.world, app, named, storage, keys)
        if app.moves:
            fix = "leave it to what applies it, or declare it by hand when it may be installed again"
            notes.leave(thing.read, f"{app.moves[0]}, so the release would be installed again", fix)
            return False
    if app.tenant:
        own = {key: keys[block[key]] for key in ("targetNamespace", "storageNamespace") if block.get(key) in keys}
        block = {"source": source_key(app), **block, **own}
    app.content = {app.block: block}
    if not app.tenant:
        app.content = {"source": source_entry(survey.world, app.source, named), **app.content}
    if order := _order(survey, app):
        app.content["dependsOn"] = order
    if thing.metadata:
        app.content["metadata"] = literal(thing.metadata)
    _check_identity(survey, app)
    return True


def source_key(app: FoundApp) -> str:
    """What the file calls the source of an app."""
    assert app.source is not None
    prefix = join(app.place.cluster, app.main, "")
    return app.source.source_key or app.source.name.removeprefix(prefix)


def _nulls(value: Any, at: str) -> str:
    """The first null in the values of a chart."""
    if isinstance(value, dict):
        for key, each in value.items():
            if each is None:
                return f"{at}.{key}"
            if found := _nulls(each, f"{at}.{key}"):
                return found
    return ""


# --- blocks ----------------------------------------------------------------------------------------------------------


def _kustomize_block(world: World, app: FoundApp, named: Named) -> Block:
    """The block, without its source."""
    flux = effective_spec(app.thing.read.manifest)
    times = {key: short_time(str(flux[key])) for key in ("retryInterval", "timeout")}
    spec = {"wait": False, **times, **authors_part(world, app.thing, Kustomize, named)}
    spec = dict(without_kept_definitions("Kustomization", spec))
    if not spec.get("prune"):
        # Nothing was deleted so far when the Kustomization went.
        spec.setdefault("deletionPolicy", "MirrorPrune")
    spec["path"] = str(spec.get("path") or "").lstrip("/") or "./"
    if app.tenant:
        _target(spec, app, world)
    return literal(smallest(spec, _as_app(app, app.main)))


def _target(spec: dict[str, Any], app: FoundApp, world: World) -> None:
    if "targetNamespace" not in spec and (why := _reaches_further(app, world)):
        app.risks.append(
            f"decide: it names no 'targetNamespace', and {why}. Tenantry moves what it applies into namespace {app.main}:"
            " if that is right, remove 'state: paused'"
        )


def _reaches_further(app: FoundApp, world: World) -> str:
    """Why an app may have something outside of the main namespace."""
    account = str(app.thing.spec.get("serviceAccountName") or "")
    if not account:
        return "has the rights of Flux itself"
    if app.thing.is_through_proxy:
        return f"Capsule gives account {account} more namespaces"
    bindings = (each for each in world.of("ClusterRoleBinding") if not each.is_ours)
    if wide := next((each for each in bindings if names_account(each, app.thing.namespace, account)), None):
        return f"{wide.key} gives account {account} rights in all namespaces"
    return f"the tenant also has {', '.join(app.extra)}" if app.extra else ""


def _helm_block(world: World, app: FoundApp, named: Named, storage: str, extra: Collection[str]) -> Block:
    """The block, without its source. storage: the namespace in which Tenantry has Helm store the release; extra: those in which
    it can.
    """
    thing = app.thing
    release = effective_spec(thing.read.manifest)
    own = ("releaseName", "targetNamespace", "storageNamespace")
    if release["storageNamespace"] not in (storage, *extra):
        app.moves.append(
            f"Helm stores the release in namespace {release['storageNamespace']}, and Tenantry in {storage}"
        )
    spec = authors_part(world, thing, Helm, named)
    spec["driftDetection"] = {"mode": "disabled", "ignore": [], **spec.get("driftDetection", {})}
    if not app.tenant:
        spec["upgrade"] = {**_MISSING_CRDS, **spec.get("upgrade", {})}
    spec = dict(without_kept_definitions("HelmRelease", spec))
    spec |= {key: release[key] for key in own[: 3 if app.tenant else 2]}
    for action in ACTIONS:
        spec[action] = {"strategy": {"name": "RemediateOnFailure"}, **mapping_at(spec, action)}
    spec = {key: value for key, value in spec.items() if value != {}}
    return literal({**_chart(world, app), **smallest(spec, _as_app(app, storage))})


def _chart(world: World, app: FoundApp) -> dict[str, Any]:
    thing = app.thing
    chart, source = chart_of(world, thing)
    if not chart:
        return {}
    made = {key: chart[key] for key in ("chart", "version", "valuesFiles", *Helm.parts["HelmChart"]) if chart.get(key)}
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
    there = world.get("HelmChart", thing.namespace, str(mapping_at(thing.spec, "chartRef").get("name")))
    has_own = there is not None and there.is_ours and not has_shared_interval(there)
    if has_own or interval != app.times.get("interval"):
        made["chartInterval"] = interval
    return made


def _as_app(app: FoundApp, storage: str) -> Planned:
    """What the plan makes of the block of an app in its place; storage: the namespace in which it has Helm store releases."""
    place, model = app.place, _MODELS[app.thing.kind]
    scope = Scope(
        environment=place.environment,
        cluster=place.cluster,
        owner=Owner(app.tenant, place.cluster),
        home=app.home,
        prefix=(),
        namespace=app.main,
        storage=storage,
        service_account=app.main,
        kubeconfig=None,
    )
    settings = TenantSettings(**dict[str, Any](app.times))

    def planned(block: Block) -> Mapping[str, Any]:
        effective = EffectiveApp(
            app.key, model.model_validate(block, context=FILLED), (), (), settings, is_addon=not app.tenant
        )
        build = kustomization if model is Kustomize else helm_release
        return effective_spec(build(scope, effective, ObjectId("", "", app.home, ""), ()).manifest)

    return planned


_MODELS: dict[str, type[Kustomize | Helm]] = {"Kustomization": Kustomize, "HelmRelease": Helm}


# --- order ----------------------------------------------------------------------------------------------------------


def _order(survey: Survey, app: FoundApp) -> list[str]:
    wanted: list[str] = []
    for each in mappings_in(app.thing.spec.get("dependsOn")):
        name, namespace = str(each.get("name")), str(each.get("namespace") or app.thing.namespace)
        other = survey.by_object.get((app.thing.kind, namespace, name))
        carried = _carried(survey, app, namespace, name) if other is None else []
        if carried:
            wanted += [each for each in carried if each not in wanted]
        elif other is None:
            known = survey.world.get(app.thing.kind, namespace, name)
            chart = mapping_at(known.spec, "chart", "spec").get("chart") if known else None
            is_baseline = known in survey.charts or chart == OBJECTS_CHART
            if not is_baseline:
                why = "it was not read" if known is None else "it is not in tenants.yaml"
                why = "it is what applies the app itself" if (namespace, name) == app.thing.applied_by else why
                _leave_order(survey, app, f"{namespace}/{name}", why)
        elif other.place != app.place or other.tenant not in ("", app.tenant):
            _leave_order(survey, app, f"{namespace}/{name}", "it is another tenant's, or on another cluster")
        else:
            wanted.append(f"platform/{other.key}" if app.tenant and not other.tenant else other.key)
        if each.get("readyExpr"):
            survey.world.notes.leave(
                app.thing.read,
                "the file knows no 'readyExpr'",
                "nothing: Flux waits until it is ready",
                "spec.dependsOn",
            )
    return wanted


def _carried(survey: Survey, app: FoundApp, namespace: str, name: str) -> list[str]:
    """What an app can wait for in place of a Kustomization that hands over what it applied; not of the one that applied the app."""
    if app.thing.kind != "Kustomization" or app.thing.applied_by == (namespace, name):
        return []
    return [
        f"platform/{each.key}" if app.tenant and not each.tenant else each.key
        for each in survey.apps
        if (each.thing.applied_by == (namespace, name) and each is not app)
        and (each.place == app.place and each.tenant in ("", app.tenant))
    ]


def _leave_order(survey: Survey, app: FoundApp, name: str, why: str) -> None:
    survey.world.notes.leave(
        app.thing.read, f"it waits for {name}: {why}", "make the apps retry until it is there", "spec.dependsOn"
    )


# --- accounts ---------------------------------------------------------------------------------------------------------

_PLATFORMS = "tenantry-platform"


def account_of(survey: Survey, addon: FoundApp) -> dict[str, Any]:
    """`account` of an add-on in its place: one that exists, or that of Flux's controller if it names none."""
    thing = addon.thing
    platforms = survey.platform_account(addon.place.cluster)
    if thing.namespace != addon.home or (thing.is_ours and _without_mark(survey, thing, platforms) == platforms):
        return {}
    if named := str(thing.spec.get("serviceAccountName") or ""):
        if account := survey.world.get("ServiceAccount", thing.namespace, named):
            survey.world.notes.take(account.read, *addon.path, "account")
            text = f"Flux acts as it for add-on '{addon.key}', and Tenantry does not change it"
            survey.world.notes.leave(account.read, text, "keep it, with its rights", fate="stays")
        return {"existing": named} if named != platforms else {}
    is_fluxs = addon.home == FLUX and not thing.spec.get("kubeConfig")
    return {"existing": CONTROLLERS[thing.kind]} if is_fluxs else {}


def _without_mark(survey: Survey, thing: Thing, account: str) -> str:
    """The account that an object names. That of the platform may have the name of the environment at its end."""
    named = str(thing.spec.get("serviceAccountName") or "")
    return account if named == f"{account}-{survey.world.environment}" else named


# --- what happens to the object that is there -------------------------------------------------------------------------


def _check_identity(survey: Survey, app: FoundApp) -> None:
    thing = app.thing
    if not app.is_there:
        text = f"Tenantry plans it as {thing.kind} {app.home}/{app.planned}, a new object"
        survey.world.notes.leave(thing.read, text, "suspend this one before `tenantry up`, as the steps to adopt say")
    account = str(thing.spec.get("serviceAccountName") or "")
    remote = app.place.cluster != survey.world.management
    planned = (app.main if remote else survey.account(app.tenant)) if app.tenant else _PLATFORMS
    if not app.tenant and "existing" in (own := account_of(survey, app)):
        planned = account = own["existing"]
    if account != planned and not (thing.is_ours and not app.tenant):
        who = f"account {account}" if account else "the rights of Flux's controllers"
        survey.world.notes.leave(
            thing.read,
            f"it runs with {who}; Tenantry has Flux act as {planned}",
            "check that this account may apply what the app holds",
            "spec.serviceAccountName",
        )
    if app.source and app.source.namespace != thing.namespace:
        survey.world.notes.leave(
            thing.read,
            f"its source is in namespace {app.source.namespace}; Tenantry gives the owner a source of its own",
            f"copy the Secret that the source names, if it names one, to namespace {app.home}",
            "spec.sourceRef.namespace",
        )
