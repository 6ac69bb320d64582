"""What the main file decides about one tenant, and what it leaves to the tenant's included file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from tenantry.policy.classes import names_of
from tenantry.policy.main_file import MainFile, filled, merged, overrides_on
from tenantry.policy.overlays import OF_TEAMS
from tenantry.policy.resource import entries, mapping, texts
from tenantry.policy.written import addresses_in, limits_in, text_of, times_in, values_of

LEVELS = ("privileged", "baseline", "restricted")
"""Pod Security Standards, from the weakest."""
_MODES = ("enforce", "audit", "warn")
SHORTEST = "30s"
SHARED = ("apps", "configs", "sources")
"""What the main file can share. Credentials are not among it."""
_DEFAULT_TIMES = ("30s", "5m", "10m", "30m")
"""Intervals that Tenantry sets where nobody says one."""
_LIMITS = {"timeout": "1h", "interval": "24h", "retries": "20", "history": "20"}
_GIVE_ROLES = ("role", "owners", "roleBindings")


@dataclass(frozen=True)
class Frame:
    """own: the tenant's entry in the main file, with what its classes say, or that alone; over: the overrides that hold."""

    file: MainFile
    tenant: str
    own: Mapping[str, Any]
    over: tuple[Mapping[str, Any], ...] = ()

    def there(self, environment: str, cluster: str) -> Frame:
        """The frame as it is on one cluster of an environment."""
        return replace(self, over=tuple(overrides_on(self.file, (self.file.defaults, self.own), environment, cluster)))

    @cached_property
    def grants(self) -> Mapping[str, Any]:
        return merged(mapping(self.file.defaults.get("grants")), mapping(self.own.get("grants")))

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        return merged(self.file.defaults, self.own, *self.over)

    @cached_property
    def variables(self) -> Mapping[str, Any]:
        """The tenant's placeholders besides the built-in ones."""
        return merged(mapping(self.file.defaults.get("variables")), mapping(self.own.get("variables")))

    @cached_property
    def of_classes(self) -> Mapping[str, Any]:
        """What the tenant's classes alone say."""
        return self.file.with_classes({"class": list(classes_of(self.file, self.tenant) or ())})

    def leaves(self, *settings: str) -> bool:
        """Whether an included file may make one of the settings."""
        return not set(texts(self.grants.get("settings"))).isdisjoint(settings)

    # --- namespaces ---------------------------------------------------------------------------------------------

    def namespace(self, environment: str) -> str:
        """The main one."""
        of_environment = self.file.environments.get(environment, {}).get("namespace")
        template = str(self.own.get("namespace") or of_environment or "{tenant}")
        return filled(template, self.file.variables(environment, tenant=self._first_name))

    @property
    def _first_name(self) -> str:
        """The oldest name of the tenant, which names of objects contain."""
        return next(iter(texts(self.own.get("formerly"))), self.tenant)

    def extra(self, environment: str) -> Mapping[str, str]:
        """The others that the main file declares: their keys by their names."""
        main = self.namespace(environment)
        given = mapping(self.own.get("namespaces"))
        variables = self.file.variables(environment, tenant=self._first_name)
        found: dict[str, str] = {}
        for key, each in given.items():
            owner = next((str(one.get("tenant")) for one in self.owners_before(str(key))), "")
            there = {**variables, "namespace": self._former(environment, owner) if owner else main, "key": key}
            found[filled(str(mapping(each).get("name") or "{namespace}-{key}"), there)] = key
        return found

    def came(self, environment: str) -> Mapping[str, str]:
        """The apps that came from other tenants with a namespace, each with the main namespace of its tenant then."""
        own = (self.tenant, *texts(self.own.get("formerly")))
        owners = [each for key in mapping(self.own.get("namespaces")) for each in self.owners_before(str(key))]
        return {
            app: self._former(environment, str(owner.get("tenant")))
            for owner in owners
            if owner.get("tenant") not in own
            for app in texts(owner.get("apps"))
        }

    def owners_before(self, key: str) -> list[Mapping[str, Any]]:
        """The tenants that had one of the other namespaces before, the oldest first."""
        return entries(mapping(mapping(self.own.get("namespaces")).get(key)).get("formerly"))

    def _former(self, environment: str, owner: str) -> str:
        """The main namespace of a tenant that may have another name today, or be gone."""
        tenants = self.file.tenants.items()
        today = next((name for name, each in tenants if owner in (name, *texts(mapping(each).get("formerly")))), "")
        own = mapping(self.file.tenants.get(today)) if today else {"formerly": [owner]}
        return Frame(self.file, today or owner, own).namespace(environment)

    @property
    def account(self) -> str:
        """The name of the service account in the tenant's namespaces."""
        return str(self.of_account.get("name") or self._first_name)

    def accounts(self, environment: str) -> frozenset[str]:
        """The extra namespaces with an account that has the tenant's role."""
        given = mapping(self.own.get("namespaces"))
        names = self.extra(environment).items()
        return frozenset(name for name, key in names if mapping(given.get(key)).get("serviceAccount") is True)

    def objects(self, key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The manifests for a namespace by their names, in which placeholders are left; key: of an extra one."""
        layers = (layer for layer in self._layered("objects", key) if isinstance(layer, Mapping))
        for name, each in merged(*layers).items():
            yield str(mapping(mapping(each).get("metadata")).get("name") or name), mapping(each)

    @property
    def may_have_cluster_admin(self) -> bool:
        return self.own.get("clusterAdmin") is True

    def pod_security(self, key: str) -> dict[str, str]:
        """The levels and versions of a namespace's pod security, by their labels without prefix; key: of an extra one."""
        given = self._setting("podSecurity", key)
        if isinstance(given, str):
            return dict.fromkeys(_MODES, given)
        levels = {"enforce": "baseline", **{mode: str(given[mode]) for mode in _MODES if mapping(given).get(mode)}}
        version = mapping(given).get("version")
        return {**levels, **({f"{mode}-version": str(version) for mode in levels} if version else {})}

    def limit(self, setting: str, key: str) -> Mapping[str, Any]:
        """`quota` or `limits` in a namespace; key: of an extra one."""
        return mapping(self._setting(setting, key))

    def is_isolated(self, key: str) -> bool:
        """Whether the network policy that keeps other tenants out is in a namespace; key: of an extra one."""
        return self.network_base(key) != "open"

    def network_base(self, key: str) -> str:
        """`network`, or its `base`, in a namespace; key: of an extra one."""
        given = self._setting("network", key)
        return str((given if isinstance(given, str) else mapping(given).get("base")) or "isolated")

    def network_policies(self, key: str) -> Mapping[str, Any]:
        """The other network policies of a namespace, by name; key: of an extra one."""
        return mapping(mapping(self._setting("network", key)).get("policies"))

    @property
    def of_account(self) -> Mapping[str, Any]:
        """What the main file says of the account of the tenant's pods."""
        return mapping(self.own.get("serviceAccount"))

    def _setting(self, setting: str, key: str) -> Any:
        """A setting of a namespace after all that says something of it; over a single word, a mapping starts anew."""
        return merged(*({setting: given} for given in self._layered(setting, key))).get(setting)

    def _layered(self, setting: str, key: str) -> Iterator[Any]:
        """What `defaults`, the tenant and the extra namespace say, as far as they say anything."""
        layers = (self.file.defaults, self.own, *self.over, mapping(mapping(self.own.get("namespaces")).get(key)))
        return (layer[setting] for layer in layers if setting in layer)

    def written_keys(self, kind: str) -> dict[str, set[str]]:
        """Labels or annotations of namespaces that the main file sets, each with its values."""
        found: dict[str, set[str]] = {}
        for layer in (self.file.defaults, self.own, *self.over, *mapping(self.own.get("namespaces")).values()):
            for key, value in mapping(mapping(layer).get(kind)).items():
                found.setdefault(key, set()).add(str(value))
        return found

    def metadata_keys(self, kind: str) -> frozenset[str]:
        """Labels or annotations that the main file itself gives Flux objects of the tenant."""
        return frozenset(_metadata_keys({key: self.own.get(key) for key in ("apps", "sources", OF_TEAMS)}, kind))

    # --- rights -------------------------------------------------------------------------------------------------

    @cached_property
    def roles(self) -> frozenset[str]:
        """The roles that bindings of the tenant may name."""
        given = {
            str(self.settings.get("role") or "admin"),
            *(str(owner.get("role") or "view") for owner in self._owners),
        }
        given |= {str(mapping(binding).get("role")) for binding in self._bindings.values()}
        if self.leaves(*_GIVE_ROLES):
            given.update(texts(self.grants.get("roles")) if "roles" in self.grants else ("view",))
        return frozenset(given if self.own.get("clusterAdmin") is True else given - {"cluster-admin"})

    def names_subject(self, kind: str, name: str, namespace: str = "") -> bool:
        """Whether the main file gives a role to somebody, or leaves that to the included file."""
        return self.leaves("owners", "roleBindings") or (kind, name, namespace) in self._subjects

    @cached_property
    def _owners(self) -> list[Mapping[str, Any]]:
        return entries(self.settings.get("owners"))

    @property
    def _bindings(self) -> Mapping[str, Any]:
        return mapping(self.settings.get("roleBindings"))

    @cached_property
    def _subjects(self) -> frozenset[tuple[str, str, str]]:
        bound = (entry for binding in self._bindings.values() for entry in entries(mapping(binding).get("subjects")))
        return frozenset(_subject(each) for each in (*self._owners, *bound))

    # --- placement ----------------------------------------------------------------------------------------------

    def allows_cluster(self, cluster: str, app: str) -> bool:
        """Whether an app may be on a cluster; app: "" for what all apps of the tenant need there."""
        selectors = [self._selector_of(name) for name in self._apps if app in ("", name)]
        return self._grants_cluster(cluster) or any(
            cluster in self.file.selected(selector, self._placeholders) for selector in selectors
        )

    def places_itself(self, environment: str, clusters: Iterable[str]) -> bool:
        """Whether an app of the main file is on one of an environment's clusters."""
        granted = self.grants.get("environments")
        if granted is not None and set(granted).isdisjoint(self.file.lineage(environment)):
            return False
        there = (app for app in self._apps if self.allows_environment(environment, app))
        return any(
            not self.file.selected(self._selector_of(app), self._placeholders).isdisjoint(clusters) for app in there
        )

    def allows_environment(self, environment: str, app: str) -> bool:
        """Whether an app may be in an environment; app: "" for what all apps of the tenant need there."""
        only = self.file.environments.get(environment, {}).get("tenants")
        if only is not None and self.tenant not in only:
            return False
        lineage = self.file.lineage(environment)
        own = self.own.get("environments")
        # An included file's apps stay within the tenant's list; one of the main file replaces it, and needs no grant.
        lists = {name: [mapping(each).get("environments") or own] for name, each in self._apps.items()}
        others = [own, self.grants.get("environments")]
        chosen = [lists.get(app, others)] if app else [*lists.values(), others]
        return any(all(each is None or not set(each).isdisjoint(lineage) for each in names) for names in chosen)

    def _grants_cluster(self, cluster: str) -> bool:
        """Whether the included file can choose a cluster. `all` leaves out those that run Flux."""
        levels = (
            mapping(self.own.get("grants")),
            self.own,
            mapping(self.file.defaults.get("grants")),
            self.file.defaults,
        )
        chosen = next((mapping(level["clusters"]) for level in levels if level.get("clusters")), {})
        return cluster in self.file.selected(chosen, self._placeholders) and not (
            chosen.get("all") is True and self.file.manages(cluster)
        )

    @property
    def _placeholders(self) -> Mapping[str, Any]:
        return {**self.variables, "tenant": self.tenant}

    @property
    def _apps(self) -> Mapping[str, Any]:
        return mapping(self.own.get("apps"))

    def _selector_of(self, app: str) -> Mapping[str, Any]:
        levels = (mapping(self._apps.get(app)), self.own, self.file.defaults)
        return next((mapping(level["clusters"]) for level in levels if level.get("clusters")), {})

    # --- what the included file may name --------------------------------------------------------------------------

    @property
    def apps(self) -> Mapping[str, Any]:
        """The apps of the tenant that the main file declares."""
        return mapping(self.own.get("apps"))

    def declares(self, group: str, name: str) -> bool:
        """Whether an entry of the tenant is the main file's; group: its key, such as `sources`."""
        return name in mapping(self.own.get(group))

    def shares(self, group: str, name: str) -> bool:
        """Whether the included file may name an entry of the main file."""
        return group in SHARED and name in texts(mapping(self.grants.get("share")).get(group))

    # --- what Flux connects to, and how often ---------------------------------------------------------------------

    def granted_addresses(self, *, of_alert: bool, variables: Mapping[str, str]) -> tuple[str, ...]:
        """Patterns of addresses that the included file may name."""
        keys = ("sources", "alerts") if of_alert else ("sources",)
        return tuple(filled(text, variables) for key in keys for text in texts(self.grants.get(key)))

    def granted_pushes(self, variables: Mapping[str, str]) -> tuple[str, ...]:
        """Patterns of addresses to which the included file may let Flux push."""
        return tuple(filled(text, variables) for text in texts(self.grants.get("push")))

    def written_addresses(self, variables: Mapping[str, str]) -> frozenset[str]:
        """What the main file itself names in the tenant's entry."""
        return frozenset(filled(each, {**variables, **more}) for each, more in addresses_in(self.own))

    @cached_property
    def shortest(self) -> str:
        return str(self.grants.get("shortestInterval") or SHORTEST)

    def written(self, key: str) -> frozenset[str]:
        """The values under a key anywhere in the main file's entry of the tenant and in `defaults`, as text."""
        return frozenset(text_of(value) for value in (*values_of(self.own, key), *values_of(self.file.defaults, key)))

    @cached_property
    def written_times(self) -> frozenset[str]:
        """Intervals that nobody else than the platform chose."""
        return frozenset((*times_in(self.own), *times_in(self.file.defaults), *_DEFAULT_TIMES))

    @cached_property
    def limits(self) -> dict[str, str]:
        """How long anything of the included file may take, and how often it may be tried."""
        return {**_LIMITS, **{key: str(value) for key, value in mapping(self.grants.get("limits")).items()}}

    @cached_property
    def written_limits(self) -> frozenset[str]:
        """Durations and numbers that the platform chose itself."""
        return frozenset((*limits_in(self.own), *limits_in(self.file.defaults)))


def frame_of(file: MainFile, tenant: str) -> Frame | None:
    """The frame of a tenant; None: neither the main file nor a class of it knows the tenant."""
    if tenant in file.tenants:
        return Frame(file, tenant, mapping(file.tenants[tenant]))
    named = classes_of(file, tenant)
    if named is None:
        return None
    overlay = mapping(mapping(file.data.get(OF_TEAMS)).get(tenant))
    return Frame(file, tenant, file.with_classes({"class": list(named), **overlay}))


def classes_of(file: MainFile, tenant: str) -> tuple[str, ...] | None:
    """The classes of a tenant; None: nobody knows it. A new one has those of the first entry of `include` whose `of` fits."""
    if tenant in file.tenants:
        return names_of(mapping(mapping(file.data.get("tenants")).get(tenant)))
    for entry in entries(file.data.get("include")):
        patterns = texts(entry.get("of")) or ["*"]
        if (named := names_of(entry)) and any(fnmatchcase(tenant, pattern) for pattern in patterns):
            return named
    return None


def _subject(written: Mapping[str, Any]) -> tuple[str, str, str]:
    for key, kind in (("group", "Group"), ("user", "User")):
        if written.get(key):
            return kind, str(written[key]), ""
    account = mapping(written.get("serviceAccount"))
    return "ServiceAccount", str(account.get("name")), str(account.get("namespace") or "")


def _metadata_keys(value: Any, kind: str) -> Iterator[str]:
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        if key == "metadata":
            yield from mapping(mapping(inner).get(kind))
        for entry in entries(inner) or (inner,):
            yield from _metadata_keys(entry, kind)
