"""Compares the clusters that a management cluster knows with those that the files declare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import ValidationError

from tenantry.cluster.discover import Discovery, FoundCluster
from tenantry.fleet.groups import grouped
from tenantry.fleet.inherit import inherit
from tenantry.kube.names import dns_label_problem
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import closest, declared, listed
from tenantry.model import Kubeconfig, SecretKey
from tenantry.source.parsed_file import ParsedFile

GONE = "decommissioned"


@dataclass(frozen=True, slots=True)
class Naming:
    """How discovered clusters are declared. qualified: whether names begin with the namespace.

    labels: prefixes of those to copy.
    """

    groups: tuple[str, ...] = ()
    prefix: str = ""
    qualified: bool = False
    labels: tuple[str, ...] = ()

    def name(self, found: FoundCluster) -> str:
        namespace = f"{found.kubeconfig['namespace']}-" if self.qualified else ""
        return f"{self.prefix}{namespace}{found.name}"


@dataclass(frozen=True, slots=True)
class Changes:
    """added: new entries by name, and the objects they stand for; gone: entries of the file whose object is not there.

    known: declared already; elsewhere: declared in other files, and gone; back: gone before, and there again; itself: objects
    with the name of the management cluster, which are taken to be that. tenants: new ones in namespaces of tenants, in words.
    """

    added: dict[str, dict[str, Any]] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    itself: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()


def managements_of(source: ParsedFile, environment: str) -> list[str]:
    """The management clusters of an environment. Raises: Refused: the environment is not declared, or names none."""
    environments = mapping_at(inherit(source.data).data, "environments")
    if environment not in environments:
        near = closest(environment, environments)
        fix = f"name '{near}'" if near else f"name one of: {', '.join(environments) or 'none'}"
        raise Refused(f"{source.file} declares no environment '{environment}'", fix, code=UNKNOWN_NAME)
    if not (named := _named_in(mapping_at(environments, environment))):
        raise Refused(f"environment '{environment}' names no management cluster", "set its 'management:'")
    return named


def _named_in(environment: Mapping[str, Any]) -> list[str]:
    named = environment.get("management")
    return [named] if isinstance(named, str) else list(map(str, named)) if isinstance(named, list) else []


def management_of(source: ParsedFile, environment: str, hub: str = "") -> str:
    """The management cluster to ask. hub: which of several. Raises: Refused: as `managements_of`; or it is not clear which."""
    hubs = managements_of(source, environment)
    if hub and hub not in hubs:
        message = f"'{hub}' is no management cluster of environment '{environment}'"
        raise Refused(message, f"name one of: {', '.join(hubs)}", code=UNKNOWN_NAME)
    if not hub and len(hubs) > 1:
        message = f"environment '{environment}' has several management clusters, and one is asked at a time"
        raise Refused(message, f"--hub {hubs[0]}, or another one of: {', '.join(hubs)}")
    return hub or hubs[0]


def compare(
    source: ParsedFile,
    own: Iterable[str],
    environment: str,
    found: Discovery,
    naming: Naming,
    has_secret: Callable[[SecretKey], bool],
    hub: str = "",
) -> Changes:
    """What the file with discovered clusters lacks.

    Args:   source: all files; own: the names of the clusters in that file; has_secret: whether a Secret is on the management
            cluster. hub: which of several management clusters.
    Raises: Refused: a new cluster would have the name of another one, or a name that is not valid; the group is not declared.
    """
    groups = mapping_at(source.data, "clusterGroups")
    for unknown in (group for group in naming.groups if group not in groups):
        message = f"{source.file} declares no group '{unknown}'"
        raise Refused(message, f"name another; {declared('declared', unknown, groups)}", code=UNKNOWN_NAME)
    return _Comparison(source, set(own), environment, has_secret, hub).run(found, naming)


def _is_of(hub: str, hubs: list[str], named: Any) -> bool:
    """Whether a cluster is a management cluster's in an environment that has some. named: the one that the cluster names."""
    return hub in hubs and (len(hubs) == 1 or named == hub)


