"""Tenants that have classes, merged before their shape is checked, so that a class can supply a required key.

The merged data knows where the author wrote each value, so findings are reported in the class or in the tenant. Tenants of
the same classes share all that they do not change themselves.

Called by: `grants.frames` and `load`, on the joined data of all files. So nothing here may rely on the type of a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tenantry.fleet.lineages import Lineages, Naming
from tenantry.fleet.merge import Layer, origin, placeholders
from tenantry.messages.data import ABSENT, leaves, mapping_at
from tenantry.messages.errors import Path, Problem, first_of
from tenantry.source.parsed_file import ParsedFile, named_classes

CLASS = "class"
CLASSES = "tenantClasses"
NAMING = Naming(CLASSES, CLASS, "classes")
_KINDS = {
    "sources": ("git", "oci", "helm", "bucket"),
    "apps": ("kustomize", "helm"),
    "credentials": ("keys", "registry", "existing"),
    "configs": ("data", "existing"),
}
"""Parts of a tenant whose entries have one of several kinds."""
_FOLLOW_UPS = ("missing-key", "choose-one", "no-chart")


def classed(source: ParsedFile) -> ParsedFile:
    """The file with what its tenants' classes say merged below their entries. Data of a wrong shape is left as it is."""
    tenants, classes = source.data.get("tenants", {}), source.data.get(CLASSES, {})
    if source.is_classed or not isinstance(tenants, dict) or not isinstance(classes, dict):
        return source
    return _Classing(source, tenants, classes).run() if classes or any(map(named_classes, tenants.values())) else source


def is_follow_up(source: ParsedFile, finding: Problem) -> bool:
    """Whether a finding about a tenant only repeats that one of its classes is wrong."""
    lacking = finding.path[:1] == ("tenants",) and len(finding.path) > 1 and finding.path[1] in source.unclassed
    return lacking and finding.code in _FOLLOW_UPS


def is_of_class(source: ParsedFile, path: Path) -> bool:
    """Whether the value at a path of a tenant is its class's."""
    return source.origin(path)[:1] == (CLASSES,)


def is_platforms_source(source: ParsedFile, tenant: str, name: str) -> bool:
    """Whether a tenant's source is one and the same for all tenants of a class, so that the platform is its author.

    Its class declares all of it, it takes no credentials, and no placeholder in it depends on the tenant.
    """
    at = ("tenants", tenant, "sources", name)
    declared = mapping_at(source.data, *at)
    if not declared or "credentials" in declared or not is_of_class(source, at):
        return False
    return all(is_equal_for_all(source, tenant, (*at, *path)) for path, _ in leaves(declared))


def is_equal_for_all(source: ParsedFile, tenant: str, path: Path) -> bool:
    """Whether a class or `defaults` say the value that a tenant has at a path, and no placeholder in it depends on the tenant."""
    at = ("tenants", tenant, "variables")
    of_tenant = {"tenant"} | {
        name
        for name, given in mapping_at(source.data, *at).items()
        if not is_of_class(source, (*at, name)) or placeholders(given)
    }
    return source.origin(path)[0] in (CLASSES, "defaults") and of_tenant.isdisjoint(placeholders(source.value(path)))


def classes_above(source: ParsedFile, name: str, group: str = CLASSES) -> set[str]:
    """The classes that a class, or a tenant, takes over from."""
    found: set[str] = set()
    new = set(named_classes(mapping_at(source.data, group, name)))
    while new:
        found |= new
        new = {above for each in new for above in named_classes(mapping_at(source.data, CLASSES, each))} - found
    return found


def class_of_app(source: ParsedFile, tenant: str, app: str) -> str:
    """The class that an app of a tenant comes from, also if the tenant changes a part of it; "": from none.

    Where several classes speak of it, this is the one that takes it over from no other.
    """
    speak = {
        name
        for name in classes_above(source, tenant, "tenants")
        if app in mapping_at(source.data, CLASSES, name, "apps")
    }
    return min((name for name in speak if not speak & classes_above(source, name)), default="")


