"""Checks the Secret with a remote cluster's kubeconfig: it exists, Flux watches it, and Flux can use its content."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from tenantry.cluster.inventory import FoundSecret
from tenantry.messages.errors import Problem, error, warning
from tenantry.model import SecretKey
from tenantry.plan.objects.scope import WATCHED
from tenantry.preflight.kubeconfig import check_kubeconfig


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
