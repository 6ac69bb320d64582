"""Finds what Flux rejects or ignores in a remote cluster's kubeconfig and its Secret, before anybody waits for Flux."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import SplitResult, urlsplit

import yaml

from tenantry.cluster.inventory import FoundSecret
from tenantry.kube.values import end_of_token, lifetime_of_token
from tenantry.kube.yaml_text import document
from tenantry.messages.errors import Problem, error, warning
from tenantry.model import SecretKey
from tenantry.plan.objects.scope import WATCHED


class _NotAKubeconfigError(Exception):
    """The data does not have the structure of a kubeconfig."""


def check_kubeconfig(data: bytes, *, now: datetime, local: bool) -> tuple[Problem, ...]:
    """The settings of a kubeconfig that Flux rejects or ignores; local: the management cluster, and so Flux, is on loopback."""
    try:
        return tuple(_of_kubeconfig(data, now, local=local))
    except _NotAKubeconfigError:
        fix = "write a complete kubeconfig under the key, or name another key in tenants.yaml"
        return (error("not-a-kubeconfig", "the content of the key is not a kubeconfig", fix),)


def _of_kubeconfig(data: bytes, now: datetime, *, local: bool) -> Iterator[Problem]:
    content = _parsed(data)
    clusters, users = _entries(content, "clusters", "cluster"), _entries(content, "users", "user")
    contexts = _entries(content, "contexts", "context")
    problems = [*_files(clusters, users)]
    context = contexts.get(_text(content, "current-context"))
    if context is None:
        fix = "set 'current-context' to one of its contexts: Flux asks for no other"
        yield from (*problems, error("no-context", "the kubeconfig has no current context", fix))
        return
    cluster, user = clusters.get(_text(context, "cluster")), users.get(_text(context, "user"))
    for what, entry in (("cluster", cluster), ("user", user)):
        if entry is None:
            problems.append(error(f"no-{what}", f"the current context names no {what} that is declared", "declare it"))
    problems += _of_cluster(cluster, local=local) if cluster is not None else ()
    problems += _of_user(user, now) if user is not None else ()
    yield from problems


# --- the shape ----------------------------------------------------------------------------------------------------


def _parsed(data: bytes) -> Mapping[str, Any]:
    try:
        content = document(data.decode())
    except (yaml.YAMLError, ValueError, RecursionError):
        raise _NotAKubeconfigError from None
    if not isinstance(content, dict) or content.get("kind", "Config") != "Config":
        raise _NotAKubeconfigError
    return content


def _entries(content: Mapping[str, Any], group: str, key: str) -> dict[str, Mapping[str, Any]]:
    """The entries of `clusters`, `users` or `contexts` by their names."""
    listed = content.get(group) or []
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise _NotAKubeconfigError
    entries = {_text(item, "name"): item.get(key) or {} for item in listed}
    if len(entries) < len(listed) or not all(isinstance(entry, dict) for entry in entries.values()):
        raise _NotAKubeconfigError
    entries.pop("", None)  # no context can refer to it
    return entries


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str | None):
        raise _NotAKubeconfigError
    return value or ""


# --- what Flux refuses or drops -------------------------------------------------------------------------------------


def _files(clusters: Mapping[str, Mapping[str, Any]], users: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    """Flux rejects a kubeconfig that names a file, even in an entry that the context does not use."""
    for entries, keys in (
        (clusters, {"certificate-authority": "certificate-authority-data"}),
        (
            users,
            {"client-certificate": "client-certificate-data", "client-key": "client-key-data", "tokenFile": "token"},
        ),
    ):
        for key, inline in keys.items():
            if any(_text(entry, key) for entry in entries.values()):
                message = f"the kubeconfig names a file under '{key}', and Flux refuses it as a whole"
                yield error(
                    "file-reference", message, f"put the content there as '{inline}': kubectl config view --flatten"
                )


def _of_cluster(cluster: Mapping[str, Any], *, local: bool) -> Iterator[Problem]:
    server = _server(_text(cluster, "server"))
    if server is None:
        fix = "set 'server' to https://HOST:PORT as the management cluster reaches it"
        yield error("no-server", "the cluster has no 'server', or not one that can be reached", fix)
        return
    if server.scheme == "http":
        message = "the server's address is plain http: anyone on the network could read the credentials"
        yield error("plain-http", message, "use an https address")
    if is_loopback(server.hostname or ""):
        yield _loopback(local=local)
    yield from _trust(cluster, https=server.scheme == "https")


def _server(address: str) -> SplitResult | None:
    try:
        server = urlsplit(address if "://" in address else f"https://{address}")
        sound = server.scheme in ("http", "https") and bool(server.hostname) and server.port != 0
    except ValueError:
        return None
    return server if sound else None


def is_loopback(host: str) -> bool:
    """Whether a host name always refers to the local machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _loopback(*, local: bool) -> Problem:
    if local:
        message = "the server is this machine, which works only while Flux runs here too"
        return warning(
            "loopback", message, "nothing to do in a sandbox; otherwise write an address that Flux can reach"
        )
    message = "the server is a loopback address, which is the pod itself in Flux's pods"
    fix = "write an address that the pods can reach; for vCluster set exportKubeConfig.server"
    return error("loopback", message, fix)


