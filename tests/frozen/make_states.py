"""Writes the states to the corpus: `python -m tests.frozen.make_states`. It needs the programs of `make tools`.

Each stack is brought up by the real engine and provider in a sandbox of its own, and its state is exported.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tenantry.kube.objects import SecretValues
from tenantry.load import load_fleet, plan_one
from tests.e2e.project import ADMINISTRATOR, Project, make_example, make_fleet, make_project, sandboxed
from tests.frozen.outcomes import resources_of
from tests.frozen.store import Input, save, text_of

Make = Callable[[Path], Project]

STACKS: dict[str, tuple[Make, str]] = {
    "repository": (partial(make_project, roles=ADMINISTRATOR), "dev"),
    "rollouts": (partial(make_fleet, name="rollouts", roles=ADMINISTRATOR), "dev"),
    "sources": (partial(make_fleet, name="sources", roles=ADMINISTRATOR), "dev"),
    "kamaji": (partial(make_example, name="kamaji", roles=ADMINISTRATOR), "admin"),
    "multi-cluster": (partial(make_example, name="multi-cluster", roles=ADMINISTRATOR), "dev"),
    "flux2-multi-tenancy": (partial(make_example, name="flux2-multi-tenancy", roles=ADMINISTRATOR), "staging"),
}
"""How the project of each stack is made, and the environment of the stack."""


def main() -> None:
    inputs, states = {}, {}
    for name, (make, environment) in STACKS.items():
        with (
            TemporaryDirectory(prefix="tenantry-states-") as directory,
            sandboxed(make(Path(directory) / "p")) as project,
        ):
            inputs[name] = text_of(_input(project, environment))
            states[name] = text_of(_state(project, environment))
        print(f"{name}: {len(json.loads(states[name]))} resources", flush=True)
        save("states", "inputs", inputs)
        save("states", "outcomes", states)


def _state(project: Project, environment: str) -> Any:
    """The resources of a stack that was just brought up. Without a passphrase, anybody could read the values of Secrets."""
    project.start(environment)
    project.make_stack(environment)
    secrets = (each.secret for each in plan_one(load_fleet(project.fleet), environment).objects)
    if values := {_in_config(secret, key): "x" for secret in secrets if secret for key in secret.keys}:
        project.set_secrets(environment, values)
    project.up(environment).ok()
    exported = json.loads(project.pulumi("stack", "export", "--stack", environment).ok().out)
    return resources_of(exported["deployment"]["resources"])


def _in_config(secret: SecretValues, key: str) -> str:
    return f'{".".join(secret.path)}["{key}"]'


def _input(project: Project, environment: str) -> Input:
    return {"files": {"tenants.yaml": project.fleet.read_text()}, "environment": environment}


if __name__ == "__main__":
    main()
