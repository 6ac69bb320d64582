"""What differs between a frozen outcome and that of now."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from tests.frozen.outcomes import OUTCOMES
from tests.frozen.store import Input, text_of

EXPLAINED: tuple[tuple[str, str], ...] = (
    (
        "what is of another kind is waited for by the program, which asks the cluster: the engine waits for nothing",
        r'.*annotations\.pulumi\.com/waitFor: "condition=Ready" -> \(nothing\)'
        r"|changes/review/(a dependency that only Pulumi keeps|an app that waits for an add-on): dev\.changed\.-: .*",
    ),
    (
        "what entries share is a template, and `defaults` is one that may have apps",
        r'fleets/.*: values\..*\.[+-]: .*\["(class|from)",.*'
        r'|mistakes/.*: \d\.0: "(unknown|class|classes|group|groups)-(class|group|cycle|too-many)"'
        r' -> "\w+-(template|cycle|too-many)"'
        r"|mistakes/hostile/(mutation/golden-groups-3|mistake/defaults apps): .*",
    ),
    (
        "a kubeconfig is taken whole, so all of it stands in one place",
        r'fleets/tests/golden/groups/tenants.yaml: values\..*: "tenants.yaml:\d+:\d+" -> "tenants.yaml:\d+:\d+"',
    ),
    (
        "what other systems call a key is on a page, and not known to the checks: the key that is missing is told, too",
        r'mistakes/hostile/mistake/(repoURL .*|top env): \+: \(nothing\) -> \["missing-key",.*',
    ),
    (
        "a team's file has no null outside of the values of a chart",
        r'mistakes/.*: \+: \(nothing\) -> \["no-value",.*|mistakes/team/(148|227): 0\..*|fleets/drawn/(244|254|268|270|276): : .*',
    ),
    (
        "a team's file sets advanced fields of Flux's, such as the issuers of a receiver, only with a grant",
        r'mistakes/.*: \+: \(nothing\) -> \["not-granted",.*|fleets/drawn/(245|256|274|277|278): : .*',
    ),
    (
        "no grant lets a team's file set single labels and annotations: the finding is at the key with all of them",
        r'mistakes/(team/\d+|hole/an included file may set any label): \d\.1: "(.*):\d+:(7|11)" -> "\2:\d+:(5|9)"'
        r'|mistakes/team/296: [+-]: .*"platforms-setting".*',
    ),
    (
        "nothing of the main file is shared with a team's file",
        r'mistakes/.*: \d\.0: "not-shared" -> "platforms-entry"',
    ),
    (
        "the name of a role binding no longer has the tenant's, so who takes over a namespace changes its bindings",
        r'mistakes/unit/32[67]: -: \["duplicate-name",.* -> \(nothing\)'
        r'|changes/danger/6[01]: dev\..*"shop/rolebinding-tenantry-reconciler-admin.yaml".*',
    ),
    ("a network is one word", r'mistakes/golden/wrong-types: 2\.0: "wrong-type" -> "bad-value"'),
    (
        "the keys of a rollout are keys of the environment: waves are a list, and a text may be one",
        r'mistakes/(golden/rollouts: 2|unit/18: 0)\.0: "bad-value" -> "wrong-type"'
        r'|mistakes/unit/(9|10): 0\.0: "not-in-the-rollout" -> "not-in-the-environment"'
        r'|mistakes/unit/17: 0\.(0: "bad-value" -> "unknown-key"|1: "tenants.yaml:3:35" -> "tenants.yaml:3:26")'
        r'|mistakes/hostile/mutation/examples-rollout-4: 0\.0: "wrong-type" -> "bad-value"',
    ),
    (
        "pieces of the file are included as `files`, not as `clusters`",
        r'mistakes/hostile/mutation/golden-groups-\d: 0\.(0: "includes-nothing" -> "unknown-key"|1: "[^"]*:4:13" -> "[^"]*:4:3")',
    ),
    (
        "a fleet has no image automation, so no alert waits for events of it",
        r'(fleets|imports)/.*/alert-[^/]*\.yaml\.manifest\.spec\.eventSources\.-: \{"kind":"Image[A-Z][A-Za-z]*",.*',
    ),
    (
        "a name of an app's object or its release that is too long is shortened, and no error",
        r'mistakes/(golden/long-names|unit/(392|430|431|432|433)): -: \["name-too-long",.* -> \(nothing\)',
    ),
    (
        "the keys that decide where something is, and whether it goes in waves, are facts like all others",
        r'fleets/.*: values\..*\.\+: \(nothing\) -> \["(clusters|environments|waves)[."].*',
    ),
    (
        "a rename reads as a removal and an addition",
        r'changes/.*: \w+\.dangers\.\d: ("rename" -> "(deletion|protection)"|"protection" -> "deletion")',
    ),
    (
        "the same danger of several apps, tenants or clusters is one, and so is that of several keys of the chart",
        r'changes/(review|golden)/.*: dev\.dangers: \["(\w+)","\2"\] -> \["\2"\]',
    ),
    (
        "a permission is a danger beside what uses it, and so are objects that move with the namespace of their kubeconfig",
        r'changes/.*: \w+\.dangers: \[(.*)"(rights|kubeconfig)"\] -> \[\1"\2"(,"\2")+\]',
    ),
    (
        "the dangers of grants are those of the files, which need no second argument",
        r'changes/golden/grants: \w+\.dangers\.\+: \(nothing\) -> "rights"',
    ),
    (
        "overrides are one list with `when`, in inputs rewritten by a script: what stands there has another place and order",
        r"mistakes/golden/(null-override|unknown-references): \d\.1: .*"
        r"|mistakes/unit/(74|75|112|113|123|189|190): .*"
        r"|mistakes/hostile/(mistake/overrides? .*|mutation/golden-overrides-\d): .*"
        r"|mistakes/team/(35|79|95|110|122|159|160|173|187|209|214|223|244|300|348|382): .*",
    ),
    (
        "a state in a template has a finding of its own, which says why it is refused",
        r'mistakes/unit/(25|43): \d\.0: "bad-value" -> "for-one-entry"',
    ),
    (
        "a more specific `podSecurity` replaces another as a whole, instead of keeping its other modes and its version",
        r"fleets/drawn/(249|265|281): (objects\..*\.pod-security\.kubernetes\.io/[a-z-]+: .*|values\..*)",
    ),
    (
        "credentials that do not have what Flux reads where they are named, a Git source over SSH without any, and revisions that"
        " nothing can have are refused",
        r'mistakes/(golden|team|hole|hostile)/.*: \+: \(nothing\) -> \["(wrong-keys|missing-credentials|bad-ref)",.*'
        r'|mistakes/team/96: [+-]: .*"platforms-setting".*'
        r"|fleets/(tests/golden/addons/tenants.yaml|drawn/(57|58|87|107|11[5-9]|12[01]|15[12]|160|177|244|245|249|254|256"
        r'|26[48]|27[0-24678]|292|298)): : .* -> "InvalidFleet: \d+ problems"',
    ),
    (
        "a strict tenant reaches no metadata service of Google's IPv6 networks either",
        r'fleets/.*\.except\.\+: \(nothing\) -> "fd20:ce::254/128"',
    ),
    (
        "two apps with the same manifests are refused",
        r'mistakes/(unit/392|hostile/apps/depend-in-a-circle): \+: \(nothing\) -> \["installed-twice",.*'
        r'|fleets/drawn/6[12]: : .* -> "InvalidFleet: 1 problems"',
    ),
    (
        "a proxy reads an 'address', which has the place of a key in inputs rewritten by a script",
        r'fleets/drawn/\d+: values\..*: ("age\.agekey" -> "address"|.*\["credentials\.keys\.keys",.*)',
    ),
    (
        "only a name in braces means anything: every other brace is text, and a value that is shown as written has it once",
        r'mistakes/.*: -: \["bad-placeholder",.* -> \(nothing\)|mistakes/unit/429: 0\.0: "bad-placeholder" -> "bad-name"'
        r'|fleets/drawn/\d+: values\..*annotations\.example\.com/a","(\{\{\}\}|\{\})",.*',
    ),
    (
        "no file has characters that cannot be seen, and each is named before what it makes of the text",
        r"mistakes/hostile/(character/.*|encoding/.*|mistake/zero width.*): .*",
    ),
    (
        "what Flux cannot compile is refused: an expression that may yield anything, a digest of four digits, a kind of no group",
        r"fleets/tests/golden/(alerts|overrides)/tenants\.yaml: : .*"
        r"|fleets/drawn/(52|53|54|87|93|94|115|116|118|119|122|165|228|229|23[0-2]): : .*"
        r'|mistakes/.*: \+: \(nothing\) -> \["(bad-expression|unknown-kind)",.*',
    ),
)
"""Differences that are meant: why, and a regular expression that matches their whole lines, as `show` prints them."""
_BINDINGS = re.compile(
    r'(/rolebinding-|"name":"|RoleBinding [a-z0-9-]+/|::[a-z0-9-]+/)[a-z0-9-]+?-(reconciler|owners)-'
)
"""Role bindings begin with `tenantry`, names that the admission policy closes; they began with the name of the tenant."""
_MISSING = object()


def differences(part: str, name: str, case: str, frozen: str) -> Iterator[str]:
    """The lines of a case that no row explains. case, frozen: the input and the outcome, as JSON."""
    found = outcome_of(part, json.loads(case))
    frozen = _BINDINGS.sub(r"\1tenantry-\2-", frozen)
    if found != frozen:
        for path, before, after in _between(json.loads(frozen), json.loads(found), ()):
            line = f"{part}/{name}: {'.'.join(path)}: {_shown(before)} -> {_shown(after)}"
            if not any(re.fullmatch(pattern, line) for _, pattern in EXPLAINED):
                yield line


def outcome_of(part: str, case: Input) -> str:
    """As JSON; an exception is an outcome, too."""
    try:
        return text_of(OUTCOMES[part](case))
    except Exception as error:
        return text_of(f"{type(error).__name__}: {error}")


def _between(before: Any, after: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from _between(before.get(key, _MISSING), after.get(key, _MISSING), (*path, key))
        both = [[key for key in one if key in other] for one, other in ((before, after), (after, before))]
        if both[0] != both[1]:
            yield (*path, "(order of keys)"), both[0], both[1]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _between(one, other, (*path, str(index)))
    elif isinstance(before, list) and isinstance(after, list):
        for sign, one, other in (("-", before, after), ("+", after, before)):
            yield from (
                ((*path, sign), *((item, _MISSING) if sign == "-" else (_MISSING, item)))
                for item in one
                if item not in other
            )
        if all(item in after for item in before) and all(item in before for item in after):
            yield path, before, after
    elif before != after or type(before) is not type(after):
        yield path, before, after


def _shown(value: Any) -> str:
    return "(nothing)" if value is _MISSING else text_of(value)


def first(lines: Iterator[str], most: int) -> list[str]:
    """The first lines, and a line more if there are others, each cut to what fits a screen."""
    found = list(islice(lines, most + 1))
    return [line if len(line) <= 400 else f"{line[:400]} ..." for line in found[:most]] + ["..."] * (len(found) > most)
