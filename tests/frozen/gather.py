"""The inputs of the corpus: from the fleets of the repository, from drawn ones, and from what the tests of one part try."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml
from hypothesis import Phase, settings
from hypothesis.strategies import SearchStrategy

from bench.bank import bank
from bench.retail import retail
from bench.vendor import in_lines
from tenantry import guard
from tenantry.compare.review import dangers as reviewed
from tenantry.guard import RunLimits
from tenantry.kube.objects import readable_id
from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.source.parse import bytes_of as read
from tests.drawn import given
from tests.frozen.kept import SUSPECT, Unkept, kept
from tests.frozen.store import Input, text_of
from tests.hostile import corpus
from tests.hostile.case import Case
from tests.hostile.files_of_tenants import draw
from tests.hostile.holes import HOLES
from tests.strategies import fleets, shared_hubs
from tests.unit import texts
from tests.unit.compare.review.cases import cases as changes_of_reviews
from tests.unit.importing.test_corpora import CASES as IMPORTS

ROOT = Path(__file__).parents[2]
Files = dict[str, Any]
Cases = Iterator[tuple[str, Input]]

_NO_FLEETS = ("tests/golden/diagnostics/", "tests/golden/diff/", "tests/unit/importing/corpora/", "tests/policy/")
_LARGE = 20_000
"""Bytes of a hostile file that takes too long for a comparison after each change."""
_OF_CLASSES = (
    *(
        "role",
        "interval",
        "quota",
        "limits",
        "network",
        "annotations",
        "podSecurity",
        "owners",
        "overrides",
        "namespaces",
    ),
    *("credentials", "configs", "sources", "apps", "clusters", "serviceAccount", "clusterRoles"),
)
"""Keys of drawn tenants that their classes may have."""
_WITHOUT_ACCOUNTS = ("copies",)
"""Repositories of which most is what `import` no longer does."""


def text(content: bytes) -> Any:
    """As `outcomes` takes it."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return [base64.b64encode(content).decode()]


# --- without the keys that go -------------------------------------------------------------------------------------------


def stays(files: Mapping[str, bytes]) -> Files:
    """The files without keys that go, and as they are if they have none. Raises: Unkept, InvalidFleet: nothing is left."""
    return {name: text(_stays(content)) for name, content in files.items()}


def _stays(content: bytes) -> bytes:
    if not SUSPECT.search(content.decode(errors="replace")):
        return content
    try:
        document = yaml.load(content, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError):
        raise Unkept from None
    left = kept(document)
    return (
        content if left == document else yaml.dump(left, Dumper=yaml.CSafeDumper, sort_keys=False, width=120).encode()
    )


def has_only_what_stays(files: Mapping[str, bytes]) -> bool:
    try:
        return all(_stays(content) == content for content in files.values())
    except (Unkept, RecursionError, AttributeError, TypeError):
        return False


def _is_sound(files: Files) -> bool:
    from tests.frozen.outcomes import fleet_of

    try:
        plan_all(fleet_of(files))
    except (InvalidFleet, OSError, KeyError):
        return False
    return True


# --- fleets -------------------------------------------------------------------------------------------------------------


def of_fleets() -> Cases:
    for name, files in _fleets():
        try:
            left = stays(files)
        except Unkept:
            print(f"needs a key that goes: {name}")
            continue
        if _is_sound(left):
            yield name, {"files": left}
        else:
            print(f"is not sound without the keys that go: {name}")
    for number, data in enumerate(_drawn()):
        yield f"drawn/{number}", {"files": data}


def _fleets() -> Iterator[tuple[str, dict[str, bytes]]]:
    for file in sorted(ROOT.rglob("tenants.yaml")):
        name = file.relative_to(ROOT).as_posix()
        if not name.startswith((*_NO_FLEETS, ".", "build/", "dist/")) and "/." not in name:
            yield name, _read(file)
    yield "bank", {"tenants.yaml": bank(6)}
    yield "vendor", {"tenants.yaml": in_lines(60)}
    yield "retailer", {"tenants.yaml": retail(40)}


