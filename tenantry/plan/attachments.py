"""The Secrets and ConfigMaps that sources and apps of one scope name: looked up by declared name, created where they are used.

On the management cluster they keep their declared names, in the tenant's own namespace. Next to a remote cluster's kubeconfig
their names are joined with dots, which no other name there contains. So nothing that a tenant declares can be mistaken for
another tenant's Secret. The platform's have two parts there, or four where several environments have some on a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.rules.references import undeclared
from tenantry.fleet.template import fill
from tenantry.flux.references import Kind, Reference, references, renamed
from tenantry.grants.authors import GROUPS
from tenantry.kube.objects import KubeObject, ObjectId, SecretValues
from tenantry.messages.errors import AlreadyTold, Finding, Found, Path, raise_found
from tenantry.model import Config, Credentials
from tenantry.plan.objects.scope import WATCHED, Scope, check_size

_REGISTRY_KEYS = ("password", "username")


class Attachments:
    """Gives objects of one scope the names of what they refer to; `made` are the objects this needs."""

    def __init__(self, fleet: Fleet, scope: Scope, variables: Mapping[str, str]) -> None:
        self.made: dict[ObjectId, KubeObject] = {}
        self._fleet = fleet
        self._scope = scope
        self._variables = variables

    def bound(self, planned: KubeObject, origin: Callable[[Path], Path] | None = None) -> KubeObject:
        """The object with the names of Secrets and ConfigMaps as the cluster knows them, and after those.

        Args:   origin: where the author wrote the value at a path of the spec. Needed where a placeholder may stand for
                the kind of a reference, because then no rule could look at it.
        Raises: Found: something is not declared, or cannot be filled in; AlreadyTold: a rule has named it.
        """
        spec = planned.manifest["spec"]
        needed = tuple(self._needed(each, origin) for each in references(planned.id.kind, spec))
        if not needed:
            return planned
        manifest = {**planned.manifest, "spec": renamed(planned.id.kind, spec, self._name)}
        made = (object.id for object in needed if object)
        return replace(planned, manifest=manifest, depends_on=(*planned.depends_on, *dict.fromkeys(made)))

    def _needed(self, reference: Reference, origin: Callable[[Path], Path] | None) -> KubeObject | None:
        """The object to create for a reference; None: it is created elsewhere."""
        kind, name = reference.kind, reference.name
        at = self._place(GROUPS[kind], name)
        declared = self._declared(GROUPS[kind]).get(name)
        if declared is None or at in self._fleet.left_out:
            if origin:
                raise_found(undeclared(self._fleet, origin(reference.path), GROUPS[kind], name))
            raise AlreadyTold(f"{GROUPS[kind]} '{name}'")
        self._refuse_kubeconfig(kind, name, at)
        if declared.existing:
            return None
        object = self._secret(name, declared) if isinstance(declared, Credentials) else self._config(name, at)
        return self.made.setdefault(object.id, object)

    def _declared(self, group: str) -> Mapping[str, Credentials | Config]:
        document = self._fleet.document
        owner = document.tenants[self._scope.tenant] if self._scope.tenant else document.platform
        declared: Mapping[str, Credentials | Config] = getattr(owner, group)
        return declared

    def _place(self, group: str, name: str) -> Path:
        return ("tenants", self._scope.tenant, group, name) if self._scope.tenant else ("platform", group, name)

    def _secret(self, name: str, declared: Credentials) -> KubeObject:
        tenant = self._scope.tenant
        path = ("credentials", tenant, name) if tenant else ("platformCredentials", name)
        if declared.registry:
            values = SecretValues(path, _REGISTRY_KEYS, declared.registry)
            return self._object("Secret", name, {"type": "kubernetes.io/dockerconfigjson"}, values)
        return self._object("Secret", name, {"type": "Opaque"}, SecretValues(path, tuple(sorted(declared.keys or ()))))

    def _config(self, name: str, at: Path) -> KubeObject:
        written = self._fleet.raw(*map(str, at), "data")
        made = self._object("ConfigMap", name, {"data": fill(written, self._variables, (*at, "data"))})
        check_size(made, at)
        return made

    def _object(self, kind: Kind, name: str, body: dict[str, Any], values: SecretValues | None = None) -> KubeObject:
        scope = self._scope
        object = scope.object("v1", kind, name, body, depends_on=scope.made_home)
        metadata = {**object.manifest["metadata"], "name": self._name(kind, name)}
        metadata["labels"] = {**metadata["labels"], **WATCHED}
        return replace(object, manifest={**object.manifest, "metadata": metadata}, secret=values)

    def _name(self, _: Kind, name: str) -> str:
        first = self._scope.prefix if self._scope.attached is None else self._scope.attached
        return ".".join((*first, name))

    def _refuse_kubeconfig(self, kind: Kind, name: str, at: Path) -> None:
        """A tenant's chart must never receive the kubeconfig of a cluster."""
        resolved = (self._scope.home, self._name(kind, name))
        for cluster, declared in self._fleet.clusters.items():
            if declared.kubeconfig:
                kubeconfig = declared.kubeconfig.resolved
                if (kubeconfig.namespace, kubeconfig.name) == resolved:
                    message = (
                        f"'{name}' would be {kind} '{resolved[1]}', through which Flux reaches cluster '{cluster}'"
                    )
                    raise Found([Finding(at, "kubeconfig-secret", message, fix="rename it", at_key=True)])
