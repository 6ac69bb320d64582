"""One tenant in all environments to its entry, with what its namespaces hold as settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tenantry.importing.apps import awaited_addons, source_key
from tenantry.importing.blocks import literal, source_entry
from tenantry.importing.entries import CONFLICT, Overlaid, OwnerEntry, overlaid
from tenantry.importing.resources import Place, Resource
from tenantry.kube.names import join, slug
from tenantry.messages.data import mappings_in
from tenantry.messages.errors import Path

_SECURITY = "pod-security.kubernetes.io/"
OPEN: dict[str, Any] = {"network": "open", "podSecurity": {"enforce": "privileged"}}
"""The settings that restrict nothing, where it is not known what is restricted."""
_KINDS = ("RoleBinding", "Role", "ResourceQuota", "LimitRange", "NetworkPolicy")
"""What lies in a namespace and belongs to the tenant as a whole."""
_DEFAULT_ROLE = "admin"
"""The file does not write it."""


class Space(NamedTuple):
    """A namespace of a tenant on a management cluster.

    account: whom Flux acts as there. objects: what lies in it; made: the Namespace itself, if it was read. path: of the tenant.
    """

    account: str
    namespace: str
    made: Resource | None
    objects: tuple[Resource, ...]
    path: Path


def settings_of(space: Space) -> dict[str, Any]:
    """The settings that make the namespace what it is. Its policies are objects, so Tenantry adds none of its own."""
    settings: dict[str, Any] = {"podSecurity": OPEN["podSecurity"]}
    if space.made:
        metadata = space.made.metadata
        labels = {key: value for key, value in metadata.get("labels", {}).items() if not key.startswith(_SECURITY)}
        own = {"labels": labels, "annotations": metadata.get("annotations")}
        settings = {**{key: value for key, value in own.items() if value}, **_security(space.made)}
        space.made.take(*space.path)
    settings |= {**_role(space), "network": "open"}
    objects: dict[str, Any] = {}
    for resource in space.objects:
        if resource.kind in _KINDS and not _is_reconciler(space, resource):
            key = slug(resource.name)
            key = (
                join(key, slug(resource.kind)) if key in objects else key
            )  # objects of several kinds may have one name
            objects[key] = manifest_of(resource, key)
            resource.take(*space.path, "objects")
    return {**settings, **({"objects": objects} if objects else {})}


def _security(space: Resource) -> dict[str, Any]:
    """Without labels every pod is admitted, and the file has to say so."""
    marks = {key.removeprefix(_SECURITY): value for key, value in space.labels.items() if key.startswith(_SECURITY)}
    levels: dict[str, str] = {mode: marks[mode] for mode in ("enforce", "audit", "warn") if mode in marks}
    levels.setdefault("enforce", "privileged")
    versions = {marks.get(f"{mode}-version") for mode in levels if mode in marks} - {None}
    if len(levels) == 3 and len(set(levels.values())) == 1 and not versions:
        return {"podSecurity": levels["enforce"]}
    if versions:
        levels["version"] = min(map(str, versions))
    return {} if levels == {"enforce": "baseline"} else {"podSecurity": levels}


# --- rights -----------------------------------------------------------------------------------------------------------


def _names_account(subject: dict[str, Any], space: Space) -> bool:
    """Whether the subject of a binding is the account that Flux impersonates."""
    kind, name = subject.get("kind"), str(subject.get("name"))
    if kind == "ServiceAccount":
        return name == space.account and subject.get("namespace", space.namespace) == space.namespace
    return name == f"system:serviceaccount:{space.namespace}:{space.account}"


def _is_reconciler(space: Space, resource: Resource) -> bool:
    """Whether a binding gives a ClusterRole to the account that Flux impersonates."""
    if resource.kind != "RoleBinding" or resource.at("roleRef", "kind") != "ClusterRole":
        return False
    return any(_names_account(subject, space) for subject in mappings_in(resource.at("subjects")))


def _role(space: Space) -> dict[str, Any]:
    bindings = [resource for resource in space.objects if _is_reconciler(space, resource)]
    roles = [str(binding.at("roleRef", "name")) for binding in bindings]
    role = "cluster-admin" if "cluster-admin" in roles else next(iter(roles), _DEFAULT_ROLE)
    for binding, named in zip(bindings, roles, strict=True):
        binding.take(*space.path, *(("role",) if {named, role} != {_DEFAULT_ROLE} else ()))
        planned = join("tenantry", "reconciler", named)
        if named != role:
            text = f"a tenant has one role, and '{role}' is taken"
            binding.leave(text, "keep this binding; it stays as it is")
        elif binding.name != planned:
            text = f"Tenantry creates RoleBinding {planned} beside it, with the same role for the same account"
            binding.leave(text, "it can stay; after the first `tenantry up` nothing needs it")
    return {"role": role} if role != _DEFAULT_ROLE else {}


def cluster_roles(space: Space, bindings: Iterable[Resource]) -> dict[str, Any]:
    """`clusterRoles` of a tenant, by the ClusterRoleBindings that are for its account alone."""
    entries: dict[str, Any] = {}
    for binding in bindings:
        subjects = mappings_in(binding.at("subjects"))
        if subjects and all(_names_account(subject, space) for subject in subjects):
            key = slug(binding.name)
            entries[key] = {"role": str(binding.at("roleRef", "name"))}
            binding.take(*space.path, "clusterRoles", key)
    return entries


# --- other objects ----------------------------------------------------------------------------------------------------


def manifest_of(resource: Resource, key: str) -> dict[str, Any]:
    """An entry of `objects`, which keeps the object's name."""
    metadata = {**({"name": resource.name} if resource.name != key else {}), **resource.metadata}
    whole = {**resource.manifest, "metadata": metadata}
    first = {part: whole.pop(part) for part in ("apiVersion", "kind", "metadata") if whole.get(part)}
    return dict(literal({**first, **{part: value for part, value in whole.items() if part != "metadata"}}))


