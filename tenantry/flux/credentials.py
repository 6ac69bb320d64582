"""Which keys of a Secret Flux reads, by what names the Secret: one table for sources, decryption, signatures, alerts and receivers.

Flux ignores all other keys in silence, and fails later or fetches without a login. Source: the code of the controllers of Flux 2.9,
`internal/controller` and `internal/decryptor`, and of fluxcd/pkg, `runtime/secrets` and `git`.

Without credentials, some objects use the identity of Flux's controllers, which can read objects of all teams: `borrowed`.

Called by: the rules and the plan, about finished specs; the reference of tenants.yaml, which lists the table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tenantry.messages.data import value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.redact import shorten


class Use(NamedTuple):
    """What Flux reads of a Secret. what: what for, in words.

    ways: sets of keys of which it needs one as a whole; `*.asc` is any key that ends so. registry: it reads a registry's login.
    pairs: keys of which it takes both or none. either: keys of which it takes one. also: what it reads beside, for the reference.
    """

    what: str
    ways: tuple[tuple[str, ...], ...] = ()
    registry: bool = False
    pairs: tuple[tuple[str, str], ...] = ()
    either: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What it needs, in words."""
        if self.either:
            return f"{format_keys(self.ways[0][:-1])}, and '{self.either[0]}' or '{self.either[1]}'"
        ways = ["what 'registry: HOST' declares"] * self.registry + [format_keys(way) for way in self.ways]
        return " or ".join(filter(None, (", ".join(ways[:-1]), ways[-1])))

    def missing(self, keys: Collection[str]) -> tuple[str, ...] | None:
        """What some keys lack, the least of all ways; empty if they fit; None if they begin none of the ways."""
        known = {*keys, *(_RENAMED[key] for key in keys if key in _RENAMED)}
        halves = [{*pair} - known for pair in self.pairs]
        if half := next((tuple(absent) for absent in halves if len(absent) == 1), ()):
            return half
        lacks = [tuple(key for key in way if not any(fnmatchcase(name, key) for name in known)) for way in self.ways]
        begun = (keys for keys, way in zip(lacks, self.ways, strict=True) if len(keys) < len(way))
        return min(begun, key=len, default=None)


_RENAMED = {"caFile": "ca.crt", "certFile": "tls.crt", "keyFile": "tls.key"}
"""Older names of keys that Flux still reads."""
_LOGIN = ("username", "password")
_CLIENT = ("tls.crt", "tls.key")
_TLS = (("ca.crt",), _CLIENT)
_APP = ("githubAppID", "githubAppPrivateKey")
_INSTALLATION = ("githubAppInstallationID", "githubAppInstallationOwner")
_APPS = tuple((*_APP, key) for key in _INSTALLATION)
_SOPS = ("sops.aws-kms", "sops.azure-kv", "sops.gcp-kms", "sops.vault-token")

GIT = Use("a Git repository over HTTPS", (_LOGIN, ("bearerToken",), *_TLS))
SSH = Use("a Git repository over SSH", (("identity", "known_hosts"),), also=("password",))
APP = Use(
    "a Git repository with 'provider: github'",
    _APPS,
    pairs=(_LOGIN,),
    either=_INSTALLATION,
    also=("githubAppBaseURL", "ca.crt"),
)
OCI = Use("an OCI repository", registry=True)
INDEX = Use("a Helm repository", (_LOGIN, *_TLS), pairs=(_LOGIN,))
OCI_CHARTS = Use("a Helm repository with 'type: oci'", (_LOGIN, *_TLS), registry=True, pairs=(_LOGIN,))
BUCKETS = {
    "generic": Use("a bucket", (("accesskey", "secretkey"),)),
    "gcp": Use("a bucket with 'provider: gcp'", (("serviceaccount",),)),
    "azure": Use(
        "a bucket with 'provider: azure'",
        (
            *(("tenantId", "clientId", key) for key in ("clientSecret", "clientCertificate")),
            *((key,) for key in ("accountKey", "sasKey", "clientId", "authorityHost")),
        ),
    ),
}
STS = Use("the 'sts' of a bucket", (_LOGIN,))
SOPS = Use("decryption", (("*.agekey",), ("*.asc",), *((key,) for key in _SOPS)))
CERTIFICATES = Use("'certSecretRef'", _TLS, pairs=(_CLIENT,))
PROXY = Use("'proxySecretRef'", (("address",),), also=_LOGIN)
COMMITS = Use("'verify' of a Git repository", (("*.asc",), ("*.sshpub",)))
COSIGN = Use("'verify' with 'provider: cosign'", (("*.pub",),))
NOTATION = Use("'verify' with 'provider: notation'", (("trustpolicy.json", "*.crt"), ("trustpolicy.json", "*.pem")))
TRUSTED_ROOT = Use("'trustedRootSecretRef'", (("trusted_root.json",),))

