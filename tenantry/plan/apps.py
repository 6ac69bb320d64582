"""All apps of one scope: resolved, sorted by dependency, and turned into objects with the sources and charts they share."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tenantry.fleet import walk
from tenantry.fleet.apps import EffectiveApp, effective_app
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.settings import TenantSettings, setting_origin, tenant_states
from tenantry.fleet.templates import is_equal_for_all
from tenantry.flux.references import references
from tenantry.grants.wall import Wall
from tenantry.kube import names
from tenantry.kube.objects import KubeObject, ObjectId, is_cluster_scoped
from tenantry.messages.data import leaves
from tenantry.messages.errors import AlreadyReported, InvalidPart, Path, Problem, collecting
from tenantry.messages.placeholders import Variables
from tenantry.messages.problems import missing_key, name_too_long
from tenantry.messages.redact import shorten
from tenantry.model import App, Helm, Kustomize
from tenantry.plan.dependencies import in_order, missing_dependencies
from tenantry.plan.objects.apps import (
    Dependency,
    app_id,
    awaited,
    chart_object,
    check_chart,
    check_checkout,
    helm_release,
    is_chart,
    kustomization,
)
from tenantry.plan.objects.lifecycle import Lifecycle, in_state, lifecycle, with_kept_definitions
from tenantry.plan.objects.scope import Scope, check_length, check_size, with_metadata
from tenantry.plan.planned_apps import AppSet, PlannedApp, manifests_of, release_of
from tenantry.plan.shared import at_one_pace, shared_chart
from tenantry.plan.sources import Attachments, SourceSet, charts_of

_T = TypeVar("_T")


def plan_apps(
    fleet: Fleet,
    scope: Scope,
    settings: TenantSettings,
    apps: Iterable[str],
    variables: Variables,
    addons: Mapping[str, Dependency],
    before: Mapping[str, Sequence[Dependency]] | None = None,
) -> AppSet:
    """Plan the named apps of the scope's tenant, or the named add-ons where the scope has no tenant.

    Args: addons: those that the apps may depend on, by what `dependsOn` calls them.
          before: what else comes before an app.
    """
    result, resolved = AppSet(), dict[str, EffectiveApp]()
    for app in apps:
        with collecting(result.findings):
            at, own = _path_of(scope, app), {**variables, "app": app}
            resolved[app] = effective_app(fleet, at, scope.environment, scope.cluster, own, settings)
    planned = {app: Dependency(app_id(scope, app, resolved_app.kind)) for app, resolved_app in resolved.items()}
    known = {**planned, **addons}
    builder = _Builder(fleet, scope, variables, result, charts_of(scope, resolved.values()), known, before or {})
    for effective in in_order(resolved, result.findings):
        result.findings += missing_dependencies(fleet, scope, effective, known)
        with collecting(result.findings):
            builder.build(effective)
    result.sources.update(builder.sources.built)
    return result


def _path_of(scope: Scope, app: str) -> tuple[str, ...]:
    return (*scope.at, "apps" if scope.tenant else "addons", app)


@dataclass
class _Builder:
    """Turns resolved apps into objects, in the order of their dependencies; `known` are those that others may wait for."""

    fleet: Fleet
    scope: Scope
    variables: Variables
    result: AppSet
    charts: Mapping[str, str]
    known: Mapping[str, Dependency]
    before: Mapping[str, Sequence[Dependency]]

    def __post_init__(self) -> None:
        scope, given = self.scope, (self.fleet, self.scope, self.variables)
        self.attachments, self.wall = Attachments(*given), Wall(*given)
        self.where = (scope.tenant, scope.storage, *scope.namespaces.items(), *scope.together)
        self.sources = SourceSet(*given, self.attachments, self.charts, self.wall, self.add)

    def add(self, planned: KubeObject) -> None:
        """Take an object into the result, behind the Secrets and ConfigMaps it needs."""
        for made in self.attachments.made.values():
            self.result.objects.setdefault(made.id, made)
        known = self.result.objects.setdefault(planned.id, planned)
        if known is not planned:
            self.result.objects[planned.id] = at_one_pace(known, planned) or known

    def build(self, app: EffectiveApp) -> None:
        at = _path_of(self.scope, app.name)
        known = (self.known[name] for name in dict.fromkeys(app.depends_on) if name in self.known)
        after = (*self.before.get(app.name, ()), *known)
        source_name = self._source_name(app)
        source = self.sources.get(source_name)
        self._once("target", app, lambda: self._check_target(app))
        if isinstance(app.block, Kustomize):
            self._check_manifests(app, source_name, source)
            planned = kustomization(self._acting(app), app, source.id, after)
            release = None
            spec = planned.manifest["spec"]
            taken: dict[Path, str] = {("kustomize", "path"): spec["path"]}
            needed = () if spec.get("ignoreMissingComponents") else spec.get("components", ())
            for index, name in enumerate(needed):
                taken["kustomize", "components", index] = posixpath.join(spec["path"], name)
            check_checkout(app, source, taken)
            declares_path = "path" in app.block.model_fields_set
            installs = manifests_of(self.scope.cluster, spec, source, declared=declares_path)
        else:
            chart = self._chart(app, app.block, source_name, source)
            planned = helm_release(self._acting(app), app, chart.id, after)
            spec = planned.manifest["spec"]
            release = (self.scope.cluster, spec["storageNamespace"], spec["releaseName"])
            installs = release_of(self.scope.cluster, spec, chart)
        check_length(planned, at)
        names_others = self._once("spec", app, lambda: self._check(planned, app))
        planned, state = with_metadata(planned, app.metadata), self._state(app)
        check_size(planned, at)
        if not self.scope.tenant and self._addon(app.name).keepCRDs:
            planned = with_kept_definitions(planned, state)
        planned = self.attachments.bound(planned, lambda path: app.origin(app.kind, *path)) if names_others else planned
        self.add(in_state(planned, state))
        self.result.awaited |= awaited(after, planned.id.kind)
        self.result.apps.append(
            PlannedApp(
                tenant=self.scope.tenant,
                cluster=self.scope.cluster,
                name=app.name,
                id=planned.id,
                at=at,
                release=release,
                installs=installs,
            )
        )

    def _once(self, what: str, app: EffectiveApp, make: Callable[[], _T], *of: object) -> _T:
        """What a function makes of the block of an app, whatever the names and the values of a cluster are."""
        return self.wall.once((what, app.name, *self.where), (app.block, app.settings, *of), make)

    def _acting(self, app: EffectiveApp) -> Scope:
        """The scope with the account as which Flux applies the app."""
        account = None if self.scope.tenant else self._addon(app.name).account
        return replace(self.scope, service_account=account.existing) if account else self.scope

    def _state(self, app: EffectiveApp) -> Lifecycle:
        document, cluster = self.fleet.document, self.fleet.clusters[self.scope.cluster].state
        if not self.scope.tenant:
            return lifecycle(cluster, self._addon(app.name).state)
        states = tenant_states(self.fleet, self.scope.tenant, self.scope.cluster)
        return lifecycle(cluster, *states, document.tenants[self.scope.tenant].apps[app.name].state)

    def _addon(self, app: str) -> App:
        return self.fleet.document.platform.addons[app]

    def _check_manifests(self, app: EffectiveApp, name: str, source: KubeObject) -> None:
        if source.id.kind == "HelmRepository":
            raise AlreadyReported(f"source '{name}'")
        if is_chart(source) and name in self.charts:
            message = f"app '{app.name}' takes manifests from source '{name}', but app '{self.charts[name]}' takes it as a chart"
            fix = "declare two sources: Flux stores a chart as it is, and unpacks manifests"
            raise InvalidPart([Problem(app.origin("kustomize", "source"), "wrong-source", message, fix=fix)])

    def _chart(self, app: EffectiveApp, helm: Helm, name: str, source: KubeObject) -> KubeObject:
        """What a release takes: the source itself, or a chart of it."""
        at = (*_path_of(self.scope, app.name), "helm")
        check_chart(app, helm, source, at)
        release = helm.releaseName or self.scope.release(app.name)
        if len(release) > names.MAX_RELEASE:
            raise InvalidPart([name_too_long("release", release, names.MAX_RELEASE, at, "set a shorter 'releaseName'")])
        if is_chart(source):
            return source

        def made() -> tuple[KubeObject, dict[ObjectId, KubeObject]]:
            chart = chart_object(self.sources.scope_of(name), source, name, helm, app.settings.interval)
            check_size(chart, _path_of(self.scope, app.name))
            self._check_spec(chart, app, {("interval",): ("chartInterval",)})
            platforms = bool(self.scope.tenant) and not source.owner.tenant and self._is_equal_for_all(app, helm, chart)
            attachments = Attachments(self.fleet, self.scope, self.variables)
            bound = attachments.bound(chart, lambda path: app.origin(app.kind, *path))
            chart = shared_chart(self.fleet, self.scope, bound, source, platforms=platforms)
            check_length(chart, _path_of(self.scope, app.name))
            return chart, attachments.made

        chart, attached = self._once("chart", app, made, source)
        self.attachments.made.update(attached)
        self.add(chart)
        return chart

    def _is_equal_for_all(self, app: EffectiveApp, helm: Helm, chart: KubeObject) -> bool:
        """Whether no tenant says a part of the chart of a tenant's app, or how often Flux looks for it."""
        if any(references(chart.id.kind, chart.manifest["spec"])):
            return False
        of_chart = {*chart.manifest["spec"], "chartInterval"} - {"interval"}
        written = {key: value for key, value in helm.model_dump(exclude_none=True).items() if key in of_chart}
        places = [app.origin("helm", *path) for path, _ in leaves(written)]
        if not helm.chartInterval:
            scope = self.scope
            interval = setting_origin(self.fleet, scope.tenant, scope.environment, scope.cluster, "interval")
            places += [interval] if interval[-1] == "interval" else []
        return all(is_equal_for_all(self.fleet.source, self.scope.tenant, at) for at in places)

    def _check(self, planned: KubeObject, app: EffectiveApp) -> bool:
        """Whether an app's object names Secrets or ConfigMaps. Raises: InvalidPart: an API server or Flux would not take it."""
        self._check_spec(planned, app)
        self._check_health_checks(app, planned)
        return any(references(planned.id.kind, planned.manifest["spec"]))

    def _check_spec(self, planned: KubeObject, app: EffectiveApp, keys: Mapping[Path, Path] | None = None) -> None:
        """Problems are at the values the author wrote; the fleet's own values are assumed correct.

        Args: keys: paths in the spec that the file calls otherwise.
        """

        def origin(path: Path) -> Path:
            return app.origin(app.kind, *(keys or {}).get(path, path))

        self.wall.refuse(planned.id.kind, planned.manifest["spec"], origin, _path_of(self.scope, app.name))

    def _source_name(self, app: EffectiveApp) -> str:
        at = _path_of(self.scope, app.name)
        if app.block.source is None and not self.scope.tenant:
            if self._addon(app.name).source:
                return app.name
            if not any("source" in block for _, block in walk.blocks(self.fleet, at)):
                raise AlreadyReported(f"the source of add-on '{app.name}'")
        if app.block.source is None:
            raise InvalidPart([missing_key((*at, app.kind), "source")])
        return app.block.source

    def _check_target(self, app: EffectiveApp) -> None:
        """Raises: InvalidPart: the app's namespace is not the tenant's, or cannot have come from another tenant here."""
        own = (self.scope.namespace, *self.scope.namespaces.values())
        for key in ("targetNamespace", "storageNamespace"):
            name, at = getattr(app.block, key, None), app.origin(app.kind, key)
            if name and self.scope.tenant and self.scope.own_namespace(name) not in own:
                listed = ", ".join(f"'{namespace}'" for namespace in own)
                note = f"on cluster '{self.scope.cluster}' {'it is' if len(own) == 1 else 'they are'} {listed}"
                message = f"'{name}' is not a namespace of tenant '{self.scope.tenant}'"
                fix = f"remove '{key}'" + (", or name one of these" if len(own) > 1 else "")
                raise InvalidPart([Problem(at, "foreign-namespace", message, (note,), fix=fix)])
            if name and key == "storageNamespace" and not self.scope.tenant:
                message = "where Helm stores the release of an add-on follows from its 'namespace' and 'account'"
                raise InvalidPart([Problem(at, "owned-field", message, fix="remove 'storageNamespace'")])

    def _check_health_checks(self, app: EffectiveApp, planned: KubeObject) -> None:
        """Raises: InvalidPart: Flux cannot read an object to wait for, because it acts as the tenant's account."""
        if not self.scope.tenant or self.fleet.document.tenants[self.scope.tenant].clusterRoles:
            return
        own = (self.scope.namespace, *self.scope.namespaces.values())
        listed = ", ".join(f"'{name}'" for name in own)
        spec = planned.manifest["spec"]
        for index, check in enumerate(() if spec.get("wait") else spec.get("healthChecks", ())):
            kind, namespace = check["kind"], check.get("namespace")
            at = app.origin("kustomize", "healthChecks", index, "namespace" if namespace else "kind")
            if namespace and namespace not in own:
                message = f"the account of tenant '{self.scope.tenant}' may not read namespace '{namespace}'"
                note = f"on cluster '{self.scope.cluster}' it may read {listed}"
                raise InvalidPart(
                    [Problem(at, "foreign-namespace", message, (note,), fix=f"write 'namespace: {own[0]}'")]
                )
            is_own = kind == "Namespace" and check["name"] in own
            if is_cluster_scoped(check.get("apiVersion", "apps/v1"), kind) and not is_own:
                what = f"{kind} '{shorten(check['name'])}', which is in no namespace"
                message = f"the account of tenant '{self.scope.tenant}' may not read {what}"
                raise InvalidPart([Problem(at, "foreign-namespace", message, fix="remove the health check")])
