"""Rules about single values: their form, what becomes something else than it looks like, and variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.fleet import walk
from tenantry.fleet.blocks import shared_blocks
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.lineages import CLUSTERS, TENANTS
from tenantry.fleet.merge import merge
from tenantry.fleet.names import format_part
from tenantry.fleet.placement import distinct_layers
from tenantry.fleet.settings import tenant_variables
from tenantry.kube.yaml_text import LARGE, outcome
from tenantry.messages.data import ABSENT, leaves, mapping_at, scalars, texts_in, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.placeholders import BUILT_IN, Scalar, names_in, text_of
from tenantry.messages.problems import doubtful
from tenantry.messages.redact import shorten
from tenantry.messages.text import format_path

_GO_KEYWORD = re.compile(r"(?<!\{)\{\{(break|continue|else|end)\}\}(?!\})")
"""A word of Go's templates, written as the escape of a placeholder is."""


def keywords_of_go_templates_keep_their_braces(fleet: Fleet) -> Iterator[Problem]:
    for group in ("platform", "tenants"):
        for path, text in texts_in(fleet.raw(group), (group,)):
            if "{{" in text and (keyword := _GO_KEYWORD.search(text)):
                message = f"'{keyword[0]}' of a Go template becomes '{{{keyword[1]}}}' here"
                yield doubtful(path, "go-template", message, fix=f"write '{{{{ {keyword[1]} }}}}'")


_PASSWORD = re.compile(
    r"(?i)(?:passw(?:or)?d|passphrase|api[-_]?key|private[-_]?key|client[-_]?secret|secret[-_]?access[-_]?key|token)$"
)
"""Keys whose values are secrets themselves, by their last word."""


_REFERENCE = re.compile(r"[$<{]|ENC\[|(?:ref\+|vault:|op:|/|\.)|(?:true|false|enabled|disabled)$", re.IGNORECASE)
"""How a value begins that is filled in later, encrypted, a file, or a switch."""


def values_hold_no_passwords(fleet: Fleet) -> Iterator[Problem]:
    """Those that people write while they try a chart. What is certainly a secret is refused (`leaks`)."""
    for at, _ in walk.apps(fleet):
        for path, block in walk.blocks(fleet, at):
            for below in (("values",), ("postBuild", "substitute")):
                yield from _passwords(mapping_at(block, *below), (*path, *below))


def _passwords(data: Any, at: Path) -> Iterator[Problem]:
    """A finding for each literal under a key such as `password`; none repeats the value."""
    taken_from = "substituteFrom" if "substitute" in at else "valuesFrom"
    for path, value in texts_in(data):
        key = path[-1]
        name = mapping_at(data, *path[:-1]).get("name") if key == "value" else None
        named = name if isinstance(name, str) else key
        if isinstance(named, str) and value and _PASSWORD.search(named) and not _REFERENCE.match(value):
            yield doubtful(
                (*at, *path),
                "literal-secret",
                f"a value stands under '{shorten(named)}', and anyone who reads the file or the plan can see it",
                fix=f"remove it, declare 'credentials:', and name them in '{taken_from}:'",
            )


def numbers_are_what_comes_out(fleet: Fleet) -> Iterator[Problem]:
    """In values of charts, in manifests, and in substitutions, where a chart or Flux prints them as texts."""
    for block in _blocks(fleet):
        yield from _altered(fleet, (*block, "values"), of_chart=True)
        at = (*block, "postBuild", "substitute")
        for key, value in fleet.raw(*at).items():
            text = (
                fleet.source.plain_text((*at, key)) if isinstance(value, int) and not isinstance(value, bool) else None
            )
            if text is not None and text != str(value):
                yield _number((*at, key), text, str(value))
    for at, _ in (*walk.objects(fleet, "objects"), *walk.objects(fleet, "clusterObjects")):
        yield from _altered(fleet, at, of_chart=False)


def variables_are_what_comes_out(fleet: Fleet) -> Iterator[Problem]:
    """Where a placeholder is the whole value, it is the variable's number."""
    printed: set[str] | None = None
    # A template before the entries that have them from it.
    sections = (("environments",), CLUSTERS.templates, ("clusters",), TENANTS.templates, ("tenants",))
    holders = ((*section, name) for section in sections for name in fleet.raw(*section))
    for at in (("defaults",), *holders):
        for name, value in fleet.raw(*at, "variables").items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                continue
            path = (*at, "variables", name)
            if printed is None:
                printed = set(_printed(fleet))
            key = "tag" if name in printed else name
            of_chart = isinstance(value, float) or abs(value) < LARGE or name in printed
            if not (text := fleet.source.plain_text(path)):
                continue
            printed_as = outcome(text, value, key, of_chart=of_chart)
            if isinstance(value, int) and text != str(value):
                printed_as = printed_as or str(value)  # what becomes of it in the midst of a text
            if printed_as:
                yield _number(path, text, printed_as)


