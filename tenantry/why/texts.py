"""Recognizes messages of Flux, Helm and Kubernetes, and puts them in one line. It knows no cluster and no file.

Source of the texts: kustomize- and helm-controller 1.9 and 1.6 (Flux 2.9), Kubernetes 1.36, as they were seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tenantry.messages.text import listed


class Recognized(NamedTuple):
    """kind: what it is about. text: in one line."""

    kind: str
    text: str


RIGHT, QUOTA, LIMIT, ADMISSION, PATH, BUILD, INVALID, SECRET, CONNECTION, HEALTH = (
    *("right", "quota", "limit", "admission", "path", "build", "invalid", "secret", "connection", "health"),
)


def _right(match: re.Match[str]) -> str:
    account, verb, resource = match["user"].rpartition(":")[2], match["verb"], match["resource"]
    group = f".{match['group']}" if match["group"] else ""
    where = f"in namespace {match['namespace']}" if match["namespace"] else "outside of namespaces"
    return f"account '{account}' has no right to {verb} {resource}{group} {where}"


def _quota(match: re.Match[str]) -> str:
    limits, used = _figures(match["limited"]), _figures(match["used"])
    asked = _figures(match["requested"])
    parts = [f"{name} {used.get(name, '?')} of {limits[name]}, {asked.get(name, '?')} more wanted" for name in limits]
    return f"quota '{match['name']}' is used up: {listed(parts, 3)}"


def _figures(text: str) -> dict[str, str]:
    """`pods=1,requests.cpu=2` by name. What follows in the message, such as a colon, belongs to no figure."""
    return dict(re.findall(r"([\w./-]+)=([\w.]*\w)", text))


_Form = str | Callable[[re.Match[str]], str]
"""What a message becomes: a text with the pattern's groups, or a function."""
_TEXTS: tuple[tuple[str, str, _Form], ...] = (
    (
        QUOTA,
        r"exceeded quota: (?P<name>[\w.-]+), requested: (?P<requested>\S+), used: (?P<used>\S+), limited: (?P<limited>[^\s;]+)",
        _quota,
    ),
    (
        QUOTA,
        r"failed quota: (?P<name>[\w.-]+): must specify (?P<what>[\w.,/-]+)",
        "quota '{name}' wants that containers specify {what}",
    ),
    (
        LIMIT,
        r"(?P<what>(?:maximum|minimum) [\w./-]+ usage per \w+ is [\w.]+(?:, but (?:limit|request) is [\w.]+)?)",
        "a LimitRange refuses it: {what}",
    ),
    (
        ADMISSION,
        r"admission webhook \"(?P<name>[^\"]+)\" denied the request(?P<why>(?:: .*)?)",
        "admission webhook '{name}' refuses it{why}",
    ),
    (
        ADMISSION,
        r"ValidatingAdmissionPolicy '(?P<name>[^']+)'(?: with binding '[^']+')? denied request: (?P<why>.*)",
        "policy '{name}' refuses it: {why}",
    ),
    (
        ADMISSION,
        r"violates PodSecurity \"(?P<level>[^\"]+)\": (?P<why>.*)",
        "the namespace's pod security '{level}' refuses it: {why}",
    ),
    (
        ADMISSION,
        r"failed calling webhook \"(?P<name>[^\"]+)\": (?P<why>.*)",
        "admission webhook '{name}' does not answer: {why}",
    ),
    (
        RIGHT,
        r"User \"(?P<user>[^\"]+)\" cannot (?P<verb>\w+) resource \"(?P<resource>[^\"]+)\" in API group \"(?P<group>[^\"]*)\""
        r"(?: in the namespace \"(?P<namespace>[^\"]+)\"| at the cluster scope)",
        _right,
    ),
    (
        PATH,
        r"kustomization path not found|path '[^']*' does not exist in the source",
        "the path does not exist in the source",
    ),
    (BUILD, r"kustomize build failed: (?P<why>.*)", "its manifests cannot be built: {why}"),
    (
        CONNECTION,
        r"(?P<what>connection refused|i/o timeout|no such host|no route to host|network is unreachable|TLS handshake timeout|"
        r"Client\.Timeout|x509: |server has asked for the client to provide credentials|Unauthorized|EOF$)",
        "{what}",
    ),
    (SECRET, r"(?:secrets?|Secret) ['\"](?P<name>[^'\"]+)['\"] not found", "Secret '{name}' is missing"),
    (
        HEALTH,
        r"health check(?:s)? failed|timeout waiting for|Reconciliation in progress|(?i:running) health checks|"
        r"context deadline exceeded|would exceed context deadline|Running '\w+' action|failed early due to stalled|"
        r"was not ready within|not ready\. status|is not ready: ",
        "",
    ),
    (
        INVALID,
        r"(?P<what>\w+/\S+) dry-run failed(?: \(\w+\))?: (?P<why>.*)",
        "the API server refuses {what}: {why}",
    ),
    (
        INVALID,
        r"(?P<what>\w+) \"(?P<name>[^\"]+)\" is invalid: (?P<why>.*)",
        "the API server refuses {what} '{name}': {why}",
    ),
)


_MOST = 4000
"""So many characters are looked at. A tenant decides how long the messages of its objects are."""


def recognized(message: str) -> Recognized | None:
    """What a message reports; None: it is not one of the texts above."""
    for kind, pattern, form in _TEXTS:
        if match := re.search(pattern, message[:_MOST]):
            return Recognized(kind, form.format(**match.groupdict()) if isinstance(form, str) else form(match))
    return None
