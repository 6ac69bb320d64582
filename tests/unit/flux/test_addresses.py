"""Which addresses Flux's kinds take: a form for each field and each type of provider, and nothing that can be read differently."""

from __future__ import annotations

from typing import Any

from tenantry.flux.addresses import PROVIDERS, address_problems, addresses_of
from tenantry.flux.schemas import kinds, schema_of
from tests.table import table


def why(kind: str, **spec: Any) -> list[str]:
    return [f"{'.'.join(map(str, each.path))}: {each.message}" for each in address_problems(kind, spec)]


GIT = "https://git.example.com/rocky"
NO_HOST = "has no valid host: names consist of letters, digits and '-', with single dots between them"
NO_ASCII = "has a host with other characters than ASCII; a name in another script is written as 'xn--...'"
NO_IPV6 = "has an IPv6 address that is not in its shortest form, such as '[2001:db8::1]'"
NO_USER = "has a user with other characters than letters, digits, '_' and '-'"
HOSTILE = {
    f"{GIT}/..;/movy/secret": "contains ';' in its path",
    f"{GIT}/x;y/../movy": "contains ';' in its path",
    f"{GIT}/x/../movy": "has dots or a space for a directory in its path",
    f"{GIT}/x;y": "contains ';' in its path",
    f"{GIT}/..%20/movy": "has dots or a space for a directory in its path",
    f"{GIT}/.%2e/movy": "has an encoded character in its path that programs decode differently",
    f"{GIT}/%c0%ae%c0%ae/movy": "has an encoded character in its path that programs decode differently",
    f"{GIT}/.../movy": "has dots or a space for a directory in its path",
    f"{GIT}/\uff0e\uff0e/movy": "contains the character U+FF0E in its path",
    f"{GIT}/a\u200b": "contains the character U+200B in its path",
    f"{GIT}/\u2024\u2024/movy": "contains the character U+2024 in its path",
    f"{GIT}//movy": "has two slashes in a row in its path",
    f"{GIT}\\movy": "contains '\\' in its path",
    f"{GIT}#x": "contains '#' in its path",
    f"{GIT}?x=y": "has a query",
    "https://git.example.com:0/rocky": "has a port that is not a number from 1 to 65535",
    "https://git.example.com:/rocky": "has a port that is not a number from 1 to 65535",
    "https://git.example.com:00443/rocky": "has a port that is not a number from 1 to 65535",
    "https://git.example.com@evil.example.com/rocky": NO_USER,
    "ssh://-oProxyCommand=x@git.example.com/rocky": NO_USER,
    "https://git\u3002example.com/rocky": NO_ASCII,
    "https://\u212aube.example.com/rocky": NO_ASCII,
    "https://git..example.com/rocky": NO_HOST,
    "https://git.example.com./rocky": NO_HOST,
    "https://127.1/rocky": "has a number for a host that is no IPv4 address of four numbers",
    "https://0x7f000001/rocky": "has a number for a host that is no IPv4 address of four numbers",
    "https://[::ffff:127.0.0.1]/rocky": NO_IPV6,
    "https://[fe80::1%25eth0]/rocky": NO_IPV6,
    "HTTPS://git.example.com/rocky": "does not begin with a scheme in small letters, such as 'https://'",
    "x://y://z": "has a port that is not a number from 1 to 65535",
    "file:///etc/passwd": NO_HOST,
    f"{GIT},{GIT}": "contains ',' in its path",
    "oci://ghcr.io/rocky": "begins with 'oci://'",
}


@table("url", HOSTILE)
def test_what_programs_read_differently_is_no_address(url: str) -> None:
    assert why("GitRepository", url=url) == [f"url: the address {HOSTILE[url]}"]


@table(
    "url",
    [
        GIT,
        f"{GIT}/",
        f"{GIT}/my%20project/_git/m.git",
        "https://rocky@dev.azure.com/rocky/web/_git/web",
        "ssh://git@git.example.com:2222/~rocky/manifests.git",
        "ssh://first.last@gerrit.example.com:29418/a/b",
        "http://127.0.0.1:8930/git/rocky/manifests.git",
        "https://[2001:db8::1]:8443/x",
        "https://xn--bcher-kva.example/rocky",
        f"{GIT}/.github/a@b:c=d+e~f_g-h",
    ],
)
def test_usual_addresses_are_taken(url: str) -> None:
    assert why("GitRepository", url=url) == []


