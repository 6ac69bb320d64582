"""States of stacks as `pulumi stack export` gives them, for tests."""

from __future__ import annotations

from typing import Any

from tenantry.stacks.targets import GATE

_FLEET, OF_GATES = "tenantry:index:Fleet", "pulumi:providers:pulumi"
_TENANT = f"{_FLEET}$tenantry:index:Tenant"
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": '"password"'}


def state(stack: str, *tenants: str, environment: str = "prod") -> dict[str, Any]:
    """The state of a stack that runs tenants of an environment, with a shared object, on which each tenant depends.

    Changes go in waves: after each app comes a gate, which is below the fleet and not below the tenant.
    """

    def urn(chain: str, name: str) -> str:
        return f"urn:pulumi:{stack}::shop::{chain}::{name}"

    root, fleet = urn("pulumi:pulumi:Stack", f"shop-{stack}"), urn(_FLEET, environment)
    provider = urn("pulumi:providers:kubernetes", "management")
    reference = f"{provider}::id-of-{stack}"
    chart = urn(f"{_FLEET}$kubernetes:source.toolkit.fluxcd.io/v1:HelmChart", "edge/chart")
    claim = {
        "metadata": {"name": f"tenantry-{environment}"},
        "data": {"environment": environment, "stack": f"shop/{stack}"},
    }
    resources: list[dict[str, Any]] = [
        {
            "urn": root,
            "type": "pulumi:pulumi:Stack",
            "outputs": {"tenants": {each: {"objects": 2} for each in tenants}},
        },
        {"urn": provider, "type": "pulumi:providers:kubernetes", "id": f"id-of-{stack}", "parent": root, "inputs": {}},
        {"urn": fleet, "type": _FLEET, "parent": root},
    ]
    gates = {"urn": urn(OF_GATES, "default"), "type": OF_GATES, "id": f"id-of-gates-of-{stack}", "inputs": {}}
    resources += [gates] if tenants else []
    of_claim = urn(f"{_FLEET}$kubernetes:core/v1:ConfigMap", f"platform/tenantry-{environment}")
    shared = ((of_claim, "kubernetes:core/v1:ConfigMap", claim), (chart, "kubernetes:x/v1:HelmChart", {}))
    resources += [
        {"urn": each, "type": kind, "parent": fleet, "provider": reference, "inputs": inputs, "outputs": inputs}
        for each, kind, inputs in shared
    ]
    for tenant in tenants:
        parent = urn(_TENANT, tenant)
        secret, app = (urn(f"{_TENANT}$kubernetes:{kind}", f"{tenant}/x") for kind in ("core/v1:Secret", "x/v1:App"))
        resources += [
            {"urn": parent, "type": "tenantry:index:Tenant", "parent": fleet},
            {
                "urn": secret,
                "type": "kubernetes:core/v1:Secret",
                "parent": parent,
                "provider": reference,
                "inputs": {"data": SECRET},
            },
            {
                "urn": app,
                "type": "kubernetes:x/v1:App",
                "parent": parent,
                "provider": reference,
                "protect": True,
                "dependencies": [secret, chart],
                "propertyDependencies": {"spec": [secret, chart]},
            },
            {
                "urn": urn(f"{_FLEET}${GATE}", f"{tenant}/x/1"),
                "type": GATE,
                "parent": fleet,
                "dependencies": [app],
                "provider": f"{gates['urn']}::{gates['id']}",
            },
        ]
    return {"version": 3, "deployment": {"manifest": {"time": stack}, "resources": resources}}