def account_settings(account: Resource | None) -> dict[str, Any]:
    """`serviceAccount:` beside its name: what the account says of itself."""
    if account is None:
        return {}
    entry: dict[str, Any] = {key: value for key, value in account.metadata.items() if key == "annotations"}
    if secrets := mappings_in(account.manifest.get("imagePullSecrets")):
        entry["imagePullSecrets"] = [str(secret.get("name")) for secret in secrets]
    return entry


# --- the entry --------------------------------------------------------------------------------------------------------


class TenantEntry(OwnerEntry):
    """Builds the entry of a tenant."""

    def entry(self, templates: Mapping[str, str]) -> dict[str, Any]:
        """templates: of the names of namespaces, by environment."""
        entry: dict[str, Any] = {**self._namespace(templates), **self._account()}
        settings = overlaid(self._settings())
        # The apps take the names that sources get, and both name Secrets.
        self._add_sources(settings)
        entry |= settings.entry
        if entry.get("role") == "cluster-admin":
            entry["clusterAdmin"] = True
        entry |= self._rights()
        entry |= self.names()
        if self.apps:
            entry["apps"] = {key: self.app(apps) for key, apps in self.apps.items()}
        return {**entry, "adopt": True}

    # --- namespaces and the account -------------------------------------------------------------------------------

    def _homes(self) -> dict[str, str]:
        """The tenant's namespace by environment."""
        homes = {name: survey.territories.get(self.tenant) for name, survey in self.surveys.items()}
        return {name: home for name, home in homes.items() if home}

    def _namespace(self, templates: Mapping[str, str]) -> dict[str, Any]:
        """`namespace`, where it is not the one that the environment gives."""
        homes = self._homes()
        if all(home == filled(templates[name], name, self.tenant) for name, home in homes.items()):
            return {}
        if len(names := set(homes.values())) == 1:
            return {"namespace": names.pop()}
        # Overrides hold no names, so what differs is a variable of the environments.
        variable = f"{self.tenant.replace('-', '_')}_namespace"
        for name, home in homes.items():
            self.gathered.variables[name][variable] = home
        return {"namespace": f"{{{variable}}}"}

    def _account(self) -> dict[str, Any]:
        """`serviceAccount`, where it is not the default."""
        for name, home in self._homes().items():
            survey = self.surveys[name]
            account = survey.account(self.tenant)
            own = survey.world.get("ServiceAccount", home, account)
            if own:
                own.take(*self.path)
            if entry := {**({"name": account} if account != self.tenant else {}), **account_settings(own)}:
                return {"serviceAccount": entry}
        return {}

    # --- settings -------------------------------------------------------------------------------------------------

    def _environments(self) -> list[str]:
        """Where the tenant has apps; without any, where it has namespaces."""
        environments = dict.fromkeys(place.environment for apps in self.apps.values() for place in apps)
        return list(environments) or list(self._homes())

    def _spaces(self) -> dict[Place, Space]:
        """The namespaces that are known: those on management clusters, where the tenant runs there."""
        places = [Place(name, self.surveys[name].world.management) for name in self._environments()]
        running = {place for apps in self.apps.values() for place in apps} or set(places)
        spaces: dict[Place, Space] = {}
        for place in places:
            survey = self.surveys[place.environment]
            if place in running and (name := survey.territories[self.tenant]):
                made, objects = survey.world.get("Namespace", "", name), tuple(survey.world.within(name))
                if made or objects:
                    spaces[place] = Space(survey.account(self.tenant), name, made, objects, self.path)
        return spaces

    def _settings(self) -> dict[Place, dict[str, Any]]:
        spaces = self._spaces()
        result: dict[Place, dict[str, Any]] = {}
        for name in self._environments():
            place = Place(name, self.surveys[name].world.management)
            apps = [app for places in self.apps.values() for at, app in places.items() if at.environment == name]
            addons = awaited_addons(self.surveys[name], apps)
            own = {"dependsOn": addons} if addons else {}
            if place in spaces or not spaces:
                result[place] = {**own, **(settings_of(spaces[place]) if spaces else OPEN)}
            if not spaces and apps:
                text = "the namespaces of its tenant were not read, so nothing is restricted in them"
                fix = "set 'network' and 'podSecurity' of the tenant"
                apps[0].resource.leave(text, fix, "metadata.namespace")
        return result

    def _rights(self) -> dict[str, Any]:
        roles: dict[str, Any] = {}
        for place, space in self._spaces().items():
            world = self.surveys[place.environment].world
            roles = {**cluster_roles(space, world.of("ClusterRoleBinding")), **roles}
        entry: dict[str, Any] = {"clusterRoles": roles} if roles else {}
        if any(role["role"] == "cluster-admin" for role in roles.values()):
            entry["clusterAdmin"] = True
        return entry

    # --- sources --------------------------------------------------------------------------------------------------

    def _add_sources(self, entry: Overlaid) -> None:
        """Add `sources`, with overrides for what differs in one of the same kind."""
        sources: dict[str, dict[Place, Any]] = defaultdict(dict)
        resources: dict[tuple[str, Place], Resource] = {}
        for app in (app for places in self.apps.values() for app in places.values()):
            assert app.source is not None
            key = source_key(app)
            own = source_entry(app.source, self.surveys[app.place.environment].names_of(app))
            sources[key].setdefault(app.place, own)
            resources[key, app.place] = app.source
            app.source.take(*self.path, "sources", key)
        for key, places in sources.items():
            if len({next(iter(own)) for own in places.values()}) > 1:
                entry.add("sources", key, Overlaid(next(iter(places.values()))))
                continue
            differing = overlaid(places)
            entry.add("sources", key, differing)
            for place in differing.conflicts:
                resources[key, place].leave(CONFLICT, "declare it by hand", "spec")


def filled(template: str, environment: str, tenant: str) -> str:
    """The name that an environment gives a tenant's namespace."""
    return template.replace("{env}", environment).replace("{tenant}", tenant)