@table(
    ("kind", "spec", "path"),
    [
        ("OCIRepository", {"url": "oci://registry/rocky/web"}, "url"),
        ("OCIRepository", {"url": "oci://ghcr.io"}, "url"),
        ("OCIRepository", {"url": "oci://ghcr.io/Rocky/web"}, "url"),
        ("OCIRepository", {"url": "oci://ghcr.io/rocky/web:v1"}, "url"),
        ("HelmRepository", {"url": "oci://registry/charts", "type": "oci"}, "url"),
        ("HelmRepository", {"url": "ssh://git@git.example.com/x"}, "url"),
        ("Bucket", {"endpoint": "https://s3.example.com", "bucketName": "b"}, "endpoint"),
        ("Bucket", {"endpoint": "s3.example.com/rocky", "bucketName": "b"}, "endpoint"),
        ("Bucket", {"endpoint": "me@s3.example.com", "bucketName": "b"}, "endpoint"),
        ("Bucket", {"endpoint": "s3.example.com", "bucketName": "../movy"}, "bucketName"),
        ("Bucket", {"endpoint": "s3.example.com", "bucketName": "rocky/x"}, "bucketName"),
        (
            "Bucket",
            {"endpoint": "s3.example.com", "bucketName": "b", "sts": {"endpoint": f"{GIT}/..;/x"}},
            "sts.endpoint",
        ),
        ("Receiver", {"oidcProviders": [{"issuerURL": f"{GIT}/..;/x"}]}, "oidcProviders.0.issuerURL"),
        ("HelmChart", {"chart": "../../movy/web", "sourceRef": {"kind": "HelmRepository"}}, "chart"),
        ("HelmChart", {"chart": "web?x=y", "sourceRef": {"kind": "HelmRepository"}}, "chart"),
        ("Provider", {"type": "generic", "proxy": "http://me@proxy.example.com"}, "proxy"),
    ],
)
def test_every_kind_has_forms_of_its_own(kind: str, spec: dict[str, Any], path: str) -> None:
    (found,) = address_problems(kind, spec)
    assert ".".join(map(str, found.path)) == path


@table(
    ("kind", "spec"),
    [
        ("OCIRepository", {"url": "oci://123.dkr.ecr.eu-west-1.amazonaws.com/rocky/web__x"}),
        ("OCIRepository", {"url": "oci://localhost:5000/web"}),
        ("HelmRepository", {"url": "oci://charts.example.com", "type": "oci"}),
        ("HelmRepository", {"url": "https://git.example.com/api/v4/projects/1/packages/helm/stable"}),
        ("Bucket", {"endpoint": "minio:9000", "bucketName": "My_bucket.1"}),
        ("Bucket", {"endpoint": "https://rocky.blob.core.windows.net/", "bucketName": "b", "provider": "azure"}),
        ("HelmChart", {"chart": "team/web", "sourceRef": {"kind": "HelmRepository"}}),
        ("HelmChart", {"chart": "./charts/web", "sourceRef": {"kind": "GitRepository"}}),
        ("Provider", {"type": "generic", "proxy": "http://proxy.example.com:3128/"}),
    ],
)
def test_usual_addresses_of_every_kind_are_taken(kind: str, spec: dict[str, Any]) -> None:
    assert why(kind, **spec) == []


# --- providers of alerts ---------------------------------------------------------------------------------------------

