"""A client of an API server, which sends requests as kubectl does: certificates, proxy, credentials, impersonation.

Its HTTP library takes time to import, so import this module only where a cluster is needed.

Source: k8s.io/client-go, `rest`, `transport` and `plugin/pkg/client/auth/exec`; golang.org/x/net, `http/httpproxy`.
Never: shows a credential, or sends a request without what the kubeconfig says about it.
"""

from __future__ import annotations

import ipaddress
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlsplit

import httpx2

from tenantry.cluster.kubeconfig import OTHER_CONTEXT, PROTOCOLS, RENEW, Access, Plugin
from tenantry.cluster.requests import Served
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused

_PROXIES = ("http", "https", "socks5", "socks5h")
_TLS = threading.Lock()
"""One context of TLS at a time: to read certificates, OpenSSL loads and keeps parts that all threads share."""
_TIMEOUT = httpx2.Timeout(10.0)


class Client:
    """http: sends requests with the address, credentials and certificates of one context of a kubeconfig.

    timeout: for each step of an answer. network: answers in place of the real one. served: what `requests` knows of the
    cluster's kinds, by version.
    Raises: Refused: a certificate, a key or the proxy of the kubeconfig cannot be used.
    """

    unread: set[ObjectId] | None = None
    """Secrets that these credentials may not read, for a command that says so; None: reading one raises an error."""
    unlisted = False
    """Whether these credentials may not list Secrets, so that those which nobody plans are not known."""

    def __init__(
        self, access: Access, timeout: httpx2.Timeout = _TIMEOUT, network: httpx2.BaseTransport | None = None
    ) -> None:
        self.access = access
        plain = {"Accept-Encoding": "identity"} if access.cluster.disable_compression else None
        transport = Transport(access, network)
        self.http = httpx2.Client(base_url=access.cluster.server, headers=plain, timeout=timeout, transport=transport)
        self.served: dict[str, Mapping[str, Served]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.http.close()


@dataclass(frozen=True, slots=True)
class _Credentials:
    """certificate: with its key. end: None: it is not known, and a renewal is asked for when the server refuses them."""

    token: str | None = field(default=None, repr=False)
    certificate: tuple[str, str] | None = field(default=None, repr=False)
    end: datetime | None = None


class Transport(httpx2.BaseTransport):
    """The network as one context of a kubeconfig describes it. Several threads may send at once.

    Args:   network: what answers instead, in tests.

    A credential plugin runs before the first request, when its credentials have expired, and once when the server refuses them.
    Raises: Refused: a certificate, a key, the server's address or the proxy cannot be used.
    """

    def __init__(self, access: Access, network: httpx2.BaseTransport | None = None) -> None:
        self._access = access
        self._proxy = proxy_of(access)
        self._lock = threading.Lock()
        self._sent_with: _Credentials | None = None
        user = access.user
        certificate = _usable(access)
        # What a kubeconfig has itself comes first, and then its plugin is never run.
        has_own = bool(certificate or user.token or user.token_file or user.username or user.password)
        self._plugin = user.exec if access.cluster.is_secure and not has_own else None
        self._network = network or _network(access, certificate, self._proxy)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises: Refused: there are no credentials. httpx2.RequestError: no answer."""
        if not self._access.cluster.is_secure:
            return self._network.handle_request(request)
        request.headers.update(_impersonation(self._access, request.headers))
        if name := self._access.cluster.tls_server_name:
            request.extensions = {**request.extensions, "sni_hostname": name}
        if self._plugin is None:
            request.headers.update(_authorization(self._access, self._token()))
            return self._network.handle_request(request)
        credentials = self._login(self._plugin, None)
        response = self._send(request, credentials)
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            response.close()
            response = self._send(request, self._login(self._plugin, credentials))
        return response

    def _send(self, request: httpx2.Request, credentials: _Credentials) -> httpx2.Response:
        if credentials.token:
            request.headers["Authorization"] = f"Bearer {credentials.token}"
        return self._network.handle_request(request)

    def _token(self) -> str | None:
        try:
            return self._access.token
        except (OSError, ValueError):
            raise Refused(f"the token file of {self._access} cannot be read", RENEW) from None

    def _login(self, plugin: Plugin, refused: _Credentials | None) -> _Credentials:
        """The credentials of the plugin. refused: those that the server did not accept. One thread runs the plugin for all."""
        with self._lock:
            last = self._sent_with
            expired = last is not None and last.end is not None and last.end <= datetime.now(UTC)
            if last is None or last is refused or expired:
                new = _run(self._access, plugin)
                if new.certificate and new.certificate != (last and last.certificate):
                    # The old connections have the old certificate. They are left to the requests that use them.
                    self._network = _network(self._access, new.certificate, self._proxy)
                self._sent_with = last = new
            return last

    def close(self) -> None:
        """Close all connections."""
        self._network.close()


def _usable(access: Access) -> tuple[str, str] | None:
    try:
        return access.certificate
    except (OSError, ValueError):
        raise Refused(f"a certificate or key of {access} cannot be used", RENEW) from None


class _SharedContext(ssl.SSLContext):
    """Several threads may open connections with this context at once, because nothing changes it any more.

    httpcore sets the same protocols again for each connection. OpenSSL then frees the list of protocols that another
    thread's handshake is reading: the server answers "decode error", or the process crashes (python/cpython#141012).
    """

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        """Leave the protocols as they are."""


def _network(access: Access, certificate: tuple[str, str] | None, proxy: str | None) -> httpx2.HTTPTransport:
    # A missing file, invalid base64 or invalid PEM: the exceptions do not say which.
    try:
        with _TLS:
            context = _context(access, certificate)
            context.set_alpn_protocols(["http/1.1"])
            context.__class__ = _SharedContext
            return httpx2.HTTPTransport(verify=context, proxy=proxy)
    except (OSError, ValueError):
        raise Refused(f"a certificate or key of {access} cannot be used", RENEW) from None


def _context(access: Access, certificate: tuple[str, str] | None) -> ssl.SSLContext:
    if authority := access.authority:
        context = ssl.create_default_context(cadata=authority)
        # From 3.13 on Python also asks for extensions that certificates of many clusters do not have, and no other client does.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    else:
        context = httpx2.create_ssl_context(verify=not access.cluster.insecure_skip_tls_verify)
    if certificate:
        # OpenSSL reads certificates of clients from files alone.
        with tempfile.TemporaryDirectory() as directory:
            files = [Path(directory, name) for name in ("certificate", "key")]
            for file, content in zip(files, certificate, strict=True):
                file.write_text(content, encoding="ascii")
            # Without a password, OpenSSL would ask the terminal for one.
            context.load_cert_chain(files[0], files[1], password="")
    return context


# --- who asks -------------------------------------------------------------------------------------------------------------


def _authorization(access: Access, token: str | None) -> dict[str, str]:
    user = access.user
    if token:
        return {"Authorization": f"Bearer {token}"}
    if user.username or user.password:
        pair = f"{user.username or ''}:{user.password or ''}"
        return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
    return {}


def _impersonation(access: Access, headers: httpx2.Headers) -> httpx2.Headers:
    """The headers that act as whom the kubeconfig names. A request that impersonates somebody itself keeps its own."""
    user = access.user
    if not user.as_user or "Impersonate-User" in headers:
        return httpx2.Headers()
    pairs = [("Impersonate-User", user.as_user)]
    if user.as_uid:
        pairs.append(("Impersonate-Uid", user.as_uid))
    pairs += [("Impersonate-Group", group) for group in user.as_groups or ()]
    for key, values in (user.as_user_extra or {}).items():
        pairs += [(f"Impersonate-Extra-{quote(key, safe='')}", value) for value in values]
    return httpx2.Headers(pairs)


def _run(access: Access, plugin: Plugin) -> _Credentials:
    """Credentials of a plugin. Raises: Refused: it gives none; the message has what it wrote to standard error."""
    problem = f"no credentials from {access}"
    if plugin.api_version not in PROTOCOLS:
        raise Refused(f"{problem}: nobody implements the version of its plugin's protocol", f"use {PROTOCOLS[0]}")
    is_terminal = sys.stdin is not None and sys.stdin.isatty()
    if plugin.mode == "Always" and not is_terminal:
        raise Refused(f"{problem}: its plugin {plugin.command} needs a terminal", f"log in first, or {OTHER_CONTEXT}")
    interactive = is_terminal and plugin.mode != "Never"
    spec: dict[str, Any] = {"interactive": interactive}
    if plugin.provide_cluster_info:
        spec["cluster"] = _cluster_info(access)
    information = {"kind": "ExecCredential", "apiVersion": plugin.api_version, "spec": spec}
    variables = {variable.name: variable.value for variable in plugin.env or ()}
    try:
        ended = subprocess.run(
            [plugin.command, *(plugin.args or ())],
            env={**os.environ, **variables, "KUBERNETES_EXEC_INFO": json.dumps(information)},
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            # Who has a terminal answers what the plugin asks there.
            stderr=None if interactive else subprocess.PIPE,
            check=False,
        )
    except (OSError, ValueError):
        hint = " ".join((plugin.install_hint or "").split())
        raise Refused(
            f"{problem}: its plugin {plugin.command} cannot be run", hint or "install it, or log in"
        ) from None
    if ended.returncode:
        said = " ".join((ended.stderr or b"").decode(errors="replace").split())
        message = f"{problem}: {plugin.command} ended with {ended.returncode}{f': {said}' if said else ''}"
        raise Refused(message, "log in again")
    try:
        return _answered(json.loads(ended.stdout), plugin)
    except (AttributeError, TypeError, ValueError):
        raise Refused(f"{problem}: {plugin.command} printed none", "log in again") from None


def _answered(answer: Mapping[str, Any], plugin: Plugin) -> _Credentials:
    """Raises: AttributeError, TypeError, ValueError: this is no answer of a plugin."""
    status = answer.get("status") or {}
    token, end = status.get("token"), status.get("expirationTimestamp")
    pair = status.get("clientCertificateData"), status.get("clientKeyData")
    if (
        (answer.get("kind"), answer.get("apiVersion")) != ("ExecCredential", plugin.api_version)
        or not (token or all(pair))
        or any(pair) != all(pair)
    ):
        raise ValueError("no credentials, or those of another version")
    expiration = datetime.fromisoformat(end.replace("Z", "+00:00")) if end else None
    return _Credentials(token, (str(pair[0]), str(pair[1])) if all(pair) else None, expiration)


def _cluster_info(access: Access) -> dict[str, Any]:
    cluster, authority = access.cluster, access.authority
    return {
        "server": cluster.server,
        **({"tls-server-name": cluster.tls_server_name} if cluster.tls_server_name else {}),
        **({"insecure-skip-tls-verify": True} if cluster.insecure_skip_tls_verify else {}),
        **({"certificate-authority-data": b64encode(authority.encode()).decode()} if authority else {}),
        **({"proxy-url": cluster.proxy_url} if cluster.proxy_url else {}),
        "config": cluster.plugin_config,
    }


# --- the proxy ------------------------------------------------------------------------------------------------------------


def proxy_of(access: Access) -> str | None:
    """The address of the proxy to a server: the kubeconfig's, else the one that HTTPS_PROXY, HTTP_PROXY and NO_PROXY choose.

    Raises: Refused: it is no address. The message does not show it, because it can hold a password.
    """
    server, name, address = urlsplit(access.cluster.server), "proxy-url", access.cluster.proxy_url
    if not address:
        name = "HTTPS_PROXY" if server.scheme == "https" else "HTTP_PROXY"
        address = os.environ.get(name) or os.environ.get(name.lower())
        if not address or _direct(
            server.hostname or "", server.port, os.environ.get("NO_PROXY") or os.environ.get("no_proxy")
        ):
            return None
        address = address if "://" in address else f"http://{address}"
    try:
        proxy = urlsplit(address)
        valid = proxy.scheme in _PROXIES and bool(proxy.hostname) and proxy.port != 0
    except ValueError:
        valid = False
    if not valid:
        of = f" of {access}" if name == "proxy-url" else ""
        raise Refused(
            f"the proxy in '{name}'{of} is no address of one",
            f"write {'://HOST:PORT, '.join(_PROXIES[:3])}://HOST:PORT",
        )
    return address


def _direct(host: str, port: int | None, exceptions: str | None) -> bool:
    """Whether a server is reached without the proxy of the environment. exceptions: of NO_PROXY, with commas."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    if host == "localhost" or (address and address.is_loopback):
        return True
    for exception in filter(None, (part.strip().lower() for part in (exceptions or "").split(","))):
        name, _, only = exception.rpartition(":") if exception.count(":") == 1 else (exception, "", "")
        if only.isdigit() and int(only) != port:
            continue
        if name == "*" or (_contains(name, address) if address else _is_below(host.lower(), name)):
            return True
    return False


def _contains(network: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    try:
        return address in ipaddress.ip_network(network.strip("[]"), strict=False)
    except ValueError:
        return False


def _is_below(host: str, domain: str) -> bool:
    """`example.com` and what lies below it; of `.example.com` and `*.example.com`, only that."""
    if domain.startswith(("*.", ".")):
        return host.endswith(domain.removeprefix("*"))
    return host == domain or host.endswith(f".{domain}")