_TOKEN = (("token",),)
_OF_PROVIDERS = {
    **dict.fromkeys(("bitbucket", "datadog", "generic-hmac", "gitea", "opsgenie", "telegram"), _TOKEN),
    **dict.fromkeys(("bitbucketserver", "gitlab"), (*_TOKEN, ("password",))),
    **dict.fromkeys(("github", "githubdispatch"), (*_TOKEN, ("password",), _APP)),
}
PROVIDERS = {kind: Use(f"a provider of type '{kind}'", ways) for kind, ways in _OF_PROVIDERS.items()}
"""Types of providers that Flux does not use without credentials. Others take an `address` from them, if they have any."""
ADDRESS = Use("a provider without 'address:'", (("address",),))
SLACK_API = Use("a provider of type 'slack' with this address", _TOKEN)
GCR = Use("a receiver of type 'gcr'", (("token", "email", "audience"),))
RECEIVER = Use("a receiver", _TOKEN)

USES = (
    *(GIT, SSH, APP, OCI, INDEX, OCI_CHARTS, *BUCKETS.values(), STS, SOPS, CERTIFICATES, PROXY),
    *(COMMITS, COSIGN, NOTATION, TRUSTED_ROOT, *PROVIDERS.values(), ADDRESS, GCR, RECEIVER),
)
"""All of them, in the order of the reference."""


def use_of(kind: str, spec: Mapping[str, Any], path: Path) -> Use | None:
    """What Flux reads of the Secret that a path of a spec names, such as ("verify", "secretRef"); None: that is not known."""
    match kind, path:
        case _, (*_, "certSecretRef"):
            return CERTIFICATES
        case _, (*_, "proxySecretRef"):
            return PROXY
        case _, (*_, "trustedRootSecretRef"):
            return TRUSTED_ROOT
        case "Kustomization", ("decryption", "secretRef"):
            return SOPS
        case "GitRepository", ("verify", "secretRef"):
            return COMMITS
        case _, ("verify", "secretRef"):
            return NOTATION if value_at(spec, ("verify", "provider")) == "notation" else COSIGN
        case "Bucket", ("sts", "secretRef"):
            return STS
        case _, ("secretRef",):
            return _of_source(kind, spec)
    return None


def _of_source(kind: str, spec: Mapping[str, Any]) -> Use | None:
    provider, url = spec.get("provider", "generic"), str(spec.get("url", ""))
    match kind:
        case "GitRepository":
            if provider == "github":
                return APP
            # With the identity of a cloud, Flux takes over no login from a Secret.
            if url.startswith("ssh://") or provider != "generic":
                return SSH if url.startswith("ssh://") else None
            # The user of a Git repository over HTTPS can stand in its address.
            return GIT._replace(ways=(*GIT.ways, ("password",))) if urlsplit(url).username else GIT
        case "HelmRepository":
            return OCI_CHARTS if spec.get("type") == "oci" else INDEX
        case "OCIRepository":
            return OCI
        case "Bucket":
            return BUCKETS.get(provider, BUCKETS["generic"])
    return None


def needed(kind: str, spec: Mapping[str, Any]) -> tuple[Path, Use] | None:
    """A Secret without which Flux does not use a spec that names none: the path of its name, and what Flux reads of it."""
    for path in (("secretRef",), ("verify", "secretRef")):
        if not value_at(spec, path) and (use := use_of(kind, spec, path)) in (SSH, APP, NOTATION):
            return path, use
    return None


