"""Which addresses a grant allows; what could mean another place to any program is not allowed."""

from __future__ import annotations

import pytest

from tenantry.fleet.reach import bucket_address, image_address, is_allowed

GRANTED = (
    "https://git.example.com/rocky/*",
    "ssh://git@git.example.com/rocky/m",
    "oci://ghcr.io/rocky/*",
    "s3://minio:9000/b",
)


@pytest.mark.parametrize(
    "address",
    [
        "https://git.example.com/rocky/m",
        "https://git.example.com:443/rocky/m.git/",
        "HTTPS://GIT.example.com/rocky/deep/er",
        "ssh://git@git.example.com:22/rocky/m",
        "ssh://someone@git.example.com/rocky/m",
        image_address("ghcr.io/rocky/web"),
        bucket_address("minio:9000", "b"),
        bucket_address("http://minio:9000/", "b"),
    ],
)
def test_granted_addresses(address: str) -> None:
    assert is_allowed(address, GRANTED)


@pytest.mark.parametrize(
    "address",
    [
        "https://git.example.com/rocky",
        "https://git.example.com/rocky-2/m",
        "https://git.example.com/ROCKY/m",
        "https://git.example.com/rocky/../movy/m",
        "https://git.example.com/rocky/./m",
        "https://git.example.com/rocky/%2e%2e/movy",
        "https://git.example.com/rocky/..\\movy",
        "https://git.example.com/rocky//m",
        "https://git.example.com//rocky/m",
        "https://git.example.com/rocky/m?to=x",
        "https://git.example.com/rocky/m#x",
        "https://git.example.com/rocky/m x",
        "https://git.example.com/rocky/m\n",
        "https://git.example.com:8443/rocky/m",
        "https://git.example.com:x/rocky/m",
        "https://git.example.com@evil.example.com/rocky/m",
        "https://user:word@git.example.com/rocky/m",
        "https://evil.example.com\\@git.example.com/rocky/m",
        "https://git.example.com.evil.example.com/rocky/m",
        "https://g\u0131t.example.com/rocky/m",
        "http://git.example.com/rocky/m",
        "git.example.com/rocky/m",
        "//git.example.com/rocky/m",
        "",
        image_address("rocky/web"),
        image_address("web"),
        bucket_address("minio:9000", "b2"),
        bucket_address("minio:9000/b", "../b"),
    ],
)
def test_other_addresses(address: str) -> None:
    assert not is_allowed(address, GRANTED)
    assert is_allowed(address, ("*",))
    assert not is_allowed(address, ())


def test_images_without_a_host_are_docker_hubs() -> None:
    assert is_allowed(image_address("nginx"), ["oci://docker.io/library/nginx"])
    assert is_allowed(image_address("rocky/web"), ["oci://docker.io/rocky/*"])
    assert is_allowed(image_address("localhost/web"), ["oci://localhost/web"])
