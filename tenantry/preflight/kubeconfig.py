"""Whether Flux can use a remote cluster's kubeconfig: the Secret, its form, where it leads, and how long its token is valid."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import yaml

from tenantry.cluster.inventory import FoundSecret
from tenantry.kube.values import end_of_token, lifetime_of_token
from tenantry.kube.yaml_text import document
from tenantry.messages.errors import Problem, error, warning
from tenantry.messages.text import listed
from tenantry.model import SecretKey
from tenantry.plan.objects.scope import WATCHED

_NOT_TAKEN = {
    "clusters": ("certificate-authority", "insecure-skip-tls-verify"),
    "users": ("client-certificate", "client-key", "tokenFile", "exec", "auth-provider"),
}
"""What Flux refuses or ignores: files, programs, and a server that nobody verifies. Source: fluxcd.io, "Remote clusters"."""
_RENEW = "have the kubeconfig's writer renew it"
_SELDOM = timedelta(days=7)
"""What is valid for so long is renewed by people or nightly jobs, which can fail for days."""


class _NotAKubeconfigError(Exception):
    """The data does not have the structure of a kubeconfig."""


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
        keys = ", ".join(sorted(secret.data)) or "none"
        yield error("no-key", f"{name} has no key '{reference.key}' (keys: {keys})", correct)
        return
    yield from check_kubeconfig(secret.data[reference.key], now=now, local=local)


def check_kubeconfig(data: bytes, *, now: datetime, local: bool) -> tuple[Problem, ...]:
    """The problems of a kubeconfig; local: the management cluster, and so Flux, is on loopback."""
    try:
        return tuple(_of_kubeconfig(data, now, local=local))
    except _NotAKubeconfigError:
        fix = "write a complete kubeconfig under the key, or name another key in tenants.yaml"
        return (error("not-a-kubeconfig", "the content of the key is not a kubeconfig", fix),)


def _of_kubeconfig(data: bytes, now: datetime, *, local: bool) -> Iterator[Problem]:
    content = _parsed(data)
    clusters, users = _entries(content, "clusters", "cluster"), _entries(content, "users", "user")
    # Flux refuses a file also in an entry that the context does not use.
    entries = [(entry, _NOT_TAKEN["clusters"]) for entry in clusters.values()]
    entries += [(entry, _NOT_TAKEN["users"]) for entry in users.values()]
    if keys := dict.fromkeys(key for entry, keys in entries for key in keys if entry.get(key)):
        fix = "write certificates or a token into it: kubectl config view --flatten; or use workload identity: 'configMap'"
        yield error("not-taken", f"Flux refuses or ignores {listed(map(repr, keys))} of the kubeconfig", fix)
    context = _entries(content, "contexts", "context").get(_text(content, "current-context"))
    if context is None:
        fix = "set 'current-context' to one of its contexts: Flux asks for no other"
        yield error("no-context", "the kubeconfig has no current context", fix)
        return
    cluster, user = clusters.get(_text(context, "cluster")), users.get(_text(context, "user"))
    if cluster is None:
        yield error("no-cluster", "the current context names no cluster that is declared", "declare it")
    else:
        yield from _of_server(_text(cluster, "server"), local=local)
    if user is None:
        yield error("no-user", "the current context names no user that is declared", "declare it")
    else:
        yield from _of_token(_text(user, "token"), now)


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
    items = content.get(group) or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise _NotAKubeconfigError
    entries = {_text(item, "name"): item.get(key) or {} for item in items}
    if len(entries) < len(items) or not all(isinstance(entry, dict) for entry in entries.values()):
        raise _NotAKubeconfigError
    entries.pop("", None)  # no context can refer to it
    return entries


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str | None):
        raise _NotAKubeconfigError
    return value or ""


def _of_server(address: str, *, local: bool) -> Iterator[Problem]:
    """A loopback address answers here with whatever runs here, so that only this check notices it."""
    try:
        server = urlsplit(address if "://" in address else f"https://{address}")
        host = server.hostname if server.scheme in ("http", "https") and server.port != 0 else None
    except ValueError:
        host = None
    if not host:
        fix = "set 'server' to https://HOST:PORT as the management cluster reaches it"
        yield error("no-server", "the cluster has no 'server', or not one that can be reached", fix)
    elif is_loopback(host) and local:
        message = "the server is this machine, which works only while Flux runs here too"
        fix = "nothing to do in a sandbox; otherwise write an address that Flux can reach"
        yield warning("loopback", message, fix)
    elif is_loopback(host):
        message = "the server is a loopback address, which is the pod itself in Flux's pods"
        fix = "write an address that the pods can reach; for vCluster set exportKubeConfig.server"
        yield error("loopback", message, fix)


def is_loopback(host: str) -> bool:
    """Whether a host name always refers to the local machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _of_token(token: str, now: datetime) -> Iterator[Problem]:
    """A token that is renewed by itself may end soon; kubelets do that when a fifth of its time is left."""
    end, lifetime = end_of_token(token), lifetime_of_token(token)
    if end and end <= now:
        yield error("expired", f"the user's token expired {_days(now - end)} ago", _RENEW)
    elif end and lifetime and lifetime >= _SELDOM and end - now < lifetime / 5:
        message = f"the user's token expires in {_days(end - now)}, and nothing has renewed it"
        yield warning("expires-soon", message, _RENEW)


def _days(duration: timedelta) -> str:
    return "1 day" if duration.days == 1 else f"{duration.days} days" if duration.days else "less than a day"


def end_of_credentials(data: bytes) -> datetime | None:
    """Until when the token of a kubeconfig's current context is valid; None: it does not say, or there is none."""
    try:
        content = _parsed(data)
        context = _entries(content, "contexts", "context").get(_text(content, "current-context"), {})
        user = _entries(content, "users", "user").get(_text(context, "user"), {})
        return end_of_token(_text(user, "token"))
    except _NotAKubeconfigError:
        return None