class Once:
    """Findings without those that repeat, for another tenant, what is wrong in a class. A limit of findings counts such a one once.

    repeated: the paths of those that were passed over.
    """

    def __init__(self, source: ParsedFile) -> None:
        self.source = source
        self.repeated: list[Path] = []
        self._told: set[tuple[str, Path]] = set()

    def __call__(self, findings: Iterable[Problem]) -> Iterator[Problem]:
        for finding in findings:
            written = self.source.origin(finding.path)
            if written[:1] == (CLASSES,):
                if (finding.code, written) in self._told:
                    self.repeated.append(finding.path)
                    continue
                self._told.add((finding.code, written))
            yield finding


def of_all_tenants(source: ParsedFile, warnings: Iterable[Problem]) -> Iterator[Problem]:
    """Warnings, without those about a value of a class that is in order for some of its tenants."""
    found = tuple(warnings)
    about = {(each.code, each.path) for each in found}
    in_order: dict[tuple[str, Path], bool] = {}
    for each in found:
        written = source.origin(each.path)
        if written[:1] == (CLASSES,) and each.path[:1] == ("tenants",):
            if (each.code, written) not in in_order:
                places = (("tenants", name, *each.path[2:]) for name in mapping_at(source.data, "tenants"))
                in_order[each.code, written] = any(
                    (each.code, at) not in about and source.origin(at) == written and source.has(at) for at in places
                )
            if in_order[each.code, written]:
                continue
        yield each


