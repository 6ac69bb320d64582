"""One input and its expected result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FRAME = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters: {hub: {environments: [dev]}}
"""
"""What a sound file needs, in three lines."""

FLEET = f"""\
{FRAME}defaults: {{clusters: {{all: true}}}}
tenants:
  rocky:
    credentials:
      git: {{keys: [username, password]}}
    sources:
      manifests: {{git: {{url: https://git.example.com/rocky, ref: {{branch: main}}}}, credentials: git}}
    apps:
      web: {{kustomize: {{source: manifests, path: ./web}}}}
"""
"""A sound file, to which one thing is done."""


@dataclass(frozen=True)
class Case:
    """raw: the bytes of tenants.yaml; secrets: what in it may occur nowhere in the output.

    certain: whether it has to be refused; otherwise it may also have stayed sound.
    beside: files in the same directory, by their names.
    """

    name: str
    raw: bytes
    secrets: tuple[str, ...] = ()
    certain: bool = True
    beside: Mapping[str, str] = field(default_factory=dict)

    def write(self, directory: Path) -> Path:
        """Put it there; returns the path of its tenants.yaml."""
        for name, text in self.beside.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text)
        file = directory / "tenants.yaml"
        file.write_bytes(self.raw)
        return file
