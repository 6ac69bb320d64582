"""How fast this machine is, so that a test bounds the processor's time without naming seconds."""

from __future__ import annotations

import time
from functools import cache

from tenantry.load import fleet_of, plan_all
from tenantry.source.parse import parse

_TENANT = """\
  t{0}:
    sources: {{manifests: {{git: {{url: https://git.example.com/t{0}, ref: {{branch: main}}}}}}}}
    apps: {{web: {{kustomize: {{source: manifests, path: ./web}}}}}}
"""
_FLEET = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters: {hub: {environments: [dev]}}
defaults: {clusters: {names: [hub]}}
tenants:
"""


@cache
def floor() -> float:
    """The seconds of the processor that it takes to read, check and plan a plain fleet of 100 tenants: the best of three.

    It is the same work as that which tests bound, so what slows one down slows down both: an old processor, or a busy one.
    """
    raw = (_FLEET + "".join(_TENANT.format(number) for number in range(100))).encode()
    return min(_seconds(raw) for _ in range(3))


def _seconds(raw: bytes) -> float:
    start = time.process_time()
    plan_all(fleet_of(parse(raw, "tenants.yaml")))
    return time.process_time() - start
