"""All apps of one scope: resolved, put in order, and turned into objects together with the sources and charts they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.settings import EffectiveApp, TenantSettings, effective_app
from tenantry.flux.conformance import check_spec
from tenantry.kube import names
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import Finding, Found, Path, raise_found
from tenantry.messages.findings import missing_key, name_too_long
from tenantry.model import Helm, Kustomize
from tenantry.plan.attachments import Attachments
from tenantry.plan.dependencies import missing_dependencies
from tenantry.plan.images import PlannedImage, automation_of, image_objects, planned_images
from tenantry.plan.objects.apps import Dependency, helm_release, kustomization
from tenantry.plan.objects.charts import chart_object, check_chart, is_chart
from tenantry.plan.objects.lifecycle import Lifecycle, in_state, lifecycle
from tenantry.plan.objects.scope import APP_LABEL, Scope, check_length
from tenantry.plan.sources import SourceSet

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class PlannedApp:
    """One app on one cluster: the Kustomization or HelmRelease that stands for it on the management cluster.

    release: where Helm keeps it, as (cluster, namespace, name); None for a Kustomization. at: its place in the document.
    images: those whose tags are followed here, on the one cluster of the environment where that happens.
    """

    tenant: str
    cluster: str
    name: str
    id: ObjectId
    at: Path
    release: tuple[str, str, str] | None = None
    images: tuple[PlannedImage, ...] = ()


@dataclass(slots=True)
class AppSet:
    """The result for one scope; `objects` in the order of their dependencies."""

    objects: dict[ObjectId, KubeObject] = field(default_factory=dict)
    apps: list[PlannedApp] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def plan_apps(
    fleet: Fleet,
    scope: Scope,
    settings: TenantSettings,
    apps: Iterable[str],
    variables: Mapping[str, str],
    addons: Mapping[str, Dependency],
) -> AppSet:
    """Plan the named apps of the scope's tenant, or the named add-ons where the scope has no tenant.

    Args: addons: those that the apps may depend on, by what `dependsOn` calls them.
    """
    apps = tuple(apps)
    builder = _Builder(fleet, scope, settings, dict(variables), {*apps, *addons})
    builder.known.update(addons)
    resolved = {app: effective for app in apps if (effective := builder.attempt(lambda app=app: builder.resolve(app)))}  # type: ignore[misc]
    builder.use(resolved.values())
    for app in _ordered(resolved, builder.result.findings):
        builder.attempt(lambda app=app: builder.build(app))  # type: ignore[misc]
    return builder.result


class _Builder:
    def __init__(
        self, fleet: Fleet, scope: Scope, settings: TenantSettings, variables: dict[str, str], there: set[str]
    ) -> None:
        self.fleet = fleet
        self.scope = scope
        self.settings = settings
        self.variables = variables
        self.there = there
        self.result = AppSet()
        self.attachments = Attachments(fleet, scope, variables)
        self.charts: dict[str, str] = {}  # sources that releases take, each with the first app to do so
        self.known: dict[str, Dependency] = {}

    def attempt(self, step: Callable[[], _T]) -> _T | None:
        try:
            return step()
        except Found as found:
            self.result.findings += found.findings
            return None

    def path_of(self, app: str) -> tuple[str, ...]:
        return ("tenants", self.scope.tenant, "apps", app) if self.scope.tenant else ("platform", "addons", app)

    def resolve(self, app: str) -> EffectiveApp:
        variables = {**self.variables, "app": app}
        return effective_app(self.fleet, self.path_of(app), self.scope.environment, self.scope.cluster, variables)

    def use(self, apps: Iterable[EffectiveApp]) -> None:
        """Look at what all apps take before any is built."""
        for app in apps:
            if isinstance(app.block, Helm) and (source := app.block.source if self.scope.tenant else app.name):
                self.charts.setdefault(source, app.name)
        self.sources = SourceSet(self.fleet, self.scope, self.variables, self.attachments, self.charts, self.add)

    def add(self, planned: KubeObject) -> None:
        """Take an object into the result, behind the Secrets and ConfigMaps it needs."""
        for made in self.attachments.made.values():
            self.result.objects.setdefault(made.id, made)
        self.result.objects.setdefault(planned.id, planned)

    def build(self, app: EffectiveApp) -> None:
        self.result.findings += missing_dependencies(self.fleet, self.scope, app, self.there)
        after = [self.known[name] for name in app.depends_on if name in self.known]
        source_name = self._source_name(app)
        source = self.sources.get(source_name)
        self._check_target(app)
        if isinstance(app.block, Kustomize):
            self._check_manifests(app, source_name, source)
            planned = kustomization(self.scope, app.name, app.block, self.settings, source.id, after)
            release = None
        else:
            chart = self._chart(app, app.block, source_name, source)
            planned = helm_release(self.scope, app.name, app.block, self.settings, chart.id, after)
            release = (self.scope.cluster, self.scope.storage, planned.manifest["spec"]["releaseName"])
        check_length(planned, self.path_of(app.name))
        self._check_spec(planned, app)
        self.add(in_state(self.attachments.bound(planned), self._state(app)))
        self.known[app.name] = Dependency(planned.id)
        at = self.path_of(app.name)
        images = self.attempt(lambda: self._images(app.name, source)) or ()
        self.result.apps.append(
            PlannedApp(self.scope.tenant, self.scope.cluster, app.name, planned.id, at, release, images)
        )

    def _images(self, app: str, source: KubeObject) -> tuple[PlannedImage, ...]:
        """Make the image automation of an app, if it is for this cluster to have."""
        at = self.path_of(app)
        automation = automation_of(self.fleet, self.scope, at, {**self.variables, "app": app})
        if automation is None:
            return ()
        for planned, place in image_objects(self.scope, app, automation, source, (*at, "imageAutomation")):
            self.attempt(lambda planned=planned, place=place: self._add_image_object(planned, place))  # type: ignore[misc]
        return planned_images(self.scope, app, automation)

    def _add_image_object(self, planned: KubeObject, at: Path) -> None:
        check_length(planned, at)
        raise_found(check_spec(planned.id.kind, planned.manifest["spec"], at))
        if first := self.result.objects.get(planned.id):  # app 'a' with image 'b-c', and app 'a-b' with image 'c'
            apps = " and ".join(f"'{each.manifest['metadata']['labels'][APP_LABEL]}'" for each in (first, planned))
            message = f"images of apps {apps} would both be called '{planned.id.name}'"
            raise Found([Finding(at[:-1], "duplicate-name", message, fix="rename one of them", at_key=True)])
        self.add(self.attachments.bound(planned))

    def _state(self, app: EffectiveApp) -> Lifecycle:
        document, cluster = self.fleet.document, self.fleet.clusters[self.scope.cluster].state
        if not self.scope.tenant:
            return lifecycle(cluster, document.platform.addons[app.name].state)
        tenant = document.tenants[self.scope.tenant]
        return lifecycle(cluster, tenant.state, tenant.apps[app.name].state)

    def _check_manifests(self, app: EffectiveApp, name: str, source: KubeObject) -> None:
        if source.id.kind == "HelmRepository":
            raise Found([])  # a rule has said so
        if is_chart(source) and name in self.charts:
            message = (
                f"app '{app.name}' takes manifests from source '{name}', app '{self.charts[name]}' takes it as a chart"
            )
            fix = "declare two sources: Flux stores a chart as it is, and unpacks manifests"
            raise Found([Finding(app.origin("kustomize", "source"), "wrong-source", message, fix=fix)])

    def _chart(self, app: EffectiveApp, helm: Helm, name: str, source: KubeObject) -> KubeObject:
        """What a release takes: the source itself, or a chart of it."""
        at = (*self.path_of(app.name), "helm")
        check_chart(app, helm, source, at)
        release = helm.releaseName or app.name
        if len(release) > names.MAX_RELEASE:
            raise Found([name_too_long("release", release, names.MAX_RELEASE, at, "set a shorter 'releaseName'")])
        if is_chart(source):
            return source
        chart = chart_object(self.scope, source, name, helm, self.settings.interval)
        check_length(chart, self.path_of(app.name))
        self._check_spec(chart, app)
        chart = self.attachments.bound(chart)
        self.add(chart)
        return chart

    def _check_spec(self, planned: KubeObject, app: EffectiveApp) -> None:
        """What an API server would refuse, at the values the author wrote; the fleet's own are beyond reproach."""
        raise_found(
            replace(finding, path=app.origin(app.kind, *finding.path))
            for finding in check_spec(planned.id.kind, planned.manifest["spec"], ())
        )

    def _source_name(self, app: EffectiveApp) -> str:
        if not self.scope.tenant:
            return app.name
        if app.block.source is None:
            raise Found([missing_key((*self.path_of(app.name), app.kind), "source")])
        return app.block.source

    def _check_target(self, app: EffectiveApp) -> None:
        target = app.block.targetNamespace
        own = (self.scope.namespace, *self.scope.namespaces.values())
        if self.scope.tenant and target and self.scope.own_namespace(target) not in own:
            listed = ", ".join(f"'{name}'" for name in own)
            note = f"on cluster '{self.scope.cluster}' {'it is' if len(own) == 1 else 'they are'} {listed}"
            raise Found(
                [
                    Finding(
                        app.origin(app.kind, "targetNamespace"),
                        "foreign-namespace",
                        f"'{target}' is not a namespace of tenant '{self.scope.tenant}'",
                        (note,),
                        fix="remove 'targetNamespace'" + (", or name one of these" if len(own) > 1 else ""),
                    )
                ]
            )