HOOK = "https://hooks.example.com/rocky"
REPOSITORY = "https://git.example.com/rocky/manifests"
TAKEN = {
    **dict.fromkeys(
        ("alertmanager", "discord", "generic", "generic-hmac", "googlechat", "grafana"), (f"{HOOK}?a=b", "x y")
    ),
    **dict.fromkeys(("lark", "msteams", "opsgenie", "rocket", "slack", "webex"), (f"{HOOK}?a=%2Fb", "#kanal-\u00fc")),
    "telegram": ("https://api.telegram.org", "-100123:7"),
    "matrix": ("https://matrix.example.com", "!jezptmDwEeLapMLjOc:matrix.org"),
    "otel": ("https://otel.example.com/v1/traces", ""),
    "sentry": ("https://0a1b@o0.ingest.sentry.io/12341234", "staging"),
    **dict.fromkeys(("datadog", "pagerduty", "zulip"), ("https://events.example.com", "a/b")),
    **dict.fromkeys(("bitbucket", "gitea", "github", "githubdispatch"), (REPOSITORY, "")),
    "azuredevops": ("https://dev.azure.com/example/rocky/_git/manifests", ""),
    "bitbucketserver": ("https://git.example.com/bitbucket/scm/rocky/manifests.git", ""),
    "gitlab": ("ssh://git@git.example.com/rocky/manifests", ""),
    "nats": ("nats://a.example.com,tls://b.example.com:4223", "fleet.rocky"),
    "azureeventhub": ("rocky-hub", "rocky-ns.servicebus.windows.net"),
    "googlepubsub": ("rocky-project", "fleet-events"),
}


def test_every_type_of_flux_has_a_form() -> None:
    """A new type of Flux has none until somebody has read what it does with its address. Those that comment on requests say nothing
    of Tenantry's objects.
    """
    types = set(schema_of("Provider").spec["properties"]["type"]["enum"])
    comments = {"giteapullrequestcomment", "githubpullrequestcomment", "gitlabmergerequestcomment"}
    assert PROVIDERS.keys() == types - comments == TAKEN.keys()
    assert why("Provider", type="new", address=HOOK) == [
        "address: the address is of a type of provider whose addresses Tenantry does not know"
    ]


@table("kind", TAKEN)
def test_the_usual_address_and_channel_of_a_type_are_taken(kind: str) -> None:
    address, channel = TAKEN[kind]
    assert why("Provider", type=kind, address=address, channel=channel) == []


@table(
    ("kind", "address", "form"),
    [
        ("github", "https://github.com/rocky", "OWNER/REPOSITORY"),
        ("github", "https://github.com/rocky/manifests/", "OWNER/REPOSITORY"),
        ("gitea", "https://example.com/gitea/rocky/manifests", "OWNER/REPOSITORY"),
        ("gitlab", "https://gitlab.com/rocky", "GROUP/PROJECT"),
        ("azuredevops", "https://dev.azure.com/example/rocky", "ORGANIZATION/PROJECT/_git/REPOSITORY"),
        ("bitbucketserver", "https://git.example.com/projects/R/repos/manifests", "scm/PROJECT/REPOSITORY"),
    ],
)
def test_the_address_of_a_forge_is_that_of_a_repository_as_flux_takes_it_apart(
    kind: str, address: str, form: str
) -> None:
    (found,) = address_problems("Provider", {"type": kind, "address": address})
    assert (found.path, found.code) == (("address",), "bad-url")
    assert found.message == f"the address names no repository as Flux reads it for '{kind}'"
    assert found.fix == f"write 'https://HOST/{form}'"


@table("kind", TAKEN)
@table("tail", ["/..;/movy", "\uff0e\uff0e/x", "\u200b", "\\@evil.example.com", " https://evil.example.com"])
def test_no_type_takes_an_address_that_is_read_differently(kind: str, tail: str) -> None:
    assert why("Provider", type=kind, address=TAKEN[kind][0] + tail)


@table(
    ("kind", "address", "channel"),
    [
        ("nats", "nats://granted.example.com/*,nats://evil.example.com:4222", "x"),
        ("nats", "nats://a.example.com, nats://b.example.com", "x"),
        ("nats", "nats://token@a.example.com", "x"),
        ("nats", "a.example.com:4222", "x"),
        ("nats", "nats://a.example.com", "x\r\nPUB y 0"),
        ("nats", "nats://a.example.com", "fleet.>"),
        ("pagerduty", HOOK, "key"),
        ("datadog", HOOK, ""),
        ("zulip", HOOK, "a/b"),
        ("zulip", "https://zulip.example.com", "a"),
        ("matrix", "https://matrix.example.com/rocky", "../../../../x"),
        ("matrix", "https://matrix.example.com", "!a:b/../../x?y="),
        ("matrix", f"{HOOK}?x=y", "!a:b"),
        ("azureeventhub", "hub", "ns.evil.example.com"),
        ("azureeventhub", "Endpoint=sb://x.servicebus.windows.net/", ""),
        ("googlepubsub", "../x", "topic"),
        ("googlepubsub", "rocky-project", "../x"),
        ("telegram", "", "https://evil.example.com"),
        ("github", f"{GIT}?x", ""),
        ("slack", HOOK, "a\u200bb"),
    ],
)
def test_what_a_service_would_read_as_another_place_is_refused(kind: str, address: str, channel: str) -> None:
    assert len(why("Provider", type=kind, address=address, channel=channel)) == 1


