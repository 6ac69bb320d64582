"""Which addresses the fields of Flux's kinds take, and what they make a controller connect to: one table for all of them.

A form says what Flux and the service behind it read, and no more. Where Flux drops the path of an address, an address with a
path would be granted as one thing and used as another; the same is true of a list. Source: the code of Flux's controllers,
of notification-controller 1.9.3 `internal/notifier`.

Called by: the rules, about what is written; the plan, about finished specs of tenants and of the platform.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tenantry.addresses import BadAddress, read
from tenantry.messages.data import mappings_in, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import holds_password, password_in_url

HTTP = ("https", "http")
_REGISTRY = re.compile(r"[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*(/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*")
"""Source: github.com/distribution/reference, "path-component"."""
_SCP = re.compile(r"([\w-]+)@([\w.-]+):([\w./~-]+)")
"""An SSH address in scp form, which Flux does not take: user, host and path."""
_BUCKET = re.compile(r"[A-Za-z0-9$]([A-Za-z0-9_-]|\.(?!\.))*")
_SCHEME = re.compile(r"[a-z]+://")
_GOOGLE = "storage.googleapis.com"
"""Where buckets with `provider: gcp` are, whatever endpoint is written."""
_BITBUCKET = "https://bitbucket.org"
"""Where alerts of type `bitbucket` go, whatever host is written."""
_HOST = re.compile(r"^[^/]*//[^/]*")
_PATH = re.compile(r"[^/]*//[^/]*/*(.*)", re.DOTALL)


class Form(NamedTuple):
    """Which addresses a field takes. path: None: none. registry: the path is that of a repository in a registry."""

    schemes: tuple[str, ...]
    path: bool | None = True
    user: bool = False
    query: bool = False
    many: bool = False
    registry: bool = False

    @property
    def words(self) -> str:
        """The form as an author writes it."""
        path = "" if self.path is None else "/PATH"
        schemes = [f"'{scheme}://HOST{path}'" for scheme in self.schemes]
        return " or ".join((", ".join(schemes[:-1]), schemes[-1])) if len(schemes) > 1 else schemes[0]


_REPOSITORY = Form(("oci",), registry=True)
_CHARTS = Form(HTTP)
_GIT = Form((*HTTP, "ssh"), user=True)
_WEBHOOK = Form(HTTP, query=True)
_SERVER = Form(HTTP, path=None)
_FIELDS: dict[str, tuple[tuple[Path, Form], ...]] = {
    "GitRepository": ((("url",), _GIT),),
    "OCIRepository": ((("url",), _REPOSITORY),),
    "HelmRepository": ((("url",), _CHARTS),),
    "Bucket": ((("sts", "endpoint"), Form(HTTP)),),
    "Provider": ((("proxy",), _SERVER),),
}
"""Kind -> its fields with one address, where the form does not depend on other fields."""
_HELM_IN_REGISTRY = Form(("oci",), path=False, registry=True)
_ISSUER = Form(HTTP)

_EVENT_HUB, _PUB_SUB = "azureeventhub", "googlepubsub"
PROVIDERS: dict[str, Form | None] = {
    # Posted to as they are.
    **dict.fromkeys(("alertmanager", "discord", "generic", "generic-hmac", "googlechat", "grafana", "lark"), _WEBHOOK),
    **dict.fromkeys(("msteams", "opsgenie", "rocket", "slack", "telegram", "webex"), _WEBHOOK),
    # Something is added to the path.
    **dict.fromkeys(("matrix", "otel"), Form(HTTP)),
    "sentry": Form(HTTP, user=True),
    # Only the host counts: Flux puts a path of its own there.
    **dict.fromkeys(("datadog", "pagerduty", "zulip"), _SERVER),
    # A repository. Flux talks to the forge on the same host.
    **dict.fromkeys(
        ("azuredevops", "bitbucket", "bitbucketserver", "gitea", "github", "githubdispatch", "gitlab"), _GIT
    ),
    # A list, of which the controller takes any.
    "nats": Form(("nats", "tls", "ws", "wss"), path=None, many=True),
    # No URL: the name of a hub or a project.
    _EVENT_HUB: None,
    _PUB_SUB: None,
}
"""Type of a provider -> the form of its address. A type that is not here has none, so its addresses are refused. Those that comment
on requests do so for objects with an annotation that Tenantry's do not have.
"""

_NAMES: dict[str, tuple[re.Pattern[str], str]] = {
    _EVENT_HUB: (re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,254}[A-Za-z0-9])?"), "the name of an event hub"),
    _PUB_SUB: (re.compile(r"[a-z][a-z0-9-]{4,28}[a-z0-9]"), "the ID of a project"),
}
_CHANNELS: dict[str, tuple[re.Pattern[str], str]] = {
    # Flux takes a text with `.servicebus.` in it for a whole host, and sends its token there.
    _EVENT_HUB: (
        re.compile(r"[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.servicebus(\.[A-Za-z0-9-]+)+)?"),
        "'NAMESPACE' or 'NAMESPACE.servicebus.windows.net'",
    ),
    _PUB_SUB: (re.compile(r"[A-Za-z][A-Za-z0-9._~+-]{2,254}"), "the name of a topic"),
    # It becomes a part of the path: `../x` would leave what is granted.
    "matrix": (re.compile(r"![A-Za-z0-9._~=+-]+(:[A-Za-z0-9.-]+(:[0-9]{1,5})?)?"), "the ID of a room, '!ID:SERVER'"),
    "nats": (re.compile(r"[A-Za-z0-9_$-]+(\.[A-Za-z0-9_$-]+)*"), "a subject, words with dots between them"),
    "telegram": (re.compile(r"(@[A-Za-z0-9_]+|-?[0-9]+)(:[0-9]+)?"), "'@NAME' or the number of a chat"),
    "zulip": (re.compile(r"[^/\x00-\x1f\x7f]+/[^\x00-\x1f\x7f]+"), "'CHANNEL/TOPIC'"),
}
"""Type of a provider -> the form of its channel. Other services get the channel as a text, which names no place for Flux."""


_REPOSITORIES: dict[str, tuple[re.Pattern[str], str]] = {
    **dict.fromkeys(
        ("bitbucket", "gitea", "github", "githubdispatch"), (re.compile(r"[^/]+/[^/]+"), "OWNER/REPOSITORY")
    ),
    "gitlab": (re.compile(r"[^/]+(/[^/]+)+"), "GROUP/PROJECT"),
    "azuredevops": (re.compile(r"[^/]+/[^/]+/_git/[^/]+"), "ORGANIZATION/PROJECT/_git/REPOSITORY"),
    "bitbucketserver": (re.compile(r"(.*/)?scm/[^/]+/[^/]+"), "scm/PROJECT/REPOSITORY"),
}
"""Type of a provider -> the path of a repository as Flux reads it, without `.git`, and in words. A `/` at its end is a part."""

_CHART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
"""Nothing that means another place when it is added to the URL of a repository: no `..`, no tag, no digest."""


def address_problems(kind: str, spec: Mapping[str, Any]) -> Iterator[Problem]:
    """The addresses of a finished spec that do not have the form that Flux reads there. Messages do not quote them."""
    for path, text, form in _fields(kind, spec):
        if not (kind == "Provider" and holds_password(text)):  # `leaks` reports it
            yield from _problems(text, form, path)
    if kind == "Bucket":
        yield from _bucket_problems(spec)
    elif kind == "HelmChart" and value_at(spec, ("sourceRef", "kind")) == "HelmRepository":
        if not _CHART.fullmatch(chart := str(spec.get("chart", ""))) or chart.endswith(".tgz"):
            message = "this is not the name of a chart in a repository"
            fix = "write letters, digits, '-', '_' and '.', with '/' between parts: Flux adds the name to the URL"
            if chart.endswith(".tgz"):
                fix = "write the name of the chart alone, and its version as 'version:'"
            yield Problem(("chart",), "bad-chart", message, fix=fix)
    elif kind == "Provider":
        yield from _provider_problems(spec)


def addresses_of(kind: str, spec: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """What a Flux object makes a controller connect to, as addresses that grants can allow, each with the path of its field."""
    for path, text, form in _fields(kind, spec):
        if (kind, path, spec.get("type")) == ("Provider", ("address",), "bitbucket"):
            text = _HOST.sub(_BITBUCKET, text)
        yield from ((path, address) for address in (text.split(",") if form.many else (text,)))
    match kind:
        case "Bucket":
            endpoint = _GOOGLE if spec.get("provider") == "gcp" else str(spec.get("endpoint", ""))
            yield ("endpoint",), bucket_address(endpoint, str(spec.get("bucketName", "")))
        case "Provider":  # some are addressed by names
            address, channel = str(spec.get("address") or ""), str(spec.get("channel") or "")
            if spec.get("type") == _EVENT_HUB and channel:
                host = channel if ".servicebus." in channel else f"{channel}.servicebus.windows.net"
                yield ("channel",), f"sb://{host}/{address}" if address else f"sb://{host}"
            elif address and spec.get("type") in (_EVENT_HUB, _PUB_SUB):
                yield ("address",), f"pubsub://{address}/{channel}" if spec["type"] == _PUB_SUB else address


def bucket_address(endpoint: str, bucket: str) -> str:
    """The address of a bucket at an endpoint, which may be a host or a URL."""
    return f"s3://{_SCHEME.sub('', endpoint, count=1).removesuffix('/')}/{bucket}"


def _fields(kind: str, spec: Mapping[str, Any]) -> Iterator[tuple[Path, str, Form]]:
    """The fields of a spec that hold addresses, each with its form."""
    for path, form in _FIELDS.get(kind, ()):
        if value := value_at(spec, path):
            in_registry = kind == "HelmRepository" and str(value).startswith("oci://")
            yield path, str(value), _HELM_IN_REGISTRY if in_registry else form
    if kind == "Receiver":
        for index, provider in enumerate(mappings_in(spec.get("oidcProviders"))):
            if "issuerURL" in provider:
                yield ("oidcProviders", index, "issuerURL"), str(provider["issuerURL"]), _ISSUER
    elif kind == "Provider" and spec.get("address") and (form_of_type := PROVIDERS.get(str(spec.get("type")))):
        yield ("address",), str(spec["address"]), form_of_type


def _problems(text: str, form: Form, at: Path) -> Iterator[Problem]:
    if finding := password_in_url(at, text):
        yield finding
        return
    if scp := _SCP.fullmatch(text) if form is _GIT else None:
        yield _bad(at, "is in the form of scp, which Flux does not take", f"write ssh://{scp[1]}@{scp[2]}/{scp[3]}")
        return
    if form in _PAGES and _PAGES[form].fullmatch(text):
        fix = "write the address of the repository alone; a branch, a directory or a version has a key of its own"
        yield _bad(at, "is that of a page or a file, and not of a repository", fix)
        return
    for address in text.split(",") if form.many else (text,):
        if why := _misfit(address, form):
            more = "; several are separated by a comma alone" if form.many else ""
            yield _bad(at, why, f"write it as {form.words}{more}")


_PAGE = (
    r"https?://[^/]+/[^/]+/[^?]+?"
    r"(?:(?:/-)?/(?:tree|blob|commits?|blame)/|/-/|/src/(?:branch|tag|commit)/|/(?:browse|releases|pull|wiki)(?:/|$))[\w./-]*"
)
"""A page that a forge shows of a repository. No forge lets a repository have these names."""
_PAGES = {
    _GIT: re.compile(rf"{_PAGE}|https?://(?:raw\.githubusercontent\.com/|bitbucket\.org/[^/]+/[^/]+/src/).*"),
    # Flux adds `index.yaml` itself.
    _CHARTS: re.compile(rf"{_PAGE}|https?://artifacthub\.io/.*|https?://.+?/(?:index\.ya?ml|[^/]+\.tgz)/?"),
}


def _misfit(text: str, form: Form) -> str:
    """Why a text is not an address of the form; "" if it is one."""
    try:
        parts = read(text)
    except BadAddress as bad:
        return str(bad)
    if parts.scheme not in form.schemes:
        return f"begins with '{parts.scheme}://'"
    if parts.user and not form.user:
        return "has a user"
    if parts.query and not form.query:
        return "has a query"
    if parts.path and form.path is None:
        return "has a path, which Flux ignores here"
    if form.registry:
        # If the first word is not clearly a host, Flux takes it for a part of the repository's name.
        if "." not in parts.host and ":" not in text.removeprefix("oci://").partition("/")[0]:
            return "has a host without a dot or a port, for which Flux would go to docker.io"
        if not parts.path:
            return "names no repository" if form.path else ""
        if not _REGISTRY.fullmatch(parts.path[1:]):
            return "has a path that is no name of a repository in a registry"
    return ""


def _bucket_problems(spec: Mapping[str, Any]) -> Iterator[Problem]:
    endpoint, bucket = str(spec.get("endpoint", "")), str(spec.get("bucketName", ""))
    schemes = HTTP if spec.get("provider") == "azure" else ()
    scheme = _SCHEME.match(endpoint)
    if scheme and scheme[0].removesuffix("://") not in schemes:
        yield _bad(("endpoint",), "has a scheme, which Flux does not take here", "write 'HOST' or 'HOST:PORT'")
        return
    bare = endpoint[scheme.end() :].removesuffix("/") if scheme else endpoint
    if why := _misfit(f"s3://{bare}", Form(("s3",), path=None)):
        yield _bad(("endpoint",), why, "write 'HOST' or 'HOST:PORT'")
    if not _BUCKET.fullmatch(bucket):
        message = "the name of the bucket has other characters than letters, digits, '.', '_' and '-'"
        yield Problem(("bucketName",), "bad-url", message, fix="write the name of the bucket alone")


def _provider_problems(spec: Mapping[str, Any]) -> Iterator[Problem]:
    kind, address, channel = str(spec.get("type")), str(spec.get("address") or ""), str(spec.get("channel") or "")
    place = ("address",)
    if address and kind not in PROVIDERS:
        yield _bad(place, "is of a type of provider whose addresses Tenantry does not know", "choose another type")
    elif address and kind in _NAMES and not _NAMES[kind][0].fullmatch(address):
        words = _NAMES[kind][1]
        yield _bad(place, f"is not {words}", f"write {words}; a connection string belongs into credentials")
    elif address and kind in _REPOSITORIES and not _misfit(address, PROVIDERS[kind] or _GIT):
        repository, words = _REPOSITORIES[kind]
        path = _PATH.fullmatch(address)
        if path and not repository.fullmatch(path[1].removesuffix(".git")):
            yield _bad(place, f"names no repository as Flux reads it for '{kind}'", f"write 'https://HOST/{words}'")
    form, words = _CHANNELS.get(kind, (None, ""))
    if channel and form and not form.fullmatch(channel):
        message = f"the channel of a provider of type '{kind}' has another form than Flux reads"
        yield Problem(("channel",), "bad-value", message, fix=f"write {words}")
    elif not channel.isprintable():
        message = "the channel contains characters that cannot be seen"
        yield Problem(("channel",), "bad-value", message, fix="remove them")


def _bad(at: Path, why: str, fix: str) -> Problem:
    return Problem(at, "bad-url", f"the address {why}", fix=fix)
