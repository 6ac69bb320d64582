"""Questions to the real clusters, asked with an ordinary client."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
from lightkube import Client, KubeConfig
from lightkube.core.exceptions import ApiError
from lightkube.core.resource_registry import resource_registry
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.types import PatchType

from tests.e2e.credentials import Credentials
from tests.e2e.watch import PATIENCE, Manifest, changes, first

_T = TypeVar("_T")

KINDS = (
    ("", "v1", "ConfigMap", "configmaps"),
    ("", "v1", "Secret", "secrets"),
    ("", "v1", "ServiceAccount", "serviceaccounts"),
    ("", "v1", "ResourceQuota", "resourcequotas"),
    ("", "v1", "LimitRange", "limitranges"),
    ("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings"),
    ("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"),
    ("source.toolkit.fluxcd.io", "v1", "GitRepository", "gitrepositories"),
    ("source.toolkit.fluxcd.io", "v1", "OCIRepository", "ocirepositories"),
    ("source.toolkit.fluxcd.io", "v1", "Bucket", "buckets"),
    ("source.toolkit.fluxcd.io", "v1", "HelmRepository", "helmrepositories"),
    ("source.toolkit.fluxcd.io", "v1", "HelmChart", "helmcharts"),
    ("kustomize.toolkit.fluxcd.io", "v1", "Kustomization", "kustomizations"),
    ("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases"),
    ("notification.toolkit.fluxcd.io", "v1beta3", "Provider", "providers"),
    ("notification.toolkit.fluxcd.io", "v1beta3", "Alert", "alerts"),
    ("notification.toolkit.fluxcd.io", "v1", "Receiver", "receivers"),
    ("apps", "v1", "Deployment", "deployments"),
    ("apps", "v1", "StatefulSet", "statefulsets"),
    ("apps", "v1", "DaemonSet", "daemonsets"),
)
"""Every namespaced kind that the fleets yield, on whichever cluster."""


class Cluster:
    """One API server; manifests come back as plain data."""

    def __init__(self, kubeconfig: Path) -> None:
        self._credentials = Credentials.read(kubeconfig)
        self.client = Client(config=KubeConfig.from_file(kubeconfig), timeout=httpx2.Timeout(30))

    def close(self) -> None:
        self.client.close()

    def get(
        self, group: str, version: str, kind: str, plural: str, name: str, namespace: str = ""
    ) -> dict[str, Any] | None:
        resource = _resource(group, version, kind, plural, namespaced=bool(namespace))
        place = {"namespace": namespace} if namespace else {}
        return self._get(lambda: self.client.get(resource, name, **place))

    def names(self, group: str, version: str, kind: str, plural: str, namespace: str) -> list[str]:
        """The names of the objects of a kind in a namespace."""
        resource = _resource(group, version, kind, plural, namespaced=True)
        return [item.metadata.name for item in self.client.list(resource, namespace=namespace)]

    def apply(self, plural: str, manifest: dict[str, Any]) -> None:
        """Create an object, or bring it to this form."""
        group, _, version = manifest["apiVersion"].rpartition("/")
        namespaced = "namespace" in manifest["metadata"]
        resource = _resource(group, version, manifest["kind"], plural, namespaced=namespaced)
        self.client.apply(resource.from_dict(manifest), field_manager="e2e", force=True)

    def remove_namespaces(self, *names: str) -> None:
        """Delete namespaces with all in them at the same time, as each takes five seconds; return once they are gone."""
        resource = _resource("", "v1", "Namespace", "namespaces", namespaced=False)
        for name in names:
            self.client.delete(resource, name)
        self.wait_gone(*names)

    def remove(self, group: str, version: str, kind: str, plural: str, name: str) -> None:
        """Delete an object that lies in no namespace."""
        self.client.delete(_resource(group, version, kind, plural, namespaced=False), name)

    def annotate(self, group: str, version: str, kind: str, plural: str, name: str, namespace: str, key: str) -> None:
        """Give an annotation a new value."""
        resource = _resource(group, version, kind, plural, namespaced=True)
        patch = {"metadata": {"annotations": {key: str(time.time_ns())}}}
        self.client.patch(resource, name, patch, namespace=namespace, patch_type=PatchType.MERGE)

    def patch(self, kind: str, namespace: str, name: str, patch: dict[str, Any]) -> None:
        """Merge into an object of one of the kinds above."""
        self.client.patch(_known(kind), name, patch, namespace=namespace, patch_type=PatchType.MERGE)

    def create(self, manifest: dict[str, Any]) -> None:
        """Make an object of one of the kinds above."""
        self.client.create(_known(manifest["kind"]).from_dict(manifest))

    def delete(self, kind: str, namespace: str, name: str) -> None:
        self.client.delete(_known(kind), name, namespace=namespace)

    def find(self, kind: str, namespace: str, name: str) -> dict[str, Any] | None:
        """As `get`, for one of the kinds above."""
        return self._get(lambda: self.client.get(_known(kind), name, namespace=namespace))

    def reconcile(self, kind: str, namespace: str, name: str) -> None:
        """Have Flux look at an object now, as `flux reconcile` does."""
        group, version, _, plural = _row(kind)
        self.annotate(group, version, kind, plural, name, namespace, "reconcile.fluxcd.io/requestedAt")

    def reconciled(self, kind: str, namespace: str, name: str) -> None:
        """The same, and return once Flux has done it and calls the object ready."""
        self.reconcile(kind, namespace, name)
        found = self.find(kind, namespace, name)
        assert found is not None
        asked = found["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"]
        what = f"{kind} {namespace}/{name} to be applied again"
        self.until(kind, namespace, name, lambda now: now["status"].get("lastHandledReconcileAt") == asked, what)
        self.wait_ready(kind, namespace, name)

    def force(self, namespace: str, name: str) -> None:
        """Have a release installed again as it is, as `flux reconcile helmrelease --force` does."""
        now = str(time.time_ns())
        annotations = {"reconcile.fluxcd.io/requestedAt": now, "reconcile.fluxcd.io/forceAt": now}
        self.patch("HelmRelease", namespace, name, {"metadata": {"annotations": annotations}})

    def until(self, kind: str, namespace: str, name: str, answer: Callable[[Manifest], _T | None], what: str) -> _T:
        """What `answer` says of an object, once that is not empty; of an object that does not exist it says nothing."""
        return first(
            lambda: (found := self.find(kind, namespace, name)) and answer(found),
            lambda: changes(self._credentials, _collection(kind, namespace), name),
            what,
        )

    def wait_gone(self, *namespaces: str) -> None:
        """Return once none of the namespaces exists."""
        first(
            lambda: not {*namespaces} & self.namespaces(),
            lambda: changes(self._credentials, "/api/v1/namespaces"),
            f"{', '.join(namespaces)} to be gone",
        )

    def refused(self, kind: str, namespace: str, name: str, words: str = "") -> str:
        """Why an object is not ready, in Flux's words, once they hold these."""

        def message(found: Manifest) -> str | None:
            ready = _ready(found)
            said = str(ready.get("message", ""))
            return said if ready.get("status") == "False" and words.lower() in said.lower() else None

        return self.until(kind, namespace, name, message, f"{kind} {namespace}/{name} to be refused: {words}")

    def wait_ready(self, kind: str, namespace: str, name: str) -> None:
        """Return once Flux calls an object ready."""
        what = f"{kind} {namespace}/{name} to be ready"
        self.until(kind, namespace, name, lambda found: _ready(found).get("status") == "True", what)

    def wait_stored(self, namespace: str, *releases: str) -> None:
        """Return once Helm has stored what each release says at present."""

        def is_stored(found: Manifest) -> bool:
            observed = found.get("status", {}).get("observedGeneration")
            return _ready(found).get("status") == "True" and observed == found["metadata"]["generation"]

        for name in releases:
            self.until("HelmRelease", namespace, name, is_stored, f"Helm to have stored {namespace}/{name}")

    def wait_scaled(self, namespace: str, name: str, count: int) -> None:
        """Return once so many replicas of a Deployment are ready."""
        what = f"{count} replicas of {namespace}/{name}"
        self.until("Deployment", namespace, name, lambda found: found["status"].get("readyReplicas", 0) == count, what)

    def failure(self, kind: str, namespace: str, name: str) -> str | None:
        """Why an object is not ready, in Flux's words; None as long as it may still get ready."""
        ready = _ready(self.find(kind, namespace, name) or {})
        return str(ready.get("message", "")) if ready.get("status") == "False" else None

    def ready(self, kind: str, namespace: str, name: str) -> int | None:
        """How many replicas of a workload are ready; None if it does not exist."""
        workload = self.find(kind, namespace, name)
        return workload and workload.get("status", {}).get("readyReplicas", 0)

    def deployment(self, namespace: str, name: str) -> dict[str, Any] | None:
        return self.get("apps", "v1", "Deployment", "deployments", name, namespace)

    def namespaces(self) -> set[str]:
        resource = _resource("", "v1", "Namespace", "namespaces", namespaced=False)
        return {item.metadata.name for item in self.client.list(resource)}

    def fleet_objects(self) -> set[str]:
        """`Kind namespace/name` of everything of the kinds above that carries a label of the fleet."""
        return set(self.fleet_uids())

    def shared(self, kind: str, namespace: str, key: str) -> str:
        """The name of a source or chart that clusters share, of which the key is known and not the digits."""
        first = f"{kind} {namespace}/"
        names = [each.removeprefix(first) for each in self.fleet_objects() if each.startswith(first)]
        (found,) = (name for name in names if name.rpartition(".")[0] == key)
        return found

    def fleet_uids(self, environment: str | None = None) -> dict[str, str]:
        """The same of one environment or all, with the uid: it tells an object from a new one of the same name."""
        return dict(self._labelled("tenantry/environment", environment))

    def _labelled(self, label: str, value: str | None = None) -> Iterator[tuple[str, str]]:
        for group, version, kind, plural in KINDS:
            resource = _resource(group, version, kind, plural, namespaced=True)
            for item in eventually(
                lambda resource=resource: self._list(resource, label, value), f"{plural} to be listed"
            ):
                yield f"{kind} {item.metadata.namespace}/{item.metadata.name}", item.metadata.uid

    def _list(self, resource: Any, label: str, value: str | None) -> Iterable[Any] | None:
        """What carries a label, with this value or any.

        None: the server has just learned of the kind, and wants to be asked again.
        """
        try:
            return iter(list(self.client.list(resource, namespace="*", labels={label: value})))
        except httpx2.HTTPStatusError as error:
            # A remote cluster has none of Flux's kinds.
            if error.response.status_code == 404:
                return iter(())
            if error.response.status_code == 429:
                return None
            raise

    @staticmethod
    def _get(call: Callable[[], Any]) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = call().to_dict()
            return found
        except ApiError as error:
            if error.status.code == 404:
                return None
            raise