def _read(file: Path) -> dict[str, bytes]:
    """A fleet with the files that it includes, by their paths from the main file's directory."""
    found: dict[str, bytes] = {}

    def noted(path: Path) -> bytes:
        content = read(path)
        found[path.relative_to(file.parent).as_posix()] = content
        return content

    with suppress(InvalidFleet):
        load_fleet(file, noted)
    return found


def _drawn() -> Iterator[Files]:
    """Sound fleets, each another one: of their own management clusters, of a common one, with files of teams."""
    yield from _drawn_of(fleets(), 180)
    yield from _drawn_of(shared_hubs(), 60)
    found = 0
    for _, case in _with_a_team("", ((str(seed), draw(f"frozen sound {seed}")) for seed in count())):
        if found < 60 and _is_sound(case["files"]):
            found += 1
            yield case["files"]
        elif found == 60:
            return


class _Enough(Exception):
    """No more fleets are needed."""


def _drawn_of(drawn: SearchStrategy[Any], wanted: int) -> list[Files]:
    found: dict[str, None] = {}

    @settings(max_examples=10 * wanted, phases=(Phase.generate,))
    @given(drawn)
    def keep(data: Any) -> None:
        left = kept(data)
        chance = random.Random(texts_of(left))
        said = texts_of(_in_classes(left, chance) if chance.random() < 0.6 else left)
        if _is_sound({"tenants.yaml": said}):
            found[said] = None
        if len(found) == wanted:
            raise _Enough

    with suppress(_Enough):
        keep()
    if len(found) < wanted:
        raise SystemExit(f"only {len(found)} drawn fleets are sound")
    return [{"tenants.yaml": said} for said in found]


def _in_classes(fleet: Any, chance: random.Random) -> Any:
    """The fleet with much of what its tenants have in classes of tenants, one over another, and some of it on both levels."""
    classes: dict[str, Any] = {"every": {}}
    for name, tenant in fleet["tenants"].items():
        own, base = {}, {"class": "every"}
        for key, value in tenant.items():
            if key in _OF_CLASSES and chance.random() < 0.5:
                base[key] = value
            elif key == "labels" or (key in ("quota", "overrides") and chance.random() < 0.5):
                base[key] = own[key] = value
            else:
                own[key] = value
        classes["every"] |= {
            key: base.pop(key) for key in ("quota", "role", "interval") if key in base and chance.random() < 0.3
        }
        classes[f"of-{name}"] = base
        fleet["tenants"][name] = {"class": chance.choice((f"of-{name}", ["every", f"of-{name}"])), **own}
    return {**fleet, "tenantClasses": classes}


def texts_of(data: Any) -> str:
    return str(yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False, width=120))


# --- changes ------------------------------------------------------------------------------------------------------------


def of_changes() -> Cases:
    for name, (before, after) in changes_of_reviews():
        yield from _change(f"review/{name}", {"tenants.yaml": before.encode()}, {"tenants.yaml": after.encode()})
    for directory in sorted((ROOT / "tests/golden/diff").iterdir()):
        sides = (_read(directory / name) for name in ("before.yaml", "tenants.yaml"))
        yield from _change(f"golden/{directory.name}", *sides)
    for number, (one, other) in enumerate(_dangers()):
        yield from _change(f"danger/{number}", {"tenants.yaml": one.encode()}, {"tenants.yaml": other.encode()})


def _change(name: str, before: dict[str, bytes], after: dict[str, bytes]) -> Cases:
    try:
        one, other = stays(before), stays(after)
    except Unkept:
        print(f"needs a key that goes: {name}")
        return
    if _data_of(before) != _data_of(after) and _data_of(one) == _data_of(other):
        print(f"changes a key that goes: {name}")
    elif _is_sound(one) and _is_sound(other):
        yield name, {"before": one, "after": other}
    else:
        print(f"is not sound without the keys that go: {name}")


def _data_of(files: Mapping[str, Any]) -> list[Any]:
    return [yaml.load(content, Loader=yaml.CSafeLoader) for content in files.values()]


