"""The effective value of a part of the file: layers merged, placeholders filled in, the result checked against its model.

Called by: `settings`, the plan and `explain`, so that all of them see the same values.
Never: decides which layers there are. A finding names the place where the author wrote the value, in any layer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pydantic_core import ValidationError

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, merge, origin
from tenantry.fleet.shape import findings_of
from tenantry.fleet.template import fill, fill_block
from tenantry.messages.data import mapping_at, value_at, without
from tenantry.messages.errors import InvalidPart
from tenantry.messages.placeholders import Variables, all_names_in
from tenantry.model import Helm, Model
from tenantry.model.strict import FILLED

_M = TypeVar("_M", bound=Model)
_T = TypeVar("_T")


def resolved(fleet: Fleet, at: tuple[str, ...], model: type[_M], variables: Variables) -> _M:
    """The part of the file at a path, where only that place speaks about it.

    Raises: InvalidPart: a placeholder is unknown, or the filled values do not fit the model.
    """
    return resolved_once(fleet, [Layer(at, fleet.raw(*at))], model, variables)


def resolved_once(
    fleet: Fleet,
    layers: Sequence[Layer],
    model: type[_M],
    variables: Variables,
    *,
    part: tuple[str, ...] = (),
    apart: str = "",
) -> _M:
    """As `resolved_layers`, computed once for all clusters on which the same layers apply and their placeholders become the same.

    The layers of the same paths have to have the same data for a model. `Planner` empties what is kept after each tenant.
    Args: apart: a key that is empty in the result if the layers have it, whatever its placeholders become.
    """

    def whole() -> _M:
        merged = resolved_layers(layers, model, variables, part=part)
        return merged.model_copy(update={apart: {}}) if apart in merged.model_fields_set else merged

    def written() -> dict[str, Any]:
        data = mapping_at(merge(layers), *part)
        return without(data, [(apart,)]) if apart else data

    return _once(fleet, (model, part), layers, variables, written, whole)


def filled_once(
    fleet: Fleet, layers: Sequence[Layer], variables: Variables, path: tuple[str, ...]
) -> dict[str, Any] | None:
    """The part of layers at a path, filled in, if they have it: the values of a chart. Computed as often as by `resolved_once`."""
    what = ("written", path, *(layer.path for layer in layers))
    written = fleet.once(what, (), lambda: value_at(merge(layers), path))

    def filled() -> dict[str, Any]:
        try:
            whole: dict[str, Any] = fill_block({path[-1]: written}, variables, path[:-1])[path[-1]]
        except InvalidPart as found:
            raise InvalidPart(
                replace(finding, path=origin(layers, finding.path)) for finding in found.findings
            ) from None
        return whole

    return None if written is None else _once(fleet, path, layers, variables, lambda: written, filled)


def _once(
    fleet: Fleet,
    what: tuple[Hashable, ...],
    layers: Sequence[Layer],
    variables: Variables,
    written: Callable[[], object],
    make: Callable[[], _T],
) -> _T:
    """What a function makes of layers and of the placeholders in a part of them."""
    key = (*what, *(layer.path for layer in layers))
    names = fleet.once(("names", *key), (), lambda: dict.fromkeys(all_names_in(written())))
    # By text, because 1 and true are equal.
    return fleet.once(("filled", *key, *(repr(variables.get(name)) for name in names)), (), make)


def resolved_layers(
    layers: Sequence[Layer],
    model: type[_M],
    variables: Variables | None,
    *,
    part: tuple[str, ...] = (),
) -> _M:
    """Several layers as one; variables: None where the layers take no placeholders; part: the path of the part that is wanted.

    Raises: InvalidPart: as `resolved`; also where layers that fit by themselves do not fit together.
    """
    data = mapping_at(merge(layers), *part)
    try:
        if variables is not None:
            data = fill_block(data, variables, part) if model is Helm else fill(data, variables, part)
        return model.model_validate(data, context=None if variables is None else FILLED)
    except ValidationError as error:
        findings = findings_of(error, model, data, part)
    except InvalidPart as found:
        findings = iter(found.findings)
    raise InvalidPart(replace(finding, path=origin(layers, finding.path)) for finding in findings)