def _trust(cluster: Mapping[str, Any], *, https: bool) -> Iterator[Problem]:
    if cluster.get("insecure-skip-tls-verify"):
        message = "'insecure-skip-tls-verify' is set, but Flux ignores it and verifies the server"
        yield error(
            "insecure", message, "remove it, and put the server's CA certificate under 'certificate-authority-data'"
        )
    elif https and not (_text(cluster, "certificate-authority") or _text(cluster, "certificate-authority-data")):
        message = "'certificate-authority-data' is missing, so the server needs a certificate that Flux's image trusts"
        yield warning("no-authority", message, "put the server's CA certificate there, unless a public CA signed it")


def _of_user(user: Mapping[str, Any], now: datetime) -> Iterator[Problem]:
    if user.get("exec"):
        message = "the user gets credentials from an 'exec' plugin, which Flux ignores"
        yield error(
            "exec-plugin", message, "write a token or a certificate there, or use workload identity: 'configMap'"
        )
    if user.get("auth-provider"):
        message = "the user gets credentials from an 'auth-provider', which Flux ignores"
        yield error(
            "auth-provider", message, "write a token or a certificate there, or use workload identity: 'configMap'"
        )
    if any(user.get(key) for key in ("as", "as-uid", "as-groups", "as-user-extra")):
        message = "the user impersonates another with 'as', which Flux ignores: it connects as the user itself"
        yield warning("impersonation", message, "remove it; Flux impersonates the service accounts that Tenantry plans")
    yield from _token(_text(user, "token"), now)


_RENEW = "have the kubeconfig's writer renew it"
_SELDOM = timedelta(days=7)
"""What is valid for so long is renewed by people or nightly jobs, which can fail for days."""


def _token(token: str, now: datetime) -> Iterator[Problem]:
    """A token that is renewed by itself may end soon; kubelets do that when a fifth of its time is left."""
    end, lifetime = end_of_token(token), lifetime_of_token(token)
    if end and end <= now:
        yield error("expired", f"the user's token expired {_days(now - end)} ago", _RENEW)
    elif end and lifetime and lifetime >= _SELDOM and end - now < lifetime / 5:
        message = f"the user's token expires in {_days(end - now)}, and nothing has renewed it"
        yield warning("expires-soon", message, _RENEW)


def end_of_credentials(data: bytes) -> datetime | None:
    """Until when the token of a kubeconfig's current context is valid; None: it does not say, or there is none."""
    try:
        content = _parsed(data)
        context = _entries(content, "contexts", "context").get(_text(content, "current-context"), {})
        user = _entries(content, "users", "user").get(_text(context, "user"), {})
        return end_of_token(_text(user, "token"))
    except _NotAKubeconfigError:
        return None


def _days(duration: timedelta) -> str:
    return "1 day" if duration.days == 1 else f"{duration.days} days" if duration.days else "less than a day"


def check_secret(
    reference: SecretKey, secret: FoundSecret | None, *, now: datetime, local: bool
) -> tuple[Problem, ...]:
    """The problems of the Secret and of the kubeconfig in it, errors first.

    Args:   secret: None if it does not exist. local: as in `check_kubeconfig`.
    """
    return tuple(sorted(_problems(reference, secret, now, local=local), key=lambda problem: problem.severity))


def _problems(reference: SecretKey, secret: FoundSecret | None, now: datetime, *, local: bool) -> Iterator[Problem]:
    name = f"Secret {reference.namespace}/{reference.name}"
    correct = "correct the cluster's 'kubeconfig' in tenants.yaml"
    if secret is None:
        yield error("no-secret", f"there is no {name}", f"wait until it is created, or {correct}")
        return
    if not WATCHED.items() <= secret.labels.items():
        label = ",".join(f"{key}={value}" for key, value in WATCHED.items())
        yield warning(
            "not-watched",
            f"{name} has no label {label}: Flux picks up a renewed kubeconfig only at its next interval",
            f"kubectl label --namespace {reference.namespace} secret {reference.name} {label}",
        )
    if reference.key not in secret.data:
        there = ", ".join(sorted(secret.data)) or "none"
        yield error("no-key", f"{name} has no key '{reference.key}' (keys: {there})", correct)
        return
    yield from check_kubeconfig(secret.data[reference.key], now=now, local=local)
