"""Sources (GitRepository, HelmRepository) and the charts taken from them (HelmChart)."""

from __future__ import annotations

import re
from typing import Any

from tenantry import names
from tenantry.errors import Finding, Found, Path
from tenantry.kube import KubeObject, ObjectId
from tenantry.model import Git, Helm, HelmRepository, Source
from tenantry.objects.scope import Scope

API = "source.toolkit.fluxcd.io/v1"

_GIT_URL = re.compile(r"(https?|ssh)://\S+")
_PASSWORD = re.compile(r"[a-z]+://[^/@\s]*:[^/@\s]*@.*")
_HELM_URL = re.compile(r"(https?|oci)://\S+")


def source_object(scope: Scope, name: str, source: Source, at: Path) -> KubeObject:
    """The source as declared at a path of the document, in the scope's home. Raises: Found: its URL is not one Flux takes."""
    kind, declared = ("git", source.git) if source.git else ("helm", source.helm)
    if declared and _PASSWORD.match(declared.url):
        message = "the URL holds a password, which everyone who reads the file or the plan could see"
        raise Found(
            [Finding((*at, kind, "url"), "secret-in-url", message, fix="remove it from the URL, and revoke it")]
        )
    if source.git:
        return _git(scope, name, source.git, (*at, "git"))
    assert source.helm is not None
    return _helm(scope, name, source.helm, (*at, "helm"))


def _git(scope: Scope, name: str, git: Git, at: Path) -> KubeObject:
    if not _GIT_URL.fullmatch(git.url):
        raise Found([_bad_url(at, git.url, "http://, https:// or ssh:// (not user@host:path)")])
    return _source(scope, "GitRepository", name, git.model_dump(exclude_none=True))


def _helm(scope: Scope, name: str, helm: HelmRepository, at: Path) -> KubeObject:
    if not _HELM_URL.fullmatch(helm.url):
        raise Found([_bad_url(at, helm.url, "http://, https:// or oci://")])
    if helm.url.startswith("oci://") != (helm.type == "oci"):
        wanted = "oci" if helm.type != "oci" else "default"
        message = f"the URL '{helm.url}' does not go with type '{helm.type}'"
        raise Found([Finding((*at, "url"), "bad-url", message, fix=f"set 'type: {wanted}', or correct the URL")])
    return _source(scope, "HelmRepository", name, helm.model_dump(exclude_none=True))


def _source(scope: Scope, kind: str, name: str, spec: dict[str, Any]) -> KubeObject:
    # On the management cluster the namespace is the fleet's to create, so it comes first.
    return scope.object(API, kind, name, {"spec": spec}, depends_on=scope.base[:1] if scope.kubeconfig is None else ())


def chart_object(scope: Scope, source: KubeObject, source_name: str, helm: Helm, interval: str) -> KubeObject:
    """The HelmChart a release takes; releases of the same source, chart and version in one scope share it.

    The plan owns it, because the one that helm-controller would make itself stays behind when a suspended release goes.
    """
    wanted: dict[str, Any] = {"chart": helm.chart}
    if helm.version is not None:
        wanted["version"] = helm.version
    if helm.valuesFiles:
        wanted["valuesFiles"] = helm.valuesFiles
    if source.id.kind == "GitRepository":
        # A chart in Git seldom gets a new version with each commit.
        wanted["reconcileStrategy"] = "Revision"
    key = names.join(source_name, names.slug(helm.chart.rsplit("/", 1)[-1]), names.digest(wanted))
    spec = {**wanted, "interval": interval, "sourceRef": {"kind": source.id.kind, "name": source.id.name}}
    return scope.object(API, "HelmChart", key, {"spec": spec}, depends_on=(source.id,))


def reference(id: ObjectId) -> dict[str, str]:
    """A `sourceRef` or `chartRef` to an object of the same namespace."""
    return {"kind": id.kind, "name": id.name}


def _bad_url(at: Path, url: str, wanted: str) -> Finding:
    return Finding((*at, "url"), "bad-url", f"'{url}' is not a URL that Flux takes here", (f"wanted: {wanted}",))
