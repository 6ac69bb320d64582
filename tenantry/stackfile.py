"""What a stack's file says about its management cluster, so that commands beside `pulumi` find the same one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from tenantry.errors import Refused


@dataclass(frozen=True, slots=True)
class StackTarget:
    """None: the stack leaves it to the usual places, and the number to the environment.

    max_deletions: how many tenants, namespaces and apps one run may remove. files: it is no cluster, but a directory.
    """

    kubeconfig: Path | None = None
    context: str | None = None
    max_deletions: int | None = None
    files: bool = False


def stack_target(project: Path, environment: str) -> StackTarget:
    """Read `Pulumi.<environment>.yaml` in the project's directory; nothing is said where there is no such file.

    Raises: Refused: the file is not YAML.
    """
    file = project / f"Pulumi.{environment}.yaml"
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return StackTarget()
    except (yaml.YAMLError, UnicodeDecodeError):
        raise Refused(
            f"{file} is not YAML", "correct it, or name the cluster with --kubeconfig and --context"
        ) from None
    config = content.get("config", {}) if isinstance(content, dict) else {}
    kubeconfig, context = config.get("tenantry:kubeconfig"), config.get("tenantry:context")
    deletions = str(config.get("tenantry:maxDeletions", ""))
    return StackTarget(
        project / Path(kubeconfig).expanduser() if kubeconfig else None,
        context,
        int(deletions) if deletions.isdecimal() else None,
        config.get("tenantry:target") == "directory",
    )