class _Comparison:
    """Knows which declared cluster is which on the management cluster of one environment."""

    def __init__(
        self, source: ParsedFile, own: set[str], environment: str, has_secret: Callable[[SecretKey], bool], hub: str
    ) -> None:
        self.source = source
        self.own = own
        self.environment = environment
        self.has_secret = has_secret
        self.whole = grouped(source).source
        self.management = management_of(source, environment, hub)
        self.is_one_of_several = len(managements_of(source, environment)) > 1
        self.declared = dict(self._here())

    def _here(self) -> Iterator[tuple[str, Kubeconfig]]:
        """The clusters that this management cluster reaches. Others may have Secrets of the same name elsewhere."""
        environments = mapping_at(inherit(self.source.data).data, "environments")
        hubs = {name: _named_in(mapping_at(environments, name)) for name in environments}
        for name in mapping_at(self.whole.data, "clusters"):
            cluster = mapping_at(self.whole.data, "clusters", name)
            listed_in = cluster.get("environments")
            among = [hubs.get(str(each), []) for each in listed_in] if isinstance(listed_in, list) else []
            if any(_is_of(self.management, each, cluster.get("management")) for each in among):
                kubeconfig = _kubeconfig(cluster.get("kubeconfig"))
                if kubeconfig:
                    yield name, kubeconfig

    def run(self, found: Discovery, naming: Naming) -> Changes:
        by_place = {_place(each): name for name, each in self.declared.items()}
        there = {
            _place(Kubeconfig.model_validate({cluster.kind: dict(cluster.kubeconfig)})): cluster
            for cluster in found.clusters
        }
        unknown = {place: each for place, each in there.items() if place not in by_place}
        new = {place: each for place, each in unknown.items() if not each.tenant}
        itself = [each for each in new.values() if naming.name(each) == self.management]
        named = self._named((each for each in new.values() if each not in itself), naming)
        gone = [
            name
            for name, each in self.declared.items()
            if _kind(each) in found.kinds and _place(each) not in there and self._is_gone(name, each)
        ]
        known = [name for place, name in by_place.items() if place in there]
        return Changes(
            added={name: self._entry(name, each, naming) for name, each in named.items()},
            objects={name: each.object for name, each in named.items()},
            gone=tuple(name for name in gone if name in self.own),
            known=tuple(known),
            elsewhere=tuple(name for name in gone if name not in self.own),
            itself=tuple(each.object for each in itself),
            back=tuple(name for name in known if self._state(name) == GONE),
            tenants=tuple(f"{each.object} (tenant {each.tenant})" for each in unknown.values() if each.tenant),
        )

    def _is_gone(self, name: str, kubeconfig: Kubeconfig) -> bool:
        """Whether a cluster that was not found is gone, and not marked yet."""
        reference = kubeconfig.resolved
        by_secret = _kind(kubeconfig) in _BY_SECRET
        # A run makes a Secret that comes `from` a stack, perhaps the next one.
        still_there = by_secret and isinstance(reference, SecretKey) and (reference.from_ or self.has_secret(reference))
        return self._state(name) != GONE and not still_there

    def _state(self, name: str) -> Any:
        return mapping_at(self.whole.data, "clusters", name).get("state")

    def _named(self, new: Iterable[FoundCluster], naming: Naming) -> dict[str, FoundCluster]:
        """The new clusters by name, in alphabetical order. Raises: Refused: two have the same one, or one is not valid."""
        named: dict[str, FoundCluster] = {}
        clashes: list[str] = []
        for each in sorted(new, key=lambda each: (naming.name(each), each.object)):
            name = naming.name(each)
            if problem := dns_label_problem(name):
                raise Refused(f"{each.object} cannot be declared as '{name}': {problem}", "choose another --prefix")
            if name in mapping_at(self.source.data, "clusters"):
                clashes.append(f"'{name}' ({each.object}) is declared at {self.source.line_of(('clusters', name))}")
            elif name in named:
                clashes.append(f"'{name}' is {named[name].object} and {each.object}")
            else:
                named[name] = each
        if clashes:
            message = f"discovered clusters have names of other clusters: {listed(clashes)}; nothing was written"
            fix = "use --with-namespace, which names them NAMESPACE-NAME, or --prefix TEXT; or declare them by hand"
            raise Refused(message, fix)
        return named

    def _entry(self, name: str, found: FoundCluster, naming: Naming) -> dict[str, Any]:
        """The entry of a new cluster, without what its group says already."""
        labels = {key: value for key, value in sorted(found.labels.items()) if key.startswith(naming.labels)}
        whole = {"environments": [self.environment], "kubeconfig": {found.kind: dict(found.kubeconfig)}}
        groups = dict.fromkeys(naming.groups)
        own: dict[str, Any] = {"group": next(iter(groups)) if len(groups) == 1 else list(groups)} if groups else {}
        inherited = self._inherited(name, own) if groups else {}
        same = _is_same(inherited.get("kubeconfig"), whole["kubeconfig"])
        if self.environment not in (inherited.get("environments") or ()):
            own["environments"] = whole["environments"]
        if self.is_one_of_several and inherited.get("management") != self.management:
            own["management"] = self.management
        if labels:
            own["labels"] = labels
        return own if same else {**own, "kubeconfig": whole["kubeconfig"]}

    def _inherited(self, name: str, naming_groups: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a cluster of the groups has without saying anything itself."""
        with_it = self.source.joined({**self.source.data, "clusters": {name: dict(naming_groups)}}, {})
        return mapping_at(grouped(with_it).source.data, "clusters", name)


_BY_SECRET = ("vcluster", "secret")
"""Kinds that are found by labels, which the author of an entry may have done without: their Secret decides."""


def _kubeconfig(written: Any) -> Kubeconfig | None:
    try:
        return Kubeconfig.model_validate(written)
    except ValidationError:
        return None  # `tenantry validate` reports it


def _is_same(written: Any, wanted: Any) -> bool:
    first, second = _kubeconfig(written), _kubeconfig(wanted)
    return bool(first and second and first.resolved == second.resolved)


def _place(kubeconfig: Kubeconfig) -> tuple[str, str, str]:
    """The Secret or ConfigMap: the same one is the same cluster, whatever key it is read from."""
    resolved = kubeconfig.resolved
    return type(resolved).__name__, resolved.namespace, resolved.name


def _kind(kubeconfig: Kubeconfig) -> str:
    return next(key for key in Kubeconfig.one_of if getattr(kubeconfig, key) is not None)
