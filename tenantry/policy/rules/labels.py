"""Rules about the labels that identify the objects of the fleet and of each tenant."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.policy.resource import TENANT, Resource
from tenantry.policy.rule import Violation
from tenantry.policy.stack import Stack

MANAGED_BY = "app.kubernetes.io/managed-by"
ENVIRONMENT = "tenantry/environment"


def objects_carry_the_fleets_labels(resource: Resource) -> Iterator[Violation]:
    """Every object has labels for its manager and its environment. The fleet's objects are found and counted by these
    labels.
    """
    if not resource.kind:
        return  # no object that can have labels
    if resource.labels.get(MANAGED_BY) != "tenantry":
        yield Violation(resource, f"{resource} has no label {MANAGED_BY}: tenantry", f"add {MANAGED_BY}: tenantry")
    if not resource.labels.get(ENVIRONMENT):
        fix = f"add {ENVIRONMENT} with the environment's name"
        yield Violation(resource, f"{resource} has no label {ENVIRONMENT}", fix)


def objects_in_tenants_namespaces_carry_the_tenants_label(stack: Stack) -> Iterator[Violation]:
    """Every object in a tenant's namespace has the tenant's label. Network policies, alerts and lists of a tenant's
    objects select by this label.
    """
    for resource in stack.objects:
        if resource.name in stack.tenant_namespaces and resource.kind == "Namespace":
            if not resource.tenant:
                yield Violation(resource, f"{resource} does not say whose it is", f"add the label {TENANT}")
            continue
        tenant = stack.tenant_namespaces.get(resource.namespace)
        if tenant and resource.tenant != tenant:
            says = f"carries {TENANT}: {resource.tenant}" if resource.tenant else f"has no label {TENANT}"
            what = f"{resource} {says}, but its namespace belongs to tenant '{tenant}'"
            yield Violation(resource, what, f"set {TENANT}: {tenant}, or put it into another namespace")