def cluster_of(project: str, name: str) -> Any:
    """A fixture of a module: a cluster of the project that another fixture gives."""

    def cluster(**given: Any) -> Iterator[Cluster]:
        with closing(Cluster(given[project].kubeconfig(name))) as opened:
            yield opened

    parameter = inspect.Parameter(project, inspect.Parameter.KEYWORD_ONLY)
    cluster.__signature__ = inspect.Signature([parameter])  # type: ignore[attr-defined]
    return pytest.fixture(scope="module")(cluster)


def _ready(manifest: Manifest) -> dict[str, Any]:
    """The condition Ready; empty before there is one."""
    conditions = manifest.get("status", {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == "Ready"), {})


def _collection(kind: str, namespace: str) -> str:
    group, version, _, plural = _row(kind)
    return f"/{f'apis/{group}' if group else 'api'}/{version}/namespaces/{namespace}/{plural}"


def _known(kind: str) -> Any:
    """The client's class for one of the kinds above."""
    group, version, _, plural = _row(kind)
    return _resource(group, version, kind, plural, namespaced=True)


def _row(kind: str) -> tuple[str, str, str, str]:
    return next(each for each in KINDS if each[2] == kind)


def _resource(group: str, version: str, kind: str, plural: str, *, namespaced: bool) -> Any:
    """The client's class for a kind; there can be only one, and it has its own for Kubernetes' kinds."""
    known = resource_registry.get(f"{group}/{version}" if group else version, kind)
    create = create_namespaced_resource if namespaced else create_global_resource
    return known or create(group, version, kind, plural)


POLL = 0.2


def eventually(ask: Callable[[], _T | None], what: str) -> _T:
    """The first answer that is not empty, where no API server tells the changes: as `first`, but asked every `POLL` seconds.

    A question that takes longer, as a command does, is followed by as long a pause: what is waited for needs the processor too.
    """
    end = time.monotonic() + PATIENCE
    while True:
        asked = time.monotonic()
        if answer := ask():
            return answer
        assert time.monotonic() < end, f"waited {PATIENCE} s for {what}"
        time.sleep(max(POLL, time.monotonic() - asked))
