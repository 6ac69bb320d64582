"""Rules about the kubeconfigs of remote clusters, which are in Secrets next to the Flux objects that use them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.policy.resource import Resource, entries, lookup, mapping
from tenantry.policy.rule import Violation
from tenantry.policy.stack import Stack

_KUBECONFIG = re.compile(r"""["']?kind["']?\s*:\s*["']?Config\b""")
_SECRET_FIELD = re.compile(r"(?i)secretref$|^valuesFrom$|^substituteFrom$")
_NOT_REFERENCES = ("kubeConfig", "values")


def kubeconfigs_lie_where_no_tenant_has_rights(stack: Stack) -> Iterator[Violation]:
    """A remote cluster's kubeconfig, and the Flux objects that use it, are in a namespace where no tenant has any
    rights. Anyone who can read Secrets or write Flux objects there controls that cluster.
    """
    for resource in stack.objects:
        if resource.namespace not in stack.with_tenants_rights:
            continue
        fix = "put it into the namespace of the cluster's kubeconfig, in which no tenant is bound to a role"
        where = f"namespace '{resource.namespace}', where a tenant has rights"
        if resource.is_reconciler and resource.spec.get("kubeConfig"):
            yield Violation(resource, f"{resource} uses a kubeconfig in {where}", fix)
        if (resource.group, resource.kind) == ("", "Secret") and _holds_a_kubeconfig(resource):
            yield Violation(resource, f"{resource} holds a kubeconfig in {where}", fix)


def kubeconfigs_are_for_flux_alone(stack: Stack) -> Iterator[Violation]:
    """Only 'kubeConfig' names a Secret with a kubeconfig. Flux reads Secrets with its own rights, and would pass this
    one on to a chart, a manifest or a Git server.
    """
    kubeconfigs = {
        (each.namespace, str(reference.get("name")))
        for each in stack.objects
        if each.is_reconciler
        for reference in lookup(each.spec, "kubeConfig.secretRef")
        if reference.get("name")
    }
    for resource in stack.objects:
        if not resource.group.endswith(".toolkit.fluxcd.io"):
            continue
        for path, name in _secrets_named(resource.spec, "spec"):
            if (resource.namespace, name) in kubeconfigs:
                fix = "name another Secret; a fleet's own are those that tenants.yaml declares as credentials"
                yield Violation(resource, f"{resource} names the kubeconfig '{name}' in {path}", fix)


def _secrets_named(value: Mapping[str, Any], at: str) -> Iterator[tuple[str, str]]:
    """The names of Secrets that a spec refers to, each with its path."""
    for key, inner in value.items():
        if key in _NOT_REFERENCES:
            continue
        for each in [inner] if isinstance(inner, Mapping) else entries(inner):
            if _SECRET_FIELD.search(key) and each.get("kind", "Secret") == "Secret" and each.get("name"):
                yield f"{at}.{key}", str(each["name"])
            yield from _secrets_named(each, f"{at}.{key}")


def _holds_a_kubeconfig(secret: Resource) -> bool:
    written = [str(each) for each in mapping(secret.props.get("stringData")).values()]
    encoded = mapping(secret.props.get("data")).values()
    return any(_KUBECONFIG.search(text) for text in (*written, *map(_decoded, encoded)))


def _decoded(value: object) -> str:
    try:
        return base64.b64decode(str(value)).decode(errors="replace")
    except ValueError:
        return ""