def test_each_address_of_a_list_has_to_be_granted() -> None:
    spec = {"type": "nats", "address": "nats://a.example.com,nats://b.example.com", "channel": "x"}
    assert [each for _, each in addresses_of("Provider", spec)] == ["nats://a.example.com", "nats://b.example.com"]


@table(
    ("channel", "expected"),
    [
        ("ns", "sb://ns.servicebus.windows.net/hub"),
        ("ns.servicebus.evil.example.com", "sb://ns.servicebus.evil.example.com/hub"),
    ],
)
def test_the_channel_of_an_event_hub_is_its_host(channel: str, expected: str) -> None:
    spec = {"type": "azureeventhub", "address": "hub", "channel": channel}
    assert list(addresses_of("Provider", spec)) == [(("channel",), expected)]


_ADDRESS_LIKE = ("url", "address", "endpoint", "issuerURL", "proxy", "image")


def test_no_field_with_an_address_is_without_a_form() -> None:
    """A new field of Flux of such a name needs a form: without one nobody would look at its value."""
    found = {f"{kind}.{'.'.join(path)}" for kind in kinds() for path in _texts(schema_of(kind).spec, ())}
    assert found == {
        *("Bucket.endpoint", "Bucket.sts.endpoint", "GitRepository.url", "HelmRepository.url"),
        *("OCIRepository.url", "Provider.address", "Provider.proxy", "Receiver.oidcProviders.issuerURL"),
    }


def _texts(schema: dict[str, Any], at: tuple[str, ...]) -> list[tuple[str, ...]]:
    found = [at] if at and at[-1] in _ADDRESS_LIKE and schema.get("type") == "string" else []
    for name, inner in schema.get("properties", {}).items():
        found += _texts(inner, (*at, name))
    return found + (_texts(schema["items"], at) if isinstance(schema.get("items"), dict) else [])


@table(
    ("kind", "url"),
    [
        ("GitRepository", "https://github.com/rocky/m/tree/main/web"),
        ("GitRepository", "https://github.com/rocky/m/blob/v1/a.yaml"),
        ("GitRepository", "https://gitlab.com/a/b/m/-/tree/main"),
        ("GitRepository", "https://codeberg.org/a/m/src/branch/main"),
        ("GitRepository", "https://github.com/rocky/m/releases"),
        ("GitRepository", "https://bitbucket.org/a/m/src/main/"),
        ("GitRepository", "https://raw.githubusercontent.com/a/m/main/x.yaml"),
        ("HelmRepository", "https://charts.example.com/stable/index.yaml"),
        ("HelmRepository", "https://charts.example.com/web-1.0.0.tgz"),
        ("HelmRepository", "https://github.com/a/m/tree/main/charts"),
        ("HelmRepository", "https://artifacthub.io/packages/helm/bitnami/nginx"),
    ],
)
def test_an_address_of_a_page_or_a_file_is_none_of_a_repository(kind: str, url: str) -> None:
    (problem,) = address_problems(kind, {"url": url})
    assert problem.message == "the address is that of a page or a file, and not of a repository"


@table(
    ("kind", "url"),
    [
        ("GitRepository", "https://git.example.com/tree/main"),
        ("GitRepository", "https://git.example.com/a/b/src/c"),
        ("GitRepository", "https://dev.azure.com/a/b/_git/m"),
        ("HelmRepository", "https://raw.githubusercontent.com/a/m/gh-pages"),
        ("HelmRepository", "https://github.com/a/m/raw/gh-pages"),
    ],
)
def test_an_address_that_only_looks_like_a_page_is_taken(kind: str, url: str) -> None:
    assert not [*address_problems(kind, {"url": url})]