class _Classing:
    """Merges layers, and collects what is wrong with classes as a whole."""

    def __init__(self, source: ParsedFile, entries: dict[str, Any], classes: dict[str, Any]) -> None:
        self.source = source
        self.entries = entries
        self.classes = classes
        self.defaults = mapping_at(source.data, "defaults")
        self.findings: dict[Problem, None] = {}
        self.lineages = Lineages(NAMING, classes)
        self.layers: dict[str, tuple[Layer, ...]] = {}
        self._below: dict[tuple[str, ...], tuple[tuple[Layer, ...], dict[str, Any]] | None] = {}

    def run(self) -> ParsedFile:
        self._find(self.lineages.findings)
        tenants, lacking = dict(self.entries), set()
        for name, own in self.entries.items():
            if names := named_classes(own):
                at, who = ("tenants", name), f"tenant '{name}'"
                self._find(NAMING.named_twice(at, who, names))
                self._find(NAMING.unknown(at, who, names, self.classes))
                whole = self._whole(name, names)
                if whole is None:
                    lacking.add(name)
                else:
                    tenants[name] = whole
        merged = self.source.merged({**self.source.data, "tenants": tenants}, self._origin)
        merged.is_classed, merged.unclassed = True, frozenset(lacking)
        merged.class_findings = first_of(self.findings)
        return merged

    def _find(self, findings: Iterable[Problem]) -> None:
        self.findings.update(dict.fromkeys(findings))

    def _whole(self, name: str, names: tuple[str, ...]) -> dict[str, Any] | None:
        """A tenant's entry with what its classes say below it; None: they are wrong."""
        if names not in self._below:
            self._below[names] = self._classes_together(names)
        if (below := self._below[names]) is None:
            return None
        layers, together = below
        own = Layer(("tenants", name), self.entries[name])
        clashes = tuple(self._other_kinds(layers, together, own, f"tenant '{name}'"))
        self._find(clashes)
        self.layers[name] = (*layers, own)
        return None if clashes else self._merged(together, own.data)

    def _classes_together(self, names: tuple[str, ...]) -> tuple[tuple[Layer, ...], dict[str, Any]] | None:
        """The layers of some classes, parents first, and all of them merged; None: one of them is wrong."""
        if not self.lineages.are_sound(names):
            return None
        layers: tuple[Layer, ...] = ()
        together: dict[str, Any] = {}
        for name in self.lineages.joined(names):
            said = {key: value for key, value in self.classes[name].items() if key != CLASS}
            layer = Layer((CLASSES, name), said)
            if clashes := tuple(self._other_kinds(layers, together, layer, f"class '{name}'")):
                self._find(clashes)
                return None
            layers, together = (*layers, layer), self._merged(together, said)
        return layers, together

    def _other_kinds(
        self, layers: tuple[Layer, ...], below: dict[str, Any], over: Layer, who: str
    ) -> Iterator[Problem]:
        """A finding for each entry that has another kind below: half of each would be neither."""
        for group, kinds in _KINDS.items():
            for name, written in mapping_at(over.data, group).items():
                inherited = mapping_at(below, group, name)
                if not (inherited and isinstance(written, dict)):
                    continue
                first = next((kind for kind in kinds if inherited.get(kind) is not None), None)
                other = next((kind for kind in kinds if kind != first and written.get(kind) is not None), None)
                if first and other:
                    place = self.source.line_of(origin(layers, (group, name, first)))
                    what = group.removesuffix("s")
                    yield Problem(
                        (*over.path, group, name, other),
                        "other-kind",
                        f"{what} '{name}' of {who} has '{first}:' from a class, and '{other}:' here",
                        (f"class: {place}",),
                        fix=f"write '{first}:', or give this {what} another name",
                        at_key=True,
                    )

    def _merged(self, below: dict[str, Any], over: Mapping[str, Any], at: tuple[str, ...] = ()) -> dict[str, Any]:
        """Two layers of a tenant as one. Parts that only one of them has are shared, never copied.

        A `null` stays where less specific levels could still set the value, and where there is nothing to remove, so that
        the check of shapes notices a misspelt key.
        """
        result = dict(below)
        for key, value in over.items():
            path = (*at, key)
            there = result.get(key, ABSENT)
            if there is ABSENT or (_is_whole(path) and value is not None):
                result[key] = value
            elif value is None and not _takes_null(path):
                del result[key]
            elif isinstance(value, dict) and isinstance(there, dict):
                result[key] = self._merged(there, value, path)
            elif isinstance(value, dict) and there is None:
                # The class took away what `defaults` say, which would come back below the mapping.
                result[key] = {**dict.fromkeys(mapping_at(self.defaults, *path)), **value}
            elif isinstance(value, list) and isinstance(there, list) and path[-2:] == _WHERE:
                result[key] = [*there, *value]
            else:
                result[key] = value
        return result

    def _origin(self, path: Path) -> Path:
        layers = self.layers.get(str(path[1])) if path[:1] == ("tenants",) and len(path) > 1 else None
        if not layers:
            return path
        index = next((place for place, part in enumerate(path) if isinstance(part, int)), 0)
        return _in_where(layers, path[2:], index - 2) if path[index - 2 : index] == _WHERE else origin(layers, path[2:])


_WHERE = ("overrides", "where")


def _in_where(layers: tuple[Layer, ...], path: Path, at: int) -> Path:
    """Where an entry of an appended list is written. Args: at: the place of its index in the path."""
    index = int(path[at])
    for layer in layers:
        entries = mapping_at(layer.data, *path[: at - 1]).get("where")
        length = len(entries) if isinstance(entries, list) else 0
        if index < length:
            return origin([layer], (*path[:at], index, *path[at + 1 :]))
        index -= length
    return (*layers[-1].path, *path)


def _is_whole(path: tuple[str, ...]) -> bool:
    """Whether a mapping replaces another one: half of two selectors, or of two references to a version, would be neither."""
    match path:
        case ("clusters",) | ("grants", "clusters") | ("apps", _, "clusters") | ("sources", _, *_, "ref"):
            return True
    return False


def _takes_null(path: tuple[str, ...]) -> bool:
    # Only a `null` that removes something needs the model, which takes long to import.
    from tenantry.fleet.model_paths import takes_null
    from tenantry.model import Tenant

    return takes_null(Tenant, path)
