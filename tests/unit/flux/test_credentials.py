"""Which keys fit which use, as Flux reads them."""

from __future__ import annotations

from typing import Any

from tenantry.flux.credentials import USES, misfit, needed, use_of
from tests.table import table

GIT = {"url": "https://git.example.com/rocky"}
SSH = {"url": "ssh://git@git.example.com/rocky"}
HUB = {"url": "oci://docker.io/rocky/web"}
SECRET = ("secretRef",)
APP = "githubAppID githubAppPrivateKey githubAppInstallationOwner ca.crt"


@table(
    ("kind", "spec", "path", "keys"),
    [
        ("GitRepository", GIT, SECRET, "username password"),
        ("GitRepository", GIT, SECRET, "bearerToken"),
        ("GitRepository", GIT, SECRET, "ca.crt"),
        ("GitRepository", GIT, SECRET, "caFile"),
        ("GitRepository", {"url": "https://me@git.example.com/rocky"}, SECRET, "password"),
        ("GitRepository", SSH, SECRET, "identity identity.pub known_hosts password"),
        (
            "GitRepository",
            {**GIT, "provider": "github"},
            SECRET,
            APP,
        ),
        ("GitRepository", GIT, ("verify", SECRET[0]), "lead.sshpub"),
        ("HelmRepository", GIT, SECRET, "username password"),
        ("HelmRepository", {**HUB, "type": "oci"}, SECRET, "username password"),
        ("HelmRepository", GIT, ("certSecretRef",), "tls.key tls.crt"),
        ("Bucket", {"provider": "gcp"}, SECRET, "serviceaccount"),
        ("Bucket", {"provider": "azure"}, SECRET, "sasKey"),
        ("Bucket", {"sts": {}}, ("sts", *SECRET), "username password"),
        ("OCIRepository", {"verify": {"provider": "notation"}}, ("verify", *SECRET), "trustpolicy.json root.pem"),
        ("HelmChart", {"verify": {"provider": "cosign"}}, ("verify", *SECRET), "cosign.pub"),
        ("OCIRepository", HUB, ("verify", "trustedRootSecretRef"), "trusted_root.json"),
        *(
            ("Kustomization", {}, ("decryption", *SECRET), key)
            for key in ("a.agekey", "b.asc", "sops.aws-kms", "sops.vault-token")
        ),
    ],
)
def test_keys_that_flux_reads_fit_and_no_others_do(
    kind: str, spec: dict[str, Any], path: tuple[str, ...], keys: str
) -> None:
    use = use_of(kind, spec, path)
    assert use
    url = str(spec.get("url", ""))
    assert misfit(use, "x", keys.split(), url=url) is None
    assert misfit(use, "x", ["other"], url=url)
    assert misfit(use, "x", ["identity"], url=url)


@table(
    ("registry", "url", "fits"),
    [
        ("ghcr.io", "oci://ghcr.io/rocky/web", True),
        ("docker.io", "oci://index.docker.io/rocky/web", True),
        ("registry.example.com:5000", "oci://registry.example.com:5000/web", True),
        ("registry.example.com", "oci://registry.example.com:5000/web", False),
        ("ghcr.io", "oci://docker.io/rocky/web", False),
    ],
)
def test_a_login_is_for_the_registry_that_flux_fetches_from(registry: str, url: str, *, fits: bool) -> None:
    use = use_of("OCIRepository", {"url": url}, SECRET)
    assert use
    assert (misfit(use, "x", (), registry, url) is None) is fits


def test_a_repository_over_ssh_and_one_of_an_app_need_credentials() -> None:
    assert needed("GitRepository", SSH)
    assert needed("GitRepository", {**GIT, "provider": "github"})
    assert needed("GitRepository", {**SSH, "secretRef": {"name": "x"}}) is None
    assert needed("GitRepository", GIT) is None


def test_each_use_has_words_of_its_own() -> None:
    assert len({use.what for use in USES}) == len(USES)
    assert all(use.words for use in USES)