def misfit(use: Use, name: str, keys: Collection[str], registry: str = "", url: str = "") -> tuple[str, str] | None:
    """Why credentials do not have what Flux reads, and the fix; None: they have. registry: whose login; url: of what uses it."""
    host = urlsplit(url).netloc.rpartition("@")[2] if use.registry else ""
    fix = f"declare '{name}' as {forms(use, host)}, or name other credentials"
    if registry and use.registry:
        if not host or _hub(registry) == _hub(host):
            return None
        message = f"credentials '{name}' are a login of '{registry}', and Flux fetches from '{host}'"
        return message, f"name credentials that are declared as '{{registry: {host}}}', or none"
    have = "are the login of a registry"
    if not registry:
        have = f"have the key{'s' if len(keys) > 1 else ''} {format_keys([*map(shorten, keys)])}"
        if use.either and {*use.either} <= {*keys}:
            fix = f"remove '{use.either[0]}' or '{use.either[1]}'"
            return f"credentials '{name}' {have}, of which Flux takes one alone", fix
        if "githubAppID" in keys and use in (GIT, SSH):
            message = f"credentials '{name}' have keys of a GitHub App, which Flux reads with 'provider: github' alone"
            return message, "write 'provider: github' beside 'url:'"
        if (missing := use.missing(keys)) is not None:
            if not missing:
                return None
            fix = f"add {format_keys(missing)} to the keys"
    return f"credentials '{name}' {have}, and for {use.what} Flux reads {use.words}", fix


def forms(use: Use, host: str = "") -> str:
    """How credentials for a use are declared, in two ways if there are two. Args: host: of the registry."""
    ways = [f"'{{registry: {host or 'HOST'}}}'"] * use.registry
    ways += [f"'{{keys: [{', '.join(key.replace('*', 'key') for key in way)}]}}'" for way in use.ways]
    return " or ".join(ways[:2])


def format_keys(keys: Collection[str]) -> str:
    """'username' and 'password'"""
    *others, last = (f"'{key}'" for key in keys)
    return " and ".join(filter(None, (", ".join(others), last)))


_HUB = ("docker.io", "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com")


def _hub(host: str) -> str:
    """A host, and one name for the hosts of Docker Hub."""
    return _HUB[0] if host.split("/")[0] in _HUB else host.lower()


_CLOUDS = ("aws", "azure", "gcp")
_CLOUD_ALERTS = ("azuredevops", "azureeventhub", "googlepubsub")
"""Types of alerts' providers that log in with the controller's own identity where they are given no other."""
_WITH_FILES = ("googlepubsub",)
"""Those whose key may name a file, such as a token of the controller's, and an address to which its content is sent."""

_OWN, _OTHER_TYPE = "declare credentials for the tenant", "choose another type"


def borrowed(kind: str, spec: Mapping[str, Any]) -> Iterator[Problem]:
    """A finding for each field of an object's spec with that effect."""
    if kind == "Provider":
        type = spec.get("type")
        fix = _OTHER_TYPE if type in _WITH_FILES else _OWN
        if type in _CLOUD_ALERTS and not spec.get("secretRef"):
            yield _finding(("type",), f"'{type}' without credentials uses the cloud identity", fix)
        elif type in _WITH_FILES:
            yield _finding(("type",), f"credentials of '{type}' can name files", fix)
        return
    if spec.get("provider") in _CLOUDS:
        yield _finding(("provider",), f"provider '{spec['provider']}' uses the cloud identity")
    if isinstance(decryption := spec.get("decryption"), dict) and "secretRef" not in decryption:
        yield _finding(("decryption",), "decryption without 'secretRef' uses the keys and the cloud identity")


def _finding(at: Path, message: str, fix: str = _OWN) -> Problem:
    return Problem(
        at,
        "shared-identity",
        f"{message} of Flux's controllers, which all tenants would share",
        fix=f"{fix}, or ask the platform team to set 'platform: {{sharedIdentity: true}}'",
    )
