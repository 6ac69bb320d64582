"""What a shell offers after TAB: names that the fleet's files declare."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from tenantry.cli.fleet_file import fleet_file
from tenantry.kube.names import ADDON_PREFIX, PLATFORM
from tenantry.messages.errors import TenantryError


def fleet_data(context: click.Context) -> dict[str, Any]:
    """The data of the fleet's files, for completion; empty if the files cannot be read."""
    from tenantry.grants.frames import filled
    from tenantry.source.include import read_all

    try:
        return filled(read_all(fleet_file(context))).data
    except TenantryError:
        return {}


def keys(context: click.Context, start: str, *path: str) -> list[str]:
    """Complete the keys at a path of the fleet's files, if the files can be read."""
    found: Any = fleet_data(context)
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    return [name for name in found if name.startswith(start)] if isinstance(found, dict) else []


def environments(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Complete the environments that have a stack."""
    from tenantry.fleet.inherit import stacks_in

    return [name for name in stacks_in(fleet_data(context)) if name.startswith(start)]


def subjects(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Complete tenants, and behind `rocky/` the apps of that tenant."""
    owner, slash = start.partition("/")[:2]
    addons = [f"{ADDON_PREFIX}{name}" for name in keys(context, "", "platform", "addons")]
    apps = [f"{owner}/{name}" for name in keys(context, "", "tenants", owner, "apps")] if slash else []
    return [*keys(context, start, "tenants"), *(name for name in (*apps, PLATFORM, *addons) if name.startswith(start))]


def tenants(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    return keys(context, start, "tenants")


def apps(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Complete the apps of the tenant before it; none if `rocky/web` names one already."""
    tenant = str(context.params.get("tenant"))
    own = keys(context, start, "tenants", tenant, "apps")
    return own or (keys(context, start, "platform", "addons") if tenant == PLATFORM else [])


def tenants_or_platform(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    return [*keys(context, start, "tenants"), *([PLATFORM] if PLATFORM.startswith(start) else [])]


def any_app(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Complete the apps of the tenants on the command line, or of all tenants, and the add-ons."""
    tenants = context.params.get("tenants") or keys(context, "", "tenants")
    apps = (name for tenant in tenants for name in keys(context, start, "tenants", tenant, "apps"))
    return list(dict.fromkeys((*apps, *keys(context, start, "platform", "addons"))))


def clusters(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    return keys(context, start, "clusters")


def revisions(context: click.Context, _: click.Parameter, start: str) -> list[CompletionItem]:
    """Complete branches and tags. The shell completes paths."""
    from tenantry.facts.git import Repository

    try:
        names = Repository(fleet_file(context).absolute().parent).names()
    except TenantryError:
        names = []
    found = [CompletionItem(name) for name in ("HEAD", *names) if name.startswith(start)]
    return found or [CompletionItem(start, type="file")]
