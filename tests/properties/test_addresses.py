"""Addresses are read a second time by a parser of its own, which says the same of every drawn address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import example
from hypothesis import strategies as st

from tenantry.flux.addresses import addresses_of
from tenantry.grants.grants import is_allowed
from tests.drawn import given
from tests.properties.reading import addresses, is_below

_HOSTILE = ".;/\\@:%?#-~,&=+[] \n\t\u200b\uff0e\u2024\u3002\u212a\u0131\u2044\xadA0x"
"""What programs read differently, with characters of no width, other scripts' dots, and letters that become ASCII in small."""
_SCHEMES = (
    "https://",
    "http://",
    "ssh://",
    "oci://",
    "nats://",
    "s3://",
    "HTTPS://",
    "//",
    "x://",
    "https:",
    "git+ssh://",
    "",
)
_USERS = ("", "", "", "git@", "-o@", "a.b@", "a:b@", "@", "git.example.com@", "a@b@")
_HOSTS = (
    *(
        "git.example.com",
        "GIT.example.com",
        "git.example.com.",
        "git..example.com",
        "git.\u212aube.com",
        "a_b.example.com",
    ),
    *(
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "010.0.0.1",
        "2130706433",
        "1.2.3.256",
        "localhost",
        "-a.example.com",
        "xn--git-xyz.com",
    ),
    *(
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:1.2.3.4]",
        "[fe80::1%25eth0]",
        "[2001:DB8::1]",
        "[2001:db8::1]",
        "::1",
        "[]",
        "",
    ),
)
_PORTS = ("", "", "", ":443", ":0", ":00443", ":65535", ":65536", ":", ":x", ":22", ":-1")
_SEGMENTS = (
    *(
        "rocky",
        "rocky",
        "rocky",
        "movy",
        "m",
        "m.git",
        "..",
        ".",
        "...",
        "..;",
        "..;a",
        "..%20",
        "%2e%2e",
        "%2E.",
        "a%20b",
    ),
    *(
        "%20",
        "a%2fb",
        "..a",
        ".github",
        "a..",
        "~me",
        "",
        "*",
        "a b",
        "a\\..\\b",
        "\uff0e\uff0e",
        "a\u200b",
        "a@b",
        "a,b",
        "a;b",
    ),
)
_ENDS = ("", "", "", "/", "//", "?", "?a=b", "?a=%zz", "?a=%2F&b", "#x", "?a?b", ",https://evil.example.com", "\n")


@st.composite
def _addresses_drawn(draw: st.DrawFn) -> str:
    segments = "".join(f"/{each}" for each in draw(st.lists(st.sampled_from(_SEGMENTS), max_size=4)))
    parts = (draw(st.sampled_from(each)) for each in (_SCHEMES, _USERS, _HOSTS, _PORTS))
    text = "".join((*parts, segments, draw(st.sampled_from(_ENDS))))
    at = draw(st.integers(0, len(text)))
    inserted: str = draw(st.sampled_from(("", "", "", *_HOSTILE)))
    return f"{text[:at]}{inserted}{text[at:]}"


_texts = st.one_of(_addresses_drawn(), st.text(f"https://git.example.com/rocky{_HOSTILE}", max_size=30))
_patterns = st.lists(
    st.one_of(
        st.sampled_from(
            ("*", "https://git.example.com/rocky/*", "https://git.example.com/*", "https://git.example.com")
        ),
        _texts,
        _texts.map(lambda text: f"{text}/*"),
    ),
    max_size=3,
)


@given(_texts, _patterns)
@example("https://h?x", ["*"])
@example("https://git.example.com/rocky/..;/movy", ["https://git.example.com/rocky/*", "*"])
@example("https://\u212aube.example.com/a", ["https://kube.example.com/*"])
@example("ssh://-oProxyCommand=x@git.example.com/a", ["*"])
@example("https://git.example.com:0/a", ["*"])
@example("x://y://z", ["*"])
def test_both_parsers_say_the_same_of_an_address_and_its_grants(address: str, patterns: list[str]) -> None:
    # A drawn address that is granted as it is stands, too: it may be its own pattern.
    for granted in (patterns, [*patterns, address], [*patterns, f"{address.rpartition('/')[0]}/*"]):
        assert is_allowed(address, granted) is is_below(address, granted)


_TYPES = ("generic", "nats", "azureeventhub", "googlepubsub", "matrix", "slack", "telegram")
_CHANNELS = ("", "room", "ns.servicebus.evil.example.com", "ns", "a.b", "../x", "projects")


@given(st.sampled_from(_TYPES), st.lists(_texts, max_size=3), st.sampled_from(_CHANNELS), _texts, _patterns)
@example("nats", ["nats://a.example.com", "nats://evil.example.com"], "x", "", ["nats://a.example.com"])
@example("azureeventhub", ["hub"], "ns.servicebus.evil.example.com", "", ["sb://ns.servicebus.windows.net/hub"])
def test_both_find_the_same_addresses_of_an_alert(
    kind: str, addresses: list[str], channel: str, proxy: str, patterns: list[str]
) -> None:
    spec = {"type": kind, "address": ",".join(addresses), "channel": channel, "proxy": proxy}
    _same("Provider", {key: value for key, value in spec.items() if value}, patterns)


@given(_texts, _texts, _patterns)
def test_both_find_the_same_addresses_of_buckets_and_issuers(one: str, two: str, patterns: list[str]) -> None:
    stores = ["s3://minio.example.com/*", *patterns]
    _same("Bucket", {"endpoint": one, "bucketName": two, "sts": {"endpoint": two}}, stores)
    _same("Bucket", {"endpoint": "minio.example.com", "bucketName": two}, stores)
    _same("Receiver", {"oidcProviders": [{"issuerURL": one}]}, patterns)


def _same(kind: str, spec: Mapping[str, Any], patterns: list[str]) -> None:
    """Compare the verdicts on the fields of an object."""
    planner = [is_allowed(address, patterns) for _, address in addresses_of(kind, spec)]
    again = [is_below(address, patterns) for address in addresses(kind, spec)]
    assert all(planner) is all(again)
