"""The sources of one scope, each built once, with the Secrets and ConfigMaps that sources and apps name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tenantry.fleet.apps import EffectiveApp, source_layers, source_origin, source_place
from tenantry.fleet.fleet import Fleet, environment_part
from tenantry.fleet.merge import Layer, merge
from tenantry.fleet.names import GROUPS, undeclared_name
from tenantry.fleet.settings import resolved_once
from tenantry.fleet.walk import owner_of
from tenantry.flux.references import Kind, Reference, references, renamed
from tenantry.grants.wall import Wall
from tenantry.kube.objects import KubeObject, ObjectId, Owner, SecretValues
from tenantry.messages.errors import AlreadyReported, InvalidPart, Path, Problem, raise_invalid
from tenantry.messages.placeholders import Variables, fill
from tenantry.model import SOURCE_KINDS, Config, Credentials, Helm, Source
from tenantry.plan.objects.apps import source_object
from tenantry.plan.objects.scope import WATCHED, Scope, check_length, check_size
from tenantry.plan.shared import is_platforms, key_of_address, shared

_REGISTRY_KEYS = ("password", "username")


class Attachments:
    """Gives objects of one scope the names of what they refer to; `made` are the objects this needs."""

    def __init__(self, fleet: Fleet, scope: Scope, variables: Variables) -> None:
        self.made: dict[ObjectId, KubeObject] = {}
        self._fleet = fleet
        self._scope = scope
        self._variables = variables

    def bound(self, planned: KubeObject, origin: Callable[[Path], Path] | None = None) -> KubeObject:
        """The object with the names of Secrets and ConfigMaps as the cluster knows them, and after those.

        Args:   origin: where the author wrote the value at a path of the spec. Needed where a placeholder may stand for
                the kind of a reference, because then no rule could look at it.
        Raises: InvalidPart: something is not declared, or cannot be filled in; AlreadyReported: a rule has named it.
        """
        spec = planned.manifest["spec"]
        needed = tuple(self._needed(reference, origin) for reference in references(planned.id.kind, spec))
        if not needed:
            return planned
        manifest = {**planned.manifest, "spec": renamed(planned.id.kind, spec, self._name)}
        made = (object.id for object in needed if object)
        return replace(planned, manifest=manifest, depends_on=(*planned.depends_on, *dict.fromkeys(made)))

    def _needed(self, reference: Reference, origin: Callable[[Path], Path] | None) -> KubeObject | None:
        """The object to create for a reference; None: it is created elsewhere."""
        kind, name, group = reference.kind, reference.name, GROUPS[reference.kind]
        owner = self._scope.at
        at, written = (*owner, group, name), getattr(owner_of(self._fleet, owner), group)
        declared: Credentials | Config | None = written.get(name)
        if declared is None or at in self._fleet.left_out:
            if origin:
                raise_invalid(undeclared_name(self._fleet, origin(reference.path), group, name, owner))
            raise AlreadyReported(f"{group} '{name}'")
        self._refuse_kubeconfig(kind, name, at)
        if declared.existing:
            return None
        if isinstance(declared, Credentials):
            object = self._secret(name, declared)
        else:
            data = fill(self._fleet.raw(*at, "data"), self._variables, (*at, "data"))
            object = self._object("ConfigMap", name, {"data": data})
            check_size(object, at)
        return self.made.setdefault(object.id, object)

    def _secret(self, name: str, declared: Credentials) -> KubeObject:
        tenant = self._scope.tenant
        path = ("credentials", tenant, name) if tenant else ("platformCredentials", name)
        if declared.registry:
            values = SecretValues(path, _REGISTRY_KEYS, declared.registry)
            return self._object("Secret", name, {"type": "kubernetes.io/dockerconfigjson"}, values)
        return self._object("Secret", name, {"type": "Opaque"}, SecretValues(path, tuple(sorted(declared.keys or ()))))

    def _object(self, kind: Kind, name: str, body: dict[str, Any], values: SecretValues | None = None) -> KubeObject:
        scope = self._scope
        if kind == "Secret" and scope.common:
            scope = replace(scope, cluster="", owner=Owner(scope.tenant))
        object = scope.object("v1", kind, name, body, depends_on=scope.made_home)
        metadata = {**object.manifest["metadata"], "name": self._name(kind, name)}
        metadata["labels"] = {**metadata["labels"], **WATCHED}
        return replace(object, manifest={**object.manifest, "metadata": metadata}, secret=values)

    def _name(self, kind: Kind, name: str) -> str:
        """Clusters share a Secret, whose values they have in common. A ConfigMap may hold something else on each."""
        scope = self._scope
        first = scope.prefix if scope.attached is None else scope.attached
        return ".".join((*((kind == "Secret" and scope.common) or first), name))

    def _refuse_kubeconfig(self, kind: Kind, name: str, at: Path) -> None:
        """A tenant's chart must never receive the kubeconfig of a cluster."""
        resolved, clusters = (self._scope.home, self._name(kind, name)), self._fleet.clusters

        def kubeconfigs() -> dict[tuple[str, str], str]:
            """The first cluster of each kubeconfig, by the namespace and the name of what holds it."""
            ways = [(key, cluster.kubeconfig.resolved) for key, cluster in clusters.items() if cluster.kubeconfig]
            return {(way.namespace, way.name): key for key, way in reversed(ways)}

        if cluster := self._fleet.once(("kubeconfigs",), (), kubeconfigs).get(resolved):
            message = f"'{name}' would be {kind} '{resolved[1]}', through which Flux reaches cluster '{cluster}'"
            raise InvalidPart([Problem(at, "kubeconfig-secret", message, fix="rename it", at_key=True)])