def _dangers() -> list[tuple[str, str]]:
    """The pairs of which the tests tell dangers."""
    found: list[tuple[str, str]] = []
    with _planned_texts() as text_of_plan:
        right = reviewed.dangers

        def noted(diff: Any, before: Any, after: Any) -> Any:
            if id(before) in text_of_plan and id(after) in text_of_plan:
                found.append((text_of_plan[id(before)][0], text_of_plan[id(after)][0]))
            return right(diff, before, after)

        with patch.object(reviewed, "dangers", noted):
            _run("tests/unit/compare/review/test_dangers.py")
    return [*dict.fromkeys(found)]


@contextmanager
def _planned_texts() -> Iterator[dict[int, tuple[str, str]]]:
    """The text and the environment of each plan that a test makes of a text, by the plan's identity."""
    found: dict[int, tuple[str, str]] = {}
    alive: list[Any] = []  # so that no identity comes again
    right = texts.planned

    def noted(content: str, environment: str = "dev") -> Any:
        plan = right(content, environment)
        alive.append(plan)
        found[id(plan)] = (content, environment)
        return plan

    with patch.object(texts, "planned", noted):
        yield found


def _run(*paths: str) -> None:
    """Run tests in this process. What they import is not loaded yet, so they find what is patched."""
    options = ("-q", "-W", "ignore", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest")
    code = pytest.main([*options, *(str(ROOT / path) for path in paths)])
    if code:
        raise SystemExit(f"the tests of {', '.join(paths)} fail")


# --- mistakes, and fleets that are meant to do harm ---------------------------------------------------------------------


def of_mistakes() -> Cases:
    for directory in sorted((ROOT / "tests/golden/diagnostics").iterdir()):
        others = (each for each in sorted(directory.rglob("*.yaml")) if each.name != "tenants.yaml")
        files = [directory / "tenants.yaml", *others]
        if all(each.is_file() for each in files):  # one test needs a link that leads nowhere
            contents = {each.relative_to(directory).as_posix(): each.read_bytes() for each in files}
            yield from _mistake(f"golden/{directory.name}", contents)
    for number, content in enumerate(_problems()):
        yield from _mistake(f"unit/{number}", {"tenants.yaml": content})
    for case in _hostile():
        beside = {name: content.encode() for name, content in case.beside.items()}
        yield from _mistake(f"hostile/{case.name}", {"tenants.yaml": case.raw, **beside})
    yield from _with_a_team("hole", ((hole.what, hole.fleet()) for hole in HOLES))
    yield from _with_a_team("team", ((str(number), draw(f"frozen {number}")) for number in range(400)))


def _hostile() -> list[Case]:
    found = [case for case in corpus.cases() if len(case.raw) <= _LARGE]
    random.Random("frozen").shuffle(found)
    return sorted(found[:900], key=lambda each: each.name)


def _mistake(name: str, files: dict[str, bytes]) -> Cases:
    if has_only_what_stays(files):
        yield name, {"files": {file: text(content) for file, content in files.items()}}


def _with_a_team(kind: str, drawn: Iterator[tuple[str, Any]]) -> Cases:
    """The tenant is declared, and its team's file is named after it."""
    for name, each in drawn:
        main, ((tenant, said), *more) = each.main, each.included["tenants"].items()
        if more:
            continue
        classes = main.get("tenantClasses") or {}
        main.setdefault("tenants", {}).setdefault(tenant, classes.get("any") or classes.get("team") or {})
        main["include"] = [{"tenants": "tenants.d/*.yaml"}]
        try:
            files = {
                "tenants.yaml": texts_of(kept(main)),
                f"tenants.d/{tenant}.yaml": texts_of(kept({"tenants": {tenant: said}})),
            }
        except Unkept:
            continue
        yield f"{kind}/{name}", {"files": files}


def _problems() -> list[bytes]:
    """The files of which the tests of the language tell mistakes."""
    found: dict[bytes, None] = {}
    right = texts.problems

    def noted(raw: str | bytes) -> str:
        found[raw.encode() if isinstance(raw, str) else raw] = None
        return right(raw)

    with patch.object(texts, "problems", noted):
        _run("tests/unit/fleet", "tests/unit/model", "tests/unit/plan", "tests/unit/source")
    return [*found]


# --- the guard ----------------------------------------------------------------------------------------------------------


def of_guard() -> Cases:
    found: dict[str, Input] = {}

    def keep(plan: Any, case: Input, limits: Any = None) -> None:
        if id(plan) not in plans:
            return
        content, environment = plans[id(plan)]
        case = {"files": {"tenants.yaml": content}, "environment": environment, **case}
        if isinstance(limits, RunLimits):
            case["limits"] = _limits(limits)
        try:
            said = text_of(case)
        except TypeError:  # some live objects are no data
            return
        if has_only_what_stays({"": content.encode(), "before": str(case.get("before", "")).encode()}):
            found.setdefault(said, case)

    with _planned_texts() as plans:
        live: dict[int, Input] = {}
        alive: list[Any] = []

        def held(manifests: Any, environment: str, known: Any = None) -> Any:
            there = list(manifests)
            in_state, proven = _Noting(known and known.in_state), _Noting(known and known.proven)
            told = known and replace(known, in_state=in_state, proven=proven)
            now = right["held"](there, environment, told)
            alive.append(now)
            live[id(now)] = {"live": [dict(each) for each in there]}
            if known:
                live[id(now)]["known"] = {
                    "in_state": [at for at, each in enumerate(there) if readable_id(each) in in_state.said_yes],
                    "proven": [at for at, each in enumerate(there) if each in proven.said_yes],
                }
            return now

        def of_now(name: str) -> Callable[..., Any]:
            def noted(plan: Any, now: Any, *limits: Any) -> Any:
                if id(now) in live:
                    keep(plan, live[id(now)], *limits)
                return right[name](plan, now, *limits)

            return noted

        def of_change(before: Any, after: Any, limits: Any) -> Any:
            if id(before) in plans:
                keep(after, {"before": {"tenants.yaml": plans[id(before)][0]}}, limits)
            return right["refusals_of_change"](before, after, limits)

        noting: dict[str, Any] = {name: of_now(name) for name in ("check", "refusals", "removals")}
        noting |= {"held": held, "refusals_of_change": of_change}
        right = {name: getattr(guard, name) for name in noting}
        with patch.multiple(guard, **noting):
            _run("tests/unit/guard")
    for number, case in enumerate(found.values()):
        if _is_sound(case["files"]) and ("before" not in case or _is_sound(case["before"])):
            yield f"{number}", case


class _Noting:
    """A question to which the answers are noted."""

    def __init__(self, ask: Callable[[Any], bool]) -> None:
        self.ask, self.said_yes = ask, list[Any]()

    def __call__(self, about: Any) -> bool:
        if answer := self.ask(about):
            self.said_yes.append(about)
        return answer


def _limits(limits: RunLimits) -> Input:
    return {
        "protected": limits.protected,
        "deletions": limits.deletions,
        "allowed": [*limits.allowed],
        "emptying": limits.emptying,
        "adopting": sorted(limits.adopting),
        "adopting_addons": sorted(limits.adopting_addons),
    }


# --- imports ------------------------------------------------------------------------------------------------------------


def of_imports() -> Cases:
    corpora = ROOT / "tests/unit/importing/corpora"
    for name, options in IMPORTS.items():
        if name not in _WITHOUT_ACCOUNTS:
            tree = corpora / name
            yield name, {"options": [*options], "files": _tree(tree / "input"), "built": _tree(tree / "built")}


def _tree(directory: Path) -> Files:
    files = sorted(each for each in directory.rglob("*") if each.is_file())
    return {each.relative_to(directory).as_posix(): text(each.read_bytes()) for each in files}


INPUTS: Mapping[str, Callable[[], Cases]] = {
    "guard": of_guard,
    "changes": of_changes,
    "mistakes": of_mistakes,
    "fleets": of_fleets,
    "imports": of_imports,
}
"""In this order: the tests that are run have to find what is patched."""
