"""Tenants and clusters with their templates, and environments with those that they extend, merged before their shape is checked, so
that a template can supply a required key.

`defaults` is the template that every tenant has first. Then come those that `from` names, each after its own, and the entry itself.
The merged data knows where the author wrote each value, so a problem is reported in the template or in the entry.

Selectors of tenants whose labels hold placeholders, such as `cell: "{cell}"`, are filled in here, too, before anything is placed.

Called by: `grants.frames` and `load`, on the joined data of all files. So nothing here may rely on the type of a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tenantry.fleet.lineages import CLUSTERS, ENVIRONMENTS, TENANTS, Kind, Lineages
from tenantry.fleet.merge import Layer, origin, overlay, placeholders
from tenantry.messages.data import leaves, mapping_at, value_at, with_value
from tenantry.messages.errors import InvalidPart, Path, Problem, first_of
from tenantry.messages.placeholders import all_names_in, fill
from tenantry.messages.problems import empty_list, missing_key
from tenantry.source.parsed_file import ParsedFile, override_of

DEFAULTS = "defaults"
_KINDS = {
    "sources": ("git", "oci", "helm", "bucket"),
    "apps": ("kustomize", "helm"),
    "credentials": ("keys", "registry", "existing"),
    "configs": ("data", "existing"),
}
"""Parts of a tenant whose entries have one of several kinds."""
_FOLLOW_UPS = ("missing-key", "choose-one", "no-chart")
_KUBECONFIG = "kubeconfig"
_FIX = "write '{cluster}', the only placeholder here, or double the braces of a text"
_NO_CLUSTERS = (missing_key((), "clusters"), empty_list(("clusters",)))


def with_templates(source: ParsedFile) -> ParsedFile:
    """The file with whole environments, tenants and clusters. Data of a wrong shape is left as it is."""
    if source.has_templates:
        return source
    for kind in (ENVIRONMENTS, CLUSTERS, TENANTS):
        entries, templates = source.data.get(kind.section), mapping_at(source.data, *kind.templates)
        if isinstance(entries, dict) and isinstance(source.data.get("templates", {}), dict | None):
            source = _Merging(source, kind, entries, templates).run()
    source.has_templates = True
    return source


def is_shared(path: Path) -> bool:
    """Whether a path of the document, as its author wrote it, lies in a template or in `defaults`."""
    return path[:1] in (("templates",), (DEFAULTS,))


def is_nearer(source: ParsedFile, path: Path, other: Path) -> bool:
    """Whether `defaults` say the value at another path of an entry, and not the one at this path."""
    return source.origin(path)[:1] != (DEFAULTS,) == source.origin(other)[:1]


def is_follow_up(source: ParsedFile, finding: Problem) -> bool:
    """Whether a finding about an entry only repeats that one of its templates is wrong."""
    path = finding.path
    if source.lacks_pieces and finding in _NO_CLUSTERS:
        return True
    repeated = finding.code in _FOLLOW_UPS or path[2:3] == (_KUBECONFIG,)
    return repeated and path[:2] in source.incomplete


def is_platforms_source(source: ParsedFile, tenant: str, name: str) -> bool:
    """Whether a tenant's source is one and the same for all tenants of a template, so that the platform is its author.

    The template declares all of it, it takes no credentials, and no placeholder in it depends on the tenant.
    """
    at = ("tenants", tenant, "sources", name)
    declared = mapping_at(source.data, *at)
    if not declared or "credentials" in declared or not is_shared(source.origin(at)):
        return False
    return all(is_equal_for_all(source, tenant, (*at, *path)) for path, _ in leaves(declared))


def is_equal_for_all(source: ParsedFile, tenant: str, path: Path) -> bool:
    """Whether a template says the value that a tenant has at a path, and no placeholder in it depends on the tenant."""
    at = ("tenants", tenant, "variables")
    of_tenant = {"tenant"} | {
        name
        for name, given in mapping_at(source.data, *at).items()
        if not is_shared(source.origin((*at, name))) or placeholders(given)
    }
    return is_shared(source.origin(path)) and of_tenant.isdisjoint(placeholders(source.value(path)))


class Once:
    """Findings without those that repeat, for another entry, what is wrong in a template. A limit of findings counts it once.

    repeated: the paths of those that were passed over.
    """

    def __init__(self, source: ParsedFile) -> None:
        self.source = source
        self.repeated: list[Path] = []
        self._reported: set[tuple[str, Path]] = set()

    def __call__(self, findings: Iterable[Problem]) -> Iterator[Problem]:
        for finding in findings:
            written = self.source.origin(finding.path)
            if is_shared(written) or (written[:1] == ("environments",) and written != finding.path):
                if (finding.code, written) in self._reported:
                    self.repeated.append(finding.path)
                    continue
                self._reported.add((finding.code, written))
            yield finding


@dataclass(frozen=True, slots=True)
class _Below:
    """What some templates say together: their layers, the least specific first, and all of them merged.

    removed: the path of each value that a `null` removes, and where in the document that stands.
    """

    layers: tuple[Layer, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    removed: Mapping[Path, Path] = field(default_factory=dict)

    def with_layer(self, layer: Layer) -> _Below:
        removed: list[Path] = []
        data = overlay(self.data, layer.data, removed)
        places = {path: (*layer.path, *path) for path in removed}
        return _Below((*self.layers, layer), data, {**self.removed, **places} if places else self.removed)


class _Merging:
    """Merges the entries of one section, and collects what is wrong with its templates as a whole."""

    def __init__(self, source: ParsedFile, kind: Kind, entries: dict[str, Any], templates: dict[str, Any]) -> None:
        self.source = source
        self.kind = kind
        self.entries = entries
        self.templates = templates
        self.lineages = Lineages(kind, templates)
        self.findings: dict[Problem, None] = dict(self.lineages.findings)
        self.layers: dict[str, tuple[Layer, ...]] = {}
        self.removed: dict[Path, Mapping[Path, Path]] = {}
        self._below: dict[tuple[str, ...], _Below | None] = {}

    def run(self) -> ParsedFile:
        """The file with merged entries; `source.incomplete` has those that a wrong template leaves in pieces."""
        entries, incomplete = dict(self.entries), set()
        if self.kind is TENANTS:
            names = self.kind.named(mapping_at(self.source.data, DEFAULTS))
            self._find(self.kind.unknown((DEFAULTS,), f"'{DEFAULTS}'", names, self.templates))
        for name, own in self.entries.items():
            if not isinstance(own, dict):
                continue  # the check of shapes reports it
            names = self.kind.named(own)
            at, who = (self.kind.section, name), f"{self.kind.word} '{name}'"
            self._find(self.kind.unknown(at, who, names, self.templates))
            whole = self._whole(name, own, names)
            if whole is None or (own.get(self.kind.key) is not None and not names):
                incomplete.add(at)
            else:
                entries[name] = whole
        merged = self.source.merged({**self.source.data, self.kind.section: entries}, self._origin)
        merged.incomplete = self.source.incomplete | incomplete
        merged.removed = {**self.source.removed, **self.removed}
        merged.template_findings = (*self.source.template_findings, *first_of(self.findings))
        return merged

    def _find(self, findings: Iterable[Problem]) -> None:
        self.findings.update(dict.fromkeys(findings))

    def _whole(self, name: str, own: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any] | None:
        """An entry with what its templates say below it; None: they are wrong."""
        if names not in self._below:
            self._below[names] = self._together(names)
        if (below := self._below[names]) is None:
            return None
        at = (self.kind.section, name)
        layer = Layer(at, own)
        clashes = tuple(self._other_kinds(below, layer, f"{self.kind.word} '{name}'"))
        self._find(clashes)
        if clashes:
            return None
        whole = below.with_layer(layer)
        self.layers[name] = whole.layers
        if whole.removed:
            self.removed[at] = whole.removed
        return self._filled(whole.data, name) if self.kind is CLUSTERS else whole.data

    def _together(self, names: tuple[str, ...]) -> _Below | None:
        """What some templates say, `defaults` of tenants first, parents before those that name them; None: one of them is wrong."""
        defaults = mapping_at(self.source.data, DEFAULTS) if self.kind is TENANTS else {}
        of_defaults = self.kind.named(defaults)
        if not self.lineages.are_sound((*of_defaults, *names)):
            return None
        first = self.lineages.joined(of_defaults)
        entries: dict[tuple[str, ...], dict[str, Any]] = {
            (*self.kind.templates, name): self.templates[name] for name in first
        }
        entries |= {(DEFAULTS,): defaults} if defaults else {}
        later = (name for name in self.lineages.joined(names) if name not in first)
        entries |= {(*self.kind.templates, name): self.templates[name] for name in later}
        below = _Below()
        for at, entry in entries.items():
            layer = Layer(at, {key: value for key, value in entry.items() if key not in self.kind.not_inherited})
            owner = f"template '{at[-1]}'" if at[1:] else f"'{DEFAULTS}'"
            if clashes := tuple(self._other_kinds(below, layer, owner)):
                self._find(clashes)
                return None
            below = below.with_layer(layer)
        return below

    def _other_kinds(self, below: _Below, over: Layer, owner: str) -> Iterator[Problem]:
        """A finding for each source, app, ... that has another kind below: half of each would be neither."""
        for group, kinds in _KINDS.items():
            for name, written in mapping_at(over.data, group).items():
                inherited = mapping_at(below.data, group, name)
                if not (inherited and isinstance(written, dict)):
                    continue
                first = next((kind for kind in kinds if inherited.get(kind) is not None), None)
                other_kind = next((kind for kind in kinds if kind != first and written.get(kind) is not None), None)
                if first and other_kind:
                    place = self.source.line_of(origin(below.layers, (group, name, first)))
                    what = group.removesuffix("s")
                    yield Problem(
                        (*over.path, group, name, other_kind),
                        "other-kind",
                        f"{what} '{name}' of {owner} has '{first}:' from a template, and '{other_kind}:' here",
                        (f"template: {place}",),
                        fix=f"write '{first}:', or give this {what} another name",
                        at_key=True,
                    )

    def _filled(self, whole: dict[str, Any], name: str) -> dict[str, Any] | None:
        """A cluster with its name filled into its kubeconfig, without nulls that remove nothing; None: another placeholder."""
        for key in ("labels", "variables"):
            if isinstance(given := whole.get(key), dict):
                whole = {**whole, key: {inner: value for inner, value in given.items() if value is not None}}
        if not isinstance(whole.get(_KUBECONFIG), dict):
            return whole
        try:
            return {**whole, _KUBECONFIG: fill(whole[_KUBECONFIG], {"cluster": name}, ("clusters", name, _KUBECONFIG))}
        except InvalidPart as found:
            self._find(replace(problem, path=self._origin(problem.path), fix=_FIX) for problem in found.findings)
            return None

    def _origin(self, path: Path) -> Path:
        layers = self.layers.get(str(path[1])) if path[:1] == (self.kind.section,) and len(path) > 1 else None
        if not layers:
            return path
        appended = override_of(path)
        return _in_appended(layers, path[2:], len(appended) - 3) if appended else origin(layers, path[2:])


def _in_appended(layers: tuple[Layer, ...], path: Path, at: int) -> Path:
    """Where an entry of an appended list is written. Args: at: the place of its index in the path."""
    index = int(path[at])
    for layer in layers:
        entries = value_at(layer.data, path[:at])
        length = len(entries) if isinstance(entries, list) else 0
        if index < length:
            return origin([layer], (*path[:at], index, *path[at + 1 :]))
        index -= length
    return (*layers[-1].path, *path)


def with_filled_selectors(source: ParsedFile) -> tuple[ParsedFile, tuple[Problem, ...]]:
    """The file with the placeholders in labels of tenants' selectors filled in, and a finding for each that a tenant lacks."""
    tenants = source.data.get("tenants")
    filled: dict[str, Any] = {}
    findings: list[Problem] = []
    for name, own in tenants.items() if isinstance(tenants, dict) else ():
        selectors: list[Path] = [("clusters",), ("grants", "clusters")]
        selectors += [("apps", app, "clusters") for app in mapping_at(own, "apps")]
        for at in ((*selector, *part, "labels") for selector in selectors for part in ((), ("exclude",))):
            if any(all_names_in(labels := mapping_at(own, *at))):
                given = mapping_at(own, "variables").items()
                variables = {key: value for key, value in given if isinstance(value, str | int | float)}
                try:
                    whole = fill(labels, {**variables, "tenant": name}, ("tenants", name, *at))
                except InvalidPart as found:
                    findings += found.findings
                else:
                    filled[name] = with_value(filled.get(name, own), at, whole)
    if not filled:
        return source, tuple(findings)
    data = {**source.data, "tenants": {**source.data["tenants"], **filled}}
    return source.merged(data, lambda path: path), tuple(findings)
