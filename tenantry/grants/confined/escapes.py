"""Whether a plan is confined: nothing of a tenant that has a team's file reaches what the main file does not give it.

This checks the planner, so it shares nothing with it. It asks the frame, which is the fleet as the main file alone declares it,
with the merged grants, and judges planned objects by what they say themselves.

Called by: `load`, for every plan of a fleet with team files.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from tenantry.fleet.fleet import Fleet
from tenantry.grants.confined import checks
from tenantry.grants.confined.place import APP, CLUSTER, ENVIRONMENT, SOURCE, TENANT, Place, Planned
from tenantry.grants.fields import BASELINE, OBJECT, OF_FLUX, OF_KUBERNETES
from tenantry.kube.names import MAX_LABEL, shortened
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, is_of_flux, labels_of
from tenantry.kube.values import gives_all
from tenantry.messages.data import Tree, mapping_at, mappings_in, value_at, written
from tenantry.messages.placeholders import fill_manifest


def escapes(
    frame: Fleet, environment: str, objects: Iterable[KubeObject], adopting: Iterable[str], at_once: Iterable[str]
) -> Iterator[str]:
    """Everything by which a tenant with a team's file leaves its frame, in words; nothing if the plan is confined.

    adopting: the tenants that take over what exists. at_once: the apps, as `tenant/app`, that keep out of the waves.
    """
    plan = Planned(frame, environment, tuple(objects))
    for planned in plan.objects:
        # The planner may have left the label out.
        tenant = str(labels_of(planned.manifest).get(TENANT) or planned.owner.tenant)
        if tenant in frame.source.fills:
            yield from (f"{planned.id} of tenant '{tenant}' {problem}" for problem in _problems(plan, planned, tenant))
    for tenant in adopting:
        if tenant in frame.source.fills and not frame.document.tenants[tenant].adopt:
            yield f"tenant '{tenant}' takes over objects that exist already"
    for name in at_once:
        tenant, _, app = name.partition("/")
        if tenant in frame.source.fills and "waves" not in frame.raw("tenants", tenant, "apps", app):
            yield f"app '{name}' does not keep to the waves of its environment"


def _problems(plan: Planned, planned: KubeObject, tenant: str) -> list[str]:
    labels = labels_of(planned.manifest)
    known = labels.get(TENANT) == tenant and labels.get(ENVIRONMENT) == plan.environment
    if not known or tenant not in plan.fleet.document.tenants:
        return ["is of an environment or a tenant that the main file does not have here"]
    problems = ["is for no cluster of the environment"]
    for cluster in plan.clusters_of(planned, labels):
        place = plan.place(tenant, cluster)
        # Apps may run as an account of the tenant wherever the tenant is.
        misplaced = place.misplaced(labels.get(APP, "")) if planned.id.kind != "ServiceAccount" else ()
        problems = [*misplaced, *Object(plan, place, planned.manifest, planned.depends_on).problems()]
        # What clusters share has one of them that gives it.
        if not problems:
            break
    return problems


_NAMED = ("kubeConfig", "dependsOn", "sourceRef", "chartRef")
"""Fields of a spec that say nothing but names of what is on the management cluster for one cluster."""
_NAMING = ("decryption", "postBuild", "valuesFrom")
"""Fields that have such names beside other things."""
_APPLYING = ("Kustomization", "HelmRelease", BASELINE)
_FETCHED = ("GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket")
_GROUPS = {
    "Secret": "credentials",
    "ConfigMap": "configs",
    "Receiver": "receivers",
    **dict.fromkeys(("Alert", "Provider"), "alerts"),
    **dict.fromkeys(("Kustomization", "HelmRelease"), "apps"),
    **dict.fromkeys(_FETCHED, "sources"),
}
"""Under which key of a tenant the entries stand for which there are objects of a kind."""


class Object:
    """An object of the plan at its place, or one that the baseline of a remote cluster installs there.

    is_beside: whether it is on the management cluster, beside the kubeconfig of another one.
    """

    def __init__(self, plan: Planned, place: Place, manifest: Manifest, depends_on: Iterable[ObjectId] = ()) -> None:
        self.plan, self.place, self.manifest, self.depends_on = plan, place, manifest, depends_on
        self.name, self.namespace = manifest["metadata"]["name"], manifest["metadata"].get("namespace", "")
        self.labels = labels_of(manifest)
        self.app = self.labels.get(APP, "")
        self.is_flux = is_of_flux(manifest["apiVersion"])
        self.is_beside = place.kubeconfig is not None
        is_baseline = manifest["kind"] == "HelmRelease" and not self.app and self.is_beside
        self.kind: str = BASELINE if is_baseline else manifest["kind"]

    def installed(self, manifest: Manifest) -> Object:
        """An object that this one, the baseline of a remote cluster, installs there."""
        object = Object(self.plan, self.place, manifest)
        object.is_beside, object.kind = False, manifest["kind"]
        return object

    def problems(self) -> Iterator[str]:
        """Why the object is not confined, as words behind its name."""
        if self.declared is None or self.namespace:
            yield from self._location()
        if self.declared is not None:
            if _body(self.manifest) != _body(self.declared):
                yield "is not as the main file declares it"
            if not self.place.declared.clusterAdmin and gives_all(mappings_in(self.manifest.get("rules"))):
                yield "leads to all rights"
            yield from self._walk(OBJECT, {"metadata": self.manifest["metadata"]})
        elif tree := (OF_FLUX if self.is_flux else OF_KUBERNETES).get(self.kind):
            alike = self._alike() if self.is_beside and self.kind in _APPLYING else None
            if alike in self.plan.sound and self._names_are_right(tree["spec"]):
                return
            problems = [*self._walk(tree, self.manifest), *self._values()]
            if alike is not None and not problems:
                self.plan.sound.add(alike)
            yield from problems
        else:
            yield "is of a kind of which no tenant has any"

    def _values(self) -> Iterator[str]:
        for path, *accepted in checks.values(self):
            if value_at(self.manifest, path) not in accepted:
                yield f"has another {'.'.join(path)} than the main file gives"

    def _alike(self) -> Hashable:
        """Equal for objects of one entry that differ only in what `_names_are_right` looks at, and in the values of a chart."""
        spec = {key: value for key, value in self.manifest["spec"].items() if key not in _NAMED}
        if self.kind == BASELINE:
            values = mapping_at(spec, "values")
            spec["values"] = {**values, "objects": [*map(_of_no_cluster, values.get("objects", ()))]}
        elif isinstance(spec.get("values"), Mapping):
            spec["values"] = {}
        manifest = _of_no_cluster({**self.manifest, "spec": spec})
        metadata = {key: value for key, value in manifest["metadata"].items() if key != "name"}
        entry = self.entry(self.kind, self.name, self.labels)
        return (self.kind, entry, *self.place.alike, written({**manifest, "metadata": metadata}))

    def _names_are_right(self, tree: Tree) -> bool:
        """Whether the same finds nothing in what tells such objects apart: the cluster, and names. Args: tree: of the spec."""
        spec, is_baseline = self.manifest["spec"], self.kind == BASELINE
        installed = mapping_at(spec, "values").get("objects", ()) if is_baseline else ()
        named = {key: spec[key] for key in (*_NAMED, *_NAMING) if key in spec}
        return (
            spec.get("kubeConfig") == self.place.kubeconfig_reference
            and all(
                labels_of(manifest).get(CLUSTER, self.place.cluster) == self.place.cluster for manifest in installed
            )
            and not any(self._walk(tree, named, "spec."))
            and not (is_baseline and any(checks.unawaited(self, spec)))
        )

    def _walk(self, tree: Tree, mapping: Mapping[str, Any], at: str = "") -> Iterator[str]:
        for key, value in mapping.items():
            if key not in tree:
                yield f"fills {at}{key}, a field that no tenant may fill"
                continue
            check = checks.CHECKS.get(f"{self.kind}.{key}") or checks.CHECKS.get(key)
            for entry in _entries(value):
                if bool(tree[key]) != isinstance(entry, Mapping):
                    yield f"has a value of another shape in {at}{key}"
                    continue
                if check:
                    yield from (f"{problem} in {at}{key}" for problem in check(self, key, entry))
                if tree[key] and "*" not in tree[key]:
                    yield from self._walk(tree[key], entry, f"{at}{key}.")

    def _location(self) -> Iterator[str]:
        place, plan = self.place, self.plan
        if self.kind == "Namespace":
            if not plan.is_own(place, self.name):
                yield "is none of the tenant's namespaces"
            if owners := plan.claims.get(self.name, set()) - {place.tenant}:
                yield f"belongs to {', '.join(sorted(owners))} too"
            if plan.is_reserved(self.name):
                yield "is reserved"
        elif self.is_beside:
            whole = shortened(f"{place.cluster}-{place.namespace}-{self.app or 'baseline'}", MAX_LABEL)
            own = place.namespace if self.kind == "ServiceAccount" else whole
            if self.namespace != place.home or not (self.name == own or self.name.startswith(place.prefixes)):
                yield "is not beside the kubeconfig of its cluster under a name of the tenant"
        elif self.is_flux:
            if self.namespace != place.home:
                yield "is not in the namespace of the tenant"
        elif not plan.is_own(place, self.namespace) and self.kind not in ("ClusterRole", "ClusterRoleBinding"):
            yield "is in no namespace of the tenant"

    @cached_property
    def declared(self) -> Manifest | None:
        """The object as the main file itself writes it, filled in; None: it does not. Objects of Flux it cannot write."""
        place, namespace = self.place, self.namespace
        if self.is_flux:
            return None
        written = place.settings(namespace).objects if namespace else place.frame.cluster_objects
        account = {"account": f"system:serviceaccount:{place.home}:{place.account}"} if namespace else {}
        for key, declared_object in written.items():
            if (declared_object["apiVersion"], declared_object["kind"]) == (
                self.manifest["apiVersion"],
                self.manifest["kind"],
            ):
                filled = fill_manifest(
                    declared_object, {**place.variables, "namespace": namespace or place.namespace, **account}, ()
                )
                if (mapping_at(filled, "metadata").get("name") or key) == self.name:
                    return filled
        return None

    @cached_property
    def is_teams(self) -> bool:
        """Whether the team's file declares what the object stands for. The release of a chart answers for the chart."""
        if self.kind == "HelmChart":
            return False
        return not self.is_declared("apps" if self.app else self.kind, self.entry(self.kind, self.name, self.labels))

    def is_declared(self, kind: str, entry: str) -> bool:
        """Whether the main file has the entry of the tenant for which an object of a kind stands."""
        return self.place.declares(_GROUPS.get(kind, kind), entry)

    def entry(self, kind: str, name: str, labels: Mapping[str, str]) -> str:
        """What the file calls the entry that an object beside this one stands for."""
        if APP in labels or SOURCE in labels:
            return str(labels.get(APP) or labels.get(SOURCE))
        if not self.is_beside:
            return name
        rest = next((name.removeprefix(prefix) for prefix in self.place.prefixes if name.startswith(prefix)), "")
        return rest.partition(".")[0] if kind in (*_FETCHED, "Alert", "Provider") else rest


def _of_no_cluster(manifest: Manifest) -> Manifest:
    """The manifest with nothing in place of its cluster's name among its labels."""
    labels = labels_of(manifest)
    if CLUSTER not in labels:
        return manifest
    return {**manifest, "metadata": {**manifest["metadata"], "labels": {**labels, CLUSTER: ""}}}


def _entries(value: Any) -> Iterator[Any]:
    """The entries of a list, also of lists in it; of everything else the value itself."""
    if isinstance(value, list):
        for inner in value:
            yield from _entries(inner)
    else:
        yield value


def _body(value: Any, left_out: str = "metadata") -> Any:
    """A manifest without its metadata, with text for each scalar."""
    if isinstance(value, Mapping):
        return {key: _body(inner, "") for key, inner in value.items() if key != left_out}
    return [_body(inner, "") for inner in value] if isinstance(value, list) else str(value)
