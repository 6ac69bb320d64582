"""The fleets that are measured."""

from __future__ import annotations

from pathlib import Path

_HEAD = """\
apiVersion: tenantry/v1
environments: {{prod: {{management: hub}}}}
clusters:
  hub: {{environments: [prod]}}
{clusters}platform: {{chart: {{helm: {{url: "https://charts.example.com", version: 0.3.0}}}}}}
defaults: {{clusters: {{names: [hub]}}}}
tenants:
"""
_EDGE = """\
  edge: {environments: [prod], kubeconfig: {capi: {cluster: edge, namespace: capi}}}
"""

_TENANT = """\
  team-{0}:
    sources:
      manifests: {{git: {{url: "https://git.example.com/{0}/manifests", ref: {{branch: main}}}}}}
    apps:
      api: {{kustomize: {{source: manifests, path: "./api/{{env}}"}}, clusters: {{all: true}}}}
      web: {{kustomize: {{source: manifests, path: "./web/{{env}}"}}, dependsOn: [api]}}
"""

_SMALL_TENANT = """\
  team-{0}:
    quota: {{pods: 40}}
    sources:
      manifests: {{git: {{url: "https://git.example.com/{0}/manifests", ref: {{branch: main}}}}}}
    apps:
      api: {{kustomize: {{source: manifests, path: "./api/{{env}}"}}}}
      web: {{kustomize: {{source: manifests, path: "./web/{{env}}"}}, dependsOn: [api]}}
      jobs: {{kustomize: {{source: manifests, path: "./jobs/{{env}}"}}}}
      cache: {{kustomize: {{source: manifests, path: "./cache/{{env}}"}}}}
"""

OBJECTS_OF_A_TENANT = 11
"""Of `text_of`."""
APPS_OF_A_TENANT = 4
"""Of `on_one_cluster` and `served`."""


def text_of(tenants: int) -> bytes:
    """A management cluster and a remote, with 11 objects for each tenant."""
    head = _HEAD.format(clusters=_EDGE)
    return (head + "".join(_TENANT.format(number) for number in range(tenants))).encode()


def on_one_cluster(tenants: int) -> bytes:
    """A management cluster alone, with 10 objects for each tenant, in a namespace of its own."""
    head = _HEAD.format(clusters="")
    return (head + "".join(_SMALL_TENANT.format(number) for number in range(tenants))).encode()


def served(tenants: int) -> bytes:
    """The same, with sources that a sandbox serves: one repository, `bench/apps`."""
    text = on_one_cluster(tenants)
    for number in range(tenants):
        text = text.replace(
            f"https://git.example.com/{number}/manifests".encode(),
            b"http://sandbox.test/git/bench/apps.git",
        )
    return text.replace(b"/{env}", b"")


def with_another_interval(text: bytes) -> bytes:
    """The fleet with a setting that every app inherits."""
    return text.replace(b"defaults: {", b"defaults: {interval: 7m, ", 1)


def write_versions(directory: Path, tenants: int) -> None:
    """Write `tenants.yaml`, the same as `same.yaml`, and with a setting that every app inherits as `other.yaml`."""
    text = text_of(tenants)
    write(directory, text)
    write(directory, text, "same.yaml")
    write(directory, with_another_interval(text), "other.yaml")


def write(directory: Path, text: bytes, name: str = "tenants.yaml") -> Path:
    file = directory / name
    file.write_bytes(text)
    return file
