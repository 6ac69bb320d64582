"""Flux objects that would change hands: one of an add-on would become a tenant's, or one of a tenant another's.

The engine treats them as two objects. It changes the first into the second, then deletes it as the first, and Flux uninstalls
with the new owner's rights what the former owner has installed.
"""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.guard.held import Held
from tenantry.messages.errors import Problem, error
from tenantry.plan.plan import Plan


def handovers(plan: Plan, now: Held) -> Iterator[Problem]:
    """One problem for each planned app whose object stands for another app on the cluster."""
    for app in plan.apps:
        there = now.apps.get(app.id)
        if there and (there.tenant, there.name) != (app.tenant, app.name):
            yield error(
                "other-owner",
                f"{app.id} belongs to {_in_words(there.tenant, there.name)}, and would become that of"
                f" {_in_words(app.tenant, app.name)}",
                f"leave it to {_in_words(there.tenant, there.name)}; or give the second another name; or, if what is installed"
                " may go with its data, remove the first in one `tenantry up`, and add the second in the next one",
            )


def _in_words(tenant: str, app: str) -> str:
    return f"app '{app}' of tenant '{tenant}'" if tenant else f"add-on '{app}'"
