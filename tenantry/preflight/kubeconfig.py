"""Whether Flux can use a remote cluster's kubeconfig: the Secret, where it leads, and how long its token is valid."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from tenantry.cluster.inventory import FoundSecret
from tenantry.cluster.kubeconfig import ignored_in, of_secret
from tenantry.kube.values import end_of_token, lifetime_of_token
from tenantry.messages.errors import Problem, Refused, error, warning
from tenantry.messages.text import listed
from tenantry.model import SecretKey
from tenantry.plan.objects.scope import WATCHED

_RENEW = "have the kubeconfig's writer renew it"
_SELDOM = timedelta(days=7)
"""What is valid for so long is renewed by people or nightly jobs, which can fail for days."""


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


def check_kubeconfig(data: bytes, *, now: datetime, local: bool) -> Iterator[Problem]:
    """The problems of a kubeconfig; local: the management cluster, and so Flux, is on loopback."""
    try:
        config = of_secret(data)
    except Refused as refused:
        yield error("bad-kubeconfig", refused.message, refused.fix)
        return
    if ignored := ignored_in(data):
        fix = "write certificates or a token into it: kubectl config view --flatten; or use workload identity: 'configMap'"
        yield error("not-taken", f"Flux refuses or ignores {listed(map(repr, ignored))} of the kubeconfig", fix)
    yield from _of_server(config.cluster.server, local=local)
    yield from _of_token(config.user.token or "", now)


def _of_server(address: str, *, local: bool) -> Iterator[Problem]:
    """A loopback address answers here with whatever runs here, so that only this check notices it."""
    try:
        server = urlsplit(address if "://" in address else f"https://{address}")
        host = server.hostname if server.scheme in ("http", "https") and server.port != 0 else None
    except ValueError:
        host = None
    if not host:
        fix = "set 'server' to https://HOST:PORT as the management cluster reaches it"
        yield error("bad-kubeconfig", "the cluster has no 'server', or not one that can be reached", fix)
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
        return end_of_token(of_secret(data).user.token or "")
    except Refused:
        return None