def _ordered(apps: Mapping[str, EffectiveApp], findings: list[Finding]) -> list[EffectiveApp]:
    """Dependencies first, otherwise in the order given; a cycle is reported once. No recursion: chains may be long."""
    ordered: dict[str, EffectiveApp] = {}
    trail: list[str] = []  # apps whose dependencies are being placed, each the reason for the next
    pending = [iter(apps)]
    while pending:
        name = next(pending[-1], None)
        if name is None:
            pending.pop()
            if trail:
                ordered[trail[-1]] = apps[trail[-1]]
                trail.pop()
        elif name in trail:
            findings.append(_cycle(apps, trail[trail.index(name) :]))
        elif name in apps and name not in ordered:
            trail.append(name)
            # An app that names itself is for `rules`.
            pending.append(iter([other for other in apps[name].depends_on if other != name]))
    return list(ordered.values())


def _cycle(apps: Mapping[str, EffectiveApp], names_in_cycle: list[str]) -> Finding:
    # Report at the first app of the alphabet, so that the same cycle found from elsewhere is the same finding.
    start = names_in_cycle.index(min(names_in_cycle))
    chain = [*names_in_cycle[start:], *names_in_cycle[:start]]
    return Finding(
        apps[chain[0]].origin("dependsOn"),
        "dependency-cycle",
        f"apps depend on each other: {' -> '.join([*chain, chain[0]])}",
        fix="remove one of the dependencies",
    )