def charts_of(scope: Scope, apps: Iterable[EffectiveApp]) -> dict[str, str]:
    """The sources that releases take, each with the first app that does."""
    charts: dict[str, str] = {}
    for app in apps:
        if isinstance(app.block, Helm) and (source := app.block.source or ("" if scope.tenant else app.name)):
            charts.setdefault(source, app.name)
    return charts


def place_in_source(layers: Sequence[Layer], block: Path, path: Path) -> Path:
    """Where a source says what its spec has at a path. Args: block: of the key with its kind."""
    place = (*block[:-1], "credentials") if path[0] == "secretRef" else (*block, *path)
    return source_origin(layers, place)


@dataclass(slots=True)
class SourceSet:
    """What is `built` has passed all checks, and lies behind what it needs in `_add`, which is given every object once.

    _charts: the sources that releases take.
    """

    _fleet: Fleet
    _scope: Scope
    _variables: Variables
    _attachments: Attachments
    _charts: Collection[str]
    _wall: Wall
    _add: Callable[[KubeObject], None]
    built: dict[str, KubeObject] = field(default_factory=dict)
    _being_built: list[str] = field(default_factory=list)

    def get(self, name: str) -> KubeObject:
        """The object of a source.

        Raises: InvalidPart: it cannot be planned; AlreadyReported: it is not declared, or wrong as it is written.
        """
        if name not in self.built:
            self._being_built.append(name)
            try:
                self.built[name] = self._build(name)
            finally:
                self._being_built.pop()
        return self.built[name]

    def _build(self, name: str) -> KubeObject:
        at = self._path(name)
        if at in self._fleet.left_out or not self._fleet.raw(*at):
            raise AlreadyReported(f"source '{at[-1]}'")
        layers = source_layers(self._fleet, at, self._scope.environment, self._scope.cluster)
        source = self._declared(at, layers)
        block = (*at, source.kind)
        scope, is_chart = self.scope_of(name), name in self._charts

        def checked() -> KubeObject:
            planned = source_object(scope, name, source, at, is_chart=is_chart)
            check_size(planned, at)
            self._wall.refuse(planned.id.kind, planned.manifest["spec"], partial(place_in_source, layers, block))
            return planned

        def bound() -> tuple[KubeObject, dict[ObjectId, KubeObject]]:
            attachments = Attachments(self._fleet, self._scope, self._variables)
            platforms = is_platforms(self._fleet, self._scope, name, planned)
            key = name if self._scope.tenant else key_of_address(source)
            made = shared(self._fleet, self._scope, attachments.bound(whole), key, platforms=platforms)
            check_length(made, at)
            return made, attachments.made

        try:
            planned = self._wall.once(("source", at, is_chart, *scope.together), (source,), checked)
            whole = self._with_included(planned, block)
            made, attached = self._fleet.once(("shared source",), (whole,), bound)
        except InvalidPart as found:
            raise InvalidPart(
                replace(finding, path=source_origin(layers, finding.path)) for finding in found.findings
            ) from None
        self._attachments.made.update(attached)
        self._add(made)
        return made

    def scope_of(self, name: str) -> Scope:
        """The scope of a source and of its charts: add-ons of an environment share a source of the platform, whatever theirs is."""
        if self._path(name)[:2] != ("platform", "sources") or self._scope.kubeconfig:
            return self._scope
        return replace(self._scope, prefix=environment_part(self._fleet, self._scope.environment, self._scope.cluster))

    def _path(self, name: str) -> tuple[str, ...]:
        if tenant := self._scope.tenant:
            return source_place(("tenants", tenant), name)
        # No source of the platform has the name of an add-on.
        addon = ("platform", "addons", name)
        return source_place(addon, None if self._fleet.raw(*addon) else name)

    def _declared(self, at: tuple[str, ...], layers: Sequence[Layer]) -> Source:
        """What layers say of the source at a path. Raises: AlreadyReported: two of them disagree of its kind."""
        paths = tuple(layer.path for layer in layers)
        if len(self._fleet.once(("kinds", paths), (), lambda: merge(layers).keys() & SOURCE_KINDS.keys())) > 1:
            raise AlreadyReported(f"an override of source '{at[-1]}'")
        return resolved_once(self._fleet, layers, Source, self._variables)

    def _with_included(self, planned: KubeObject, at: Path) -> KubeObject:
        """A Git source with the names of the objects of those it includes, and after them."""
        spec = planned.manifest["spec"]
        if not spec.get("include") or planned.id.kind != "GitRepository":
            return planned
        included = [self._included(entry, (*at, "include", index)) for index, entry in enumerate(spec["include"])]
        entries = [
            {"toPath": entry["repository"]["name"], **entry, "repository": {"name": object.id.name}}
            for entry, object in zip(spec["include"], included, strict=True)
        ]
        manifest = {**planned.manifest, "spec": {**spec, "include": entries}}
        return replace(
            planned, manifest=manifest, depends_on=(*planned.depends_on, *(source.id for source in included))
        )

    def _included(self, entry: dict[str, Any], at: Path) -> KubeObject:
        name = entry["repository"]["name"]
        if name in self._being_built:
            chain = " -> ".join([*self._being_built[self._being_built.index(name) :], name])
            raise InvalidPart(
                [Problem(at, "dependency-cycle", f"sources include each other: {chain}", fix="remove one of them")]
            )
        return self.get(name)