def _printed(fleet: Fleet) -> Iterator[str]:
    """The variables that are whole values of charts, at keys of texts."""
    for block in _blocks(fleet):
        for path, value in scalars(fleet.raw(*block, "values")):
            whole = isinstance(value, str) and value[:1] == "{" and value[-1:] == "}"
            if whole and outcome("", LARGE, str(path[-1]), of_chart=True):
                yield value[1:-1]


def _blocks(fleet: Fleet) -> Iterator[Path]:
    yield from (path for path, _, _ in shared_blocks(fleet.source.data))
    for at, _ in walk.apps(fleet):
        yield from (path for path, _ in walk.blocks(fleet, at))


def _altered(fleet: Fleet, at: Path, *, of_chart: bool) -> Iterator[Problem]:
    for path, value in scalars(value_at(fleet.source.data, at)):
        # Most values are texts, and nearly all numbers are small.
        if isinstance(value, str | bool) or value is None:
            continue
        key = str(next((part for part in reversed(path) if isinstance(part, str)), ""))
        if key == "value" and isinstance(name := value_at(fleet.source.data, (*at, *path[:-1], "name")), str):
            key = name
        if isinstance(value, float) or outcome("", value, key, of_chart=of_chart):
            text = fleet.source.plain_text((*at, *path))
            if text and (printed := outcome(text, value, key, of_chart=of_chart)):
                yield _number((*at, *path), text, printed)


def _number(path: Path, text: str, printed: str) -> Problem:
    message = f"'{text}' is a number in YAML, and a program that prints it as text gets {printed}"
    return doubtful(path, "number-as-text", message, fix=f'put it in quotes: "{text}"')


def nulls_of_apps_remove_something(fleet: Fleet) -> Iterator[Problem]:
    """A `null` removes what another level of the file sets. What a chart sets itself stays: the release does not get the `null`.

    One of a template is in order if it removes something for any app that has it.
    """
    of_all = any(_has_null(block) for _, _, block in shared_blocks(fleet.source.data))
    first: dict[Path, tuple[tuple[str, ...], Path]] = {}
    with_effect: set[Path] = set()
    for at, _ in walk.apps(fleet):
        if not (of_all or any(_has_null(block) for _, block in walk.blocks(fleet, at))):
            continue
        for layers in distinct_layers(fleet, at):
            for index, layer in enumerate(layers):
                nulls = (path for path, value in leaves(layer.data) if value is None)
                for path in (path for path in nulls if path[0] in ("kustomize", "helm")):
                    written = fleet.source.origin(place := (*layer.path, *path))
                    first.setdefault(written, (at, place))
                    removes = value_at(merge(layers[:index]), path, ABSENT) is not ABSENT
                    if removes or _of_template(fleet, at, path):
                        with_effect.add(written)
    yield from (_nothing(*first[written]) for written in first if written not in with_effect)


def _has_null(data: Any) -> bool:
    return any(value is None for _, value in scalars(data))


def _of_template(fleet: Fleet, at: tuple[str, ...], path: Path) -> bool:
    """Whether a template of tenants sets the value: an app's entry is merged with those before its levels are."""
    if at[0] != "tenants":
        return False
    levels = (("defaults",), *((*TENANTS.templates, name) for name in fleet.raw(*TENANTS.templates)))
    return any(value_at(fleet.source.data, (*level, *at[2:], *path)) is not None for level in levels)


def _nothing(at: tuple[str, ...], place: Path) -> Problem:
    below = place[place.index("values") + 1 :] if "values" in place else ()
    if not below:
        message = f"'null' removes nothing: no other level sets '{place[-1]}'"
        return doubtful(place, "removes-nothing", message, fix="remove it", at_key=True)
    owner = ".".join(at[:2]) if at[0] == "tenants" else at[0]
    name, written = f"{at[-1]}-values", "null"
    for part in reversed(below):
        written = f"{{{part}: {written}}}"
    config, reference = f'{{{name}: {{data: {{values.yaml: "{written}"}}}}}}', f"[{{kind: ConfigMap, name: {name}}}]"
    fix = (
        f"to remove a default of the chart, write 'configs: {config}' in '{owner}:',"
        f" and 'valuesFrom: {reference}' beside 'values:'; otherwise remove the line"
    )
    message = (
        f"'null' removes nothing: no other level sets '{format_path(below)}', and what the chart sets itself stays"
    )
    return doubtful(place, "removes-nothing", message, fix=fix, at_key=True)


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
                    f"variable '{variable}' of {format_part(at)} is declared by {format_part(declared_first)} too",
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
        f"variable '{at[-1]}' of {format_part(at)} is '{text_of(value)}', but label '{at[-1]}' of cluster '{cluster}' is '{label}'",
        (f"label: {fleet.source.line_of(('clusters', cluster, 'labels', str(at[-1])))}",),
        fix="rename one of them: each label of a cluster is a placeholder too",
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
