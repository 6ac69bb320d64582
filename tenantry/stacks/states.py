"""The states of stacks: the types and names under which they have the objects of a plan, and the command that reads them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tenantry.kube.objects import ObjectId, Owner
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Refused
from tenantry.messages.redact import shorten

FLEET, CLUSTER, TENANT, PLACEMENT = (f"tenantry:index:{name}" for name in ("Fleet", "Cluster", "Tenant", "Placement"))
_PATIENCE = 300.0
"""Seconds; a state in a bucket takes a few, and a large one more."""


class InState:
    """Whether the state of a stack has an object. It is read when somebody asks first. stack: "" if there is none."""

    def __init__(self, project: Path, stack: str) -> None:
        self._project, self._stack = project, stack
        self._keys: frozenset[str] | None = None

    def __call__(self, id: ObjectId) -> bool:
        """Raises: Refused: there is no stack, or a state cannot be read."""
        if not self._stack:
            raise Refused("no stack of this project runs it", "run the command in the project of the stack")
        if self._keys is None:
            resources = exported_resources(self._project, self._stack)
            self._keys = frozenset(key_of(str(resource.get("urn"))) for resource in resources)
        return key_in_state(id) in self._keys


def exported_resources(project: Path, stack: str) -> list[Mapping[str, Any]]:
    """All resources in the state of a stack. Secrets in it stay encrypted, which those of `LocalWorkspace.export_stack` do not.

    Raises: Refused: the state cannot be read.
    """
    command = ("pulumi", "--non-interactive", "stack", "export", "--stack", stack)
    line = f"`pulumi stack export --stack {stack}`"
    try:
        done = subprocess.run(
            command,
            cwd=project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
        output = json.loads(done.stdout) if done.returncode == 0 else None
    except FileNotFoundError:
        raise Refused("there is no program 'pulumi'", "install Pulumi: https://www.pulumi.com/docs/install") from None
    except subprocess.TimeoutExpired:
        raise Refused(f"{line} did not answer in {_PATIENCE:g} s", _FIX) from None
    except ValueError:
        output = None
    if not isinstance(output, dict):
        reason = shorten(" ".join(done.stderr.split()).removeprefix("error: "), 200)
        raise Refused(f"{line} failed: {reason or 'it printed nothing'}", _FIX)
    return [*mappings_in(mapping_at(output, "deployment").get("resources"))]


_FIX = "see that the stack exists, and that you are logged in to its state backend and know its passphrase"


# --- types and names ---------------------------------------------------------------------------------------------------


def key_in_state(identity: ObjectId) -> str:
    """The type and the name under which a state has an object, as `key_of` gives them."""
    return f"{type_token(identity)}::{identity.logical_name}"


def key_of(urn: str) -> str:
    """The type and name in a URN, without the components above the resource: `kubernetes:core/v1:Namespace::rocky`."""
    *_, types, name = ("", *urn.split("::", 3))
    return f"{types.rpartition('$')[2]}::{name}"


def owner_of(parent: str) -> Owner:
    """Whose component the parent of a resource is. parent: its URN; what is no component of a fleet counts as the fleet."""
    *_, types, name = ("", *parent.split("::", 3))
    tenant, _, cluster = name.partition("/")
    owners = {TENANT: Owner(name), CLUSTER: Owner("", name), PLACEMENT: Owner(tenant, cluster)}
    return owners.get(types.rpartition("$")[2], Owner())


def type_token(identity: ObjectId) -> str:
    """`kubernetes:<group>/<version>:<Kind>`. Pulumi calls Kubernetes' unnamed group `core`."""
    api_version = identity.api_version if "/" in identity.api_version else f"core/{identity.api_version}"
    return f"kubernetes:{api_version}:{identity.kind}"
