"""Writes the states to the corpus: `python -m tests.frozen.make_states`. It needs the programs of `make tools`.

Each stack is brought up by the real engine and provider in a sandbox of its own, and its state is exported.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.e2e.project import ADMINISTRATOR, PORT, Project, make_example, make_fleet, make_project, sandboxed
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
            os.environ["COLUMNS"] = "200"
            project.start(environment)
            project.make_stack(environment)
            project.up(environment).ok()
            exported = json.loads(project.pulumi("stack", "export", "--stack", environment).ok().out)
            # Without a passphrase, anybody could read the values of Secrets, so these are left out.
            state = resources_of(exported["deployment"]["resources"])
            inputs[name] = text_of(_input(project, environment))
            states[name] = text_of(state).replace(f":{project.port}/", f"{PORT}/")
            print(f"{name}: {len(state)} resources", flush=True)
    save("states", "inputs", inputs)
    save("states", "outcomes", states)


def _input(project: Project, environment: str) -> Input:
    text = project.fleet.read_text().replace(f":{project.port}/", f"{PORT}/")
    return {"files": {"tenants.yaml": text}, "environment": environment}


if __name__ == "__main__":
    main()
