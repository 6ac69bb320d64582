"""Whether a run would change what an app is, by its planned and its live objects. It reads nothing itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tenantry.cluster.standing import Live, inputs_of
from tenantry.cluster.targets import is_own
from tenantry.flux.schemas import kinds, schema_of
from tenantry.kube.objects import Manifest, object_id
from tenantry.messages.data import ABSENT, mapping_at
from tenantry.plan.after import PACE
from tenantry.plan.engine_order import Chains
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

_WITHOUT_SPEC = ("data", "binaryData")


class Contents:
    """What the apps of a plan are made of."""

    def __init__(self, plan: Plan) -> None:
        self._chains = Chains(plan)
        self._objects = {each.id: each for each in plan.objects}

    def chain_of(self, app: PlannedApp) -> tuple[Manifest, ...]:
        """Its source, its chart if there is one, and its reconciler, in this order."""
        return self._chains.of(app.id)

    def of(self, app: PlannedApp) -> tuple[Manifest, ...]:
        """The same after the ConfigMaps that the reconciler reads. Of Secrets, a plan does not know the values."""
        found = (self._objects.get(id) for id in inputs_of(self._objects[app.id]) if id.kind == "ConfigMap")
        return (*(each.manifest for each in found if each), *self.chain_of(app))


def changed_apps(plan: Plan, apps: Iterable[PlannedApp], live: Live) -> list[PlannedApp]:
    """The apps that are new, or that a run would make something else: another version, source or setting."""
    contents = Contents(plan)
    return [app for app in apps if any(differs(each, live.get(object_id(each))) for each in contents.of(app))]


def differs(planned: Manifest, live: Manifest | None) -> bool:
    """Whether the live object has other content than the planned one. What the API server adds by itself is no difference."""
    if live is None or not is_own(planned, live):
        return True
    if "spec" not in planned:
        return any((planned.get(key) or {}) != (live.get(key) or {}) for key in _WITHOUT_SPEC)
    schema = schema_of(planned["kind"]).spec if planned["kind"] in kinds() else {}
    return not _alike(_content(planned), _content(live), schema)


def _content(manifest: Manifest) -> dict[str, Any]:
    return {key: value for key, value in mapping_at(manifest, "spec").items() if key not in PACE}


def _alike(planned: Any, live: Any, schema: Mapping[str, Any]) -> bool:
    """Whether two values mean the same. schema: Flux's, with the defaults that an API server adds."""
    if planned is ABSENT:
        return bool(live == schema.get("default", ABSENT))
    if isinstance(planned, Mapping) and isinstance(live, Mapping):
        known = schema.get("properties", {})
        return all(
            _alike(planned.get(key, ABSENT), live.get(key, ABSENT), known.get(key, {})) for key in {*planned, *live}
        )
    if isinstance(planned, list) and isinstance(live, list):
        items = schema.get("items", {})
        return len(planned) == len(live) and all(
            _alike(one, other, items) for one, other in zip(planned, live, strict=True)
        )
    return bool(planned == live)
