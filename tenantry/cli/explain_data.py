"""Results of `explain` as plain data for `--output json`: the fields of the dataclasses, with the exceptions below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from tenantry.explain import ExplainedApp, ExplainedTenant, PlacedApp
from tenantry.fleet.choice import Choice
from tenantry.fleet.trace import Origin, Value
from tenantry.plan.after import After
from tenantry.plan.images import PlannedImage

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def as_data(found: Any) -> Any:
    """Plain data for a result of `explain`, or for a part of it."""
    match found:
        case Origin():
            return {"level": found.level, **asdict(found.location)}
        case Value():
            return _of_value(found)
        case Choice():
            selector = {"text": found.selector, "origin": as_data(found.origin)}
            return {"selector": selector, "clusters": as_data(found.decisions), "elsewhere": list(found.elsewhere)}
        case ExplainedApp():
            return _of_app(found)
        case ExplainedTenant():
            data = _of_fields(found)
            return {key: each for key, each in data.items() if each or key not in ("order", "differing")}
        case PlannedImage():
            policy = {"namespace": found.policy.namespace, "name": found.policy.name}
            return {**_of_fields(found), "policy": policy, "marker": found.marker}
        case Mapping():
            return {key: as_data(each) for key, each in found.items()}
        case tuple():
            return [as_data(each) for each in found]
        case None | str() | bool() | int():
            return found
        case _:
            return _of_fields(found)


def _of_fields(found: DataclassInstance) -> dict[str, Any]:
    return {each.name: as_data(getattr(found, each.name)) for each in fields(found)}


def _of_value(value: Value) -> dict[str, Any]:
    """`origin` is null for a default of the program. `written` and `removed` are omitted if they are None."""
    optional = {"written": value.written, "removed": as_data(value.removed)}
    given = {key: each for key, each in optional.items() if each is not None}
    return {"path": list(value.path), "value": value.value, "origin": as_data(value.origin), **given}


def _of_app(app: ExplainedApp) -> dict[str, Any]:
    """The `tenant` of an add-on is null."""
    names = {"tenant": app.tenant or None, "app": app.app, "environment": app.environment}
    rollout = {"rollout": as_data(app.rollout)} if app.rollout else {}
    return {
        **names,
        **as_data(app.choice),
        **({"gate": _of_gate(*app.gate)} if app.gate else {}),
        **rollout,
        "placed": {each.cluster: _of_placed(each) for each in app.placed},
    }


def _of_gate(after: After, origin: Origin) -> dict[str, Any]:
    return {**after.data, "origin": as_data(origin)}


def _of_placed(placed: PlacedApp) -> dict[str, Any]:
    data = _of_fields(placed)
    del data["cluster"]  # the mapping of `placed` has it as key
    if not placed.order:
        del data["order"]
    return data
