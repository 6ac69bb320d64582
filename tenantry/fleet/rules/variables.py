"""Rules about variables and labels, whose names are placeholders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.settings import tenant_variables
from tenantry.fleet.template import BUILT_IN, text_of
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.placeholders import Scalar, names_in


def variables_do_not_hide_built_in_placeholders(fleet: Fleet) -> Iterator[Problem]:
    for at, variables in _variables(fleet):
        for variable in variables:
            if variable in (*BUILT_IN, "account"):  # the last one in objects alone
                message = f"variable '{variable}' would hide the built-in placeholder of that name"
                yield Problem((*at, variable), "built-in-variable", message, fix="rename it", at_key=True)


def variables_hold_no_placeholders(fleet: Fleet) -> Iterator[Problem]:
    known = {*BUILT_IN, *(variable for _, variables in _variables(fleet) for variable in variables)}
    for at, variables in _variables(fleet):
        for variable, value in variables.items():
            for placeholder in sorted(known.intersection(names_in(value))) if isinstance(value, str) else ():
                yield Problem(
                    (*at, variable),
                    "nested-placeholder",
                    f"variable '{variable}' contains placeholder '{{{placeholder}}}', but variables are not filled in",
                    fix="use the placeholder where the variable is used, or write the value out",
                )


def variables_have_one_owner(fleet: Fleet) -> Iterator[Problem]:
    """Else it would depend on an order of precedence, which nobody sees, whose value an app gets."""
    first: dict[str, Path] = {}
    for at, variables in _of_clusters(fleet):
        for variable in variables:
            first.setdefault(variable, (*at, variable))
    reported: set[str] = set()
    for at, given in _of_tenants(fleet):
        for variable in given:
            if variable in first and variable not in reported and variable not in BUILT_IN:
                reported.add(variable)
                declared_first = first[variable]
                yield Problem(
                    (*at, variable),
                    "variable-of-two-owners",
                    f"variable '{variable}' of {_whose(at)} is declared by {_whose(declared_first)} too",
                    (f"first: {fleet.source.line_of(declared_first)}",),
                    fix="rename one of them: a variable belongs to tenants, or to environments and clusters",
                    at_key=True,
                )


def variables_agree_with_labels(fleet: Fleet) -> Iterator[Problem]:
    """Both are placeholders of their name."""
    for name, cluster in fleet.clusters.items():
        owners: list[tuple[Path, Mapping[str, Scalar]]] = [(("clusters", name, "variables"), cluster.variables)]
        owners += [
            (fleet.declared_at(environment, "variables"), fleet.environments[environment].variables)
            for environment in cluster.environments
            if environment in fleet.environments
        ]
        for variable, label in cluster.labels.items():
            at, given = next(((at, given) for at, given in owners if variable in given), (None, {}))
            if at is not None and variable not in BUILT_IN and text_of(given[variable]) != label:
                yield disagreement((*at, variable), given[variable], name, label, fleet)


def disagreements(fleet: Fleet, tenant: str, cluster: str) -> Iterator[Problem]:
    """The same for the variables of a tenant on a cluster where it is placed."""
    labels = fleet.clusters[cluster].labels
    for name, value in tenant_variables(fleet, tenant).items():
        if name in labels and name not in BUILT_IN and text_of(value) != labels[name]:
            yield disagreement(("tenants", tenant, "variables", name), value, cluster, labels[name], fleet)


def disagreement(at: Path, value: Scalar, cluster: str, label: str, fleet: Fleet) -> Problem:
    """The finding about a variable whose name a label of a cluster has with another value. Args: at: of the variable."""
    return Problem(
        at,
        "variable-and-label",
        f"variable '{at[-1]}' of {_whose(at)} is '{text_of(value)}', but label '{at[-1]}' of cluster '{cluster}' is '{label}'",
        (f"label: {fleet.source.line_of(('clusters', cluster, 'labels', str(at[-1])))}",),
        fix="rename one of them: each label of a cluster is a placeholder too",
    )


def _whose(at: Path) -> str:
    kinds = {"environments": "environment", "clusters": "cluster"}
    return (
        f"{kinds[str(at[0])]} '{at[1]}'"
        if at[0] in kinds
        else walk.format_level(tuple(map(str, at[: at.index("variables")])))
    )


def _variables(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], Mapping[str, Scalar | None]]]:
    yield from _of_clusters(fleet)
    yield from _of_tenants(fleet)


def _of_clusters(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], Mapping[str, Scalar]]]:
    for name, environment in fleet.document.environments.items():
        own = mapping_at(fleet.own(name), "variables")
        variables = {key: value for key, value in environment.variables.items() if key in own}
        yield ("environments", name, "variables"), variables
    for name, cluster in fleet.clusters.items():
        yield ("clusters", name, "variables"), cluster.variables


def _of_tenants(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], Mapping[str, Scalar | None]]]:
    for at, settings in walk.levels(fleet):
        yield (*at, "variables"), settings.variables or {}
