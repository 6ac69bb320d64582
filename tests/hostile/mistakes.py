r"""Mistakes that people make, with all that they are told: mistakes.txt.

Each entry is a name, the lines of the fleet below that it replaces (`-`), what stands there instead (`+`), and what the author is
told. Without replaced lines it is the whole file. `\u00a0` in a line stands for the character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.case import Case

TABLE = Path(__file__).with_name("mistakes.txt")
FLEET = """\
apiVersion: tenantry/v1
environments:
  dev:
    management: hub-dev
  prod:
    management: hub-prod
clusters:
  hub-dev:
    environments: [dev]
    labels: {tier: hub}
  hub-prod:
    environments: [prod]
    labels: {tier: hub}
  eu-1:
    environments: [prod]
    labels: {tier: edge}
    kubeconfig:
      capi: {cluster: eu-1, namespace: clusters}
platform:
  chart:
    helm: {url: https://charts.example.com/tenantry, version: 0.1.0}
  addons:
    cert-manager:
      clusters: {all: true}
      source:
        helm: {url: https://charts.example.com/jetstack}
      helm:
        chart: cert-manager
        version: 1.16.2
        targetNamespace: cert-manager
defaults:
  role: admin
tenants:
  rocky:
    clusters: {labels: {tier: hub}}
    owners:
      - user: jo@example.com
    limits: {defaultRequest: {cpu: 100m}}
    quota:
      requests.cpu: 8
    sources:
      manifests:
        git:
          url: https://git.example.com/rocky
          ref: {branch: main}
      charts:
        helm:
          url: https://charts.example.com/rocky
    apps:
      web:
        kustomize:
          source: manifests
          path: ./web
      cache:
        helm:
          source: charts
          chart: valkey
          version: 0.9.1
          values:
            replicas: 2
  tina:
    clusters: {all: true}
    sources:
      jobs:
        git:
          url: https://git.example.com/tina
          ref: {branch: main}
    apps:
      reports:
        kustomize:
          source: jobs
          path: ./reports
          interval: 10m
"""
"""A sound fleet with one of everything that people write by hand."""


@dataclass(frozen=True)
class Mistake:
    """edits: the lines of the entry as they stand in the table."""

    name: str
    edits: tuple[str, ...]
    said: str

    @property
    def text(self) -> str:
        """The whole file with the mistake in it."""
        text, old, new = FLEET, "", ""
        for line in (*self.edits, "end"):
            if line == "end" or (line.startswith("- ") and new):
                assert f"\n{old}" in f"\n{text}", f"{self.name}: no such lines"
                text, old, new = f"\n{text}".replace(f"\n{old}", f"\n{new}", 1)[1:] if old else new, "", ""
            if line.startswith("- "):
                old += f"{line[2:]}\n"
            elif line.startswith("+ "):
                new += re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), f"{line[2:]}\n")
        return text

    def entry(self, said: str) -> str:
        """How the entry is written, with what is said."""
        return "\n".join((f"== {self.name}", *self.edits, said))


def mistakes() -> Iterator[Mistake]:
    for entry in TABLE.read_text(encoding="utf-8").split("== ")[1:]:
        name, *lines = entry.splitlines()
        edits = [line for line in lines if line.startswith(("- ", "+ "))]
        said = "\n".join(line for line in lines[len(edits) :] if line)
        yield Mistake(name, tuple(edits), f"{said}\n" if said else "")


def cases() -> Iterator[Case]:
    yield from (Case(f"mistake/{each.name}", each.text.encode(), certain=False) for each in mistakes())
