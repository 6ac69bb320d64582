"""Kubeconfigs that other stacks export, read before anything is registered.

The engine is asked as a StackReference asks it, without being a resource: the state would then hold all outputs of the other stack.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pulumi.runtime import invoke

from tenantry.kube.objects import KubeObject
from tenantry.kube.secret_values import output_in_words, wanted
from tenantry.messages.errors import Refused, Severity
from tenantry.messages.redact import redacted
from tenantry.preflight.kubeconfig import check_kubeconfig

_READ = "pulumi:pulumi:readStackOutputs"
Output = tuple[str, str]
"""A stack and one of its outputs."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """values: kubeconfigs, by stack, output and key of the Secret. Never print them. lacking: why there is no other one."""

    values: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict, repr=False)
    lacking: Mapping[Output, Refused] = field(default_factory=dict)


def read_outputs(objects: Iterable[KubeObject]) -> Outputs:
    """The kubeconfigs that the Secrets among objects are filled with. What Flux would refuse is lacking too."""
    values: dict[str, dict[str, dict[str, str]]] = {}
    lacking: dict[Output, Refused] = {}
    stacks: dict[str, Mapping[str, Any] | Refused] = {}
    for secret in wanted(objects):
        if output := secret.output:
            stack, name = output
            if stack not in stacks:
                stacks[stack] = _outputs_of(stack)
            try:
                values.setdefault(stack, {})[name] = dict.fromkeys(secret.keys, _kubeconfig(output, stacks[stack]))
            except Refused as refused:
                lacking[output] = refused
    return Outputs(values, lacking)


def _outputs_of(stack: str) -> Mapping[str, Any] | Refused:
    """A stack's outputs, without secrets that cannot be decrypted here; or why it cannot be read."""
    try:
        answer = invoke(_READ, {"name": stack})
    except Exception as error:
        message = redacted(" ".join(str(error).split()))
        return Refused(
            f"stack '{stack}' cannot be read: {message}", f"pulumi stack output --stack {shlex.quote(stack)}"
        )
    return (answer.value or {}).get("outputs") or {}


def _kubeconfig(output: Output, outputs: Mapping[str, Any] | Refused) -> str:
    """Raises: Refused: there is no kubeconfig, or Flux would refuse it."""
    if isinstance(outputs, Refused):
        raise outputs
    stack, name = output
    value = outputs.get(name)
    text = json.dumps(value) if isinstance(value, dict) and value else value
    if not isinstance(text, str) or not text:
        given = ", ".join(sorted(outputs)) or "none"
        raise Refused(
            f"{output_in_words(output)} has no value, or one that cannot be decrypted here (outputs: {given})",
            f"pulumi stack output {shlex.quote(name)} --show-secrets --stack {shlex.quote(stack)}",
        )
    problems = check_kubeconfig(text.encode(), now=datetime.now(UTC), local=True)
    if found := next((each for each in problems if each.severity is Severity.ERROR), None):
        raise Refused(f"Flux would not take {output_in_words(output)}: {found.message}", found.fix)
    return text
