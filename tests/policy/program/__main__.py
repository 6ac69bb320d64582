"""All good or all bad cases as one program; the stack's name says which, and whether they are those of rules about frames.

Nothing is written: it is only previewed.
"""

from __future__ import annotations

from pathlib import Path

import pulumi
from pulumi_kubernetes import Provider

from components.config import DirectoryTarget
from components.provider import management_providers
from tests.policy.cases import FRAME_RULES, RULES, Kind, registrations, type_of


def main() -> None:
    kind: Kind = "good" if pulumi.get_stack().endswith("good") else "bad"
    rules = FRAME_RULES if pulumi.get_stack().startswith("framed") else RULES
    providers = {
        "management": management_providers(DirectoryTarget(Path("rendered")), "dev", ["hub"])[""],
        "remote": Provider("remote", kubeconfig="", render_yaml_to_directory="rendered"),
    }
    for rule in rules:
        for index, (manifest, beside) in enumerate(registrations(rule, kind)):
            opts = pulumi.ResourceOptions(provider=providers[beside.get("provider", "management")])
            pulumi.CustomResource(type_of(manifest, beside), f"{rule}-{index}", manifest, opts)


if __name__ == "__main__":
    main()
