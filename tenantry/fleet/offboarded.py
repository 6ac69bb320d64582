"""A fleet whose tenants and add-ons are all given up, whatever the file says of their states."""

from __future__ import annotations

from dataclasses import replace

from tenantry.fleet.fleet import Fleet

_GIVEN_UP = {"state": "offboarding"}


def offboarded(fleet: Fleet) -> Fleet:
    """The fleet as if each tenant and each add-on had `state: offboarding`. What is paused is resumed."""
    document = fleet.document
    tenants = {name: each.model_copy(update=_GIVEN_UP) for name, each in document.tenants.items()}
    addons = {name: each.model_copy(update=_GIVEN_UP) for name, each in document.platform.addons.items()}
    platform = document.platform.model_copy(update={"addons": addons})
    return replace(fleet, document=document.model_copy(update={"tenants": tenants, "platform": platform}))
