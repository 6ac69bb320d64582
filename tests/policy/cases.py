"""The small programs that follow or violate a rule: cases/<rule>/{good,bad}.yaml, each a list of registered objects.

Those of rules that ask the main file are in `framed`, beside the main file that all of them share.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml

CASES = Path(__file__).with_name("cases")
FRAMED = CASES.with_name("framed")
MAIN = FRAMED / "tenants.yaml"
RULES = sorted(each.name for each in CASES.iterdir())
FRAME_RULES = sorted(each.parent.name for each in FRAMED.glob("*/good.yaml"))

Kind = Literal["good", "bad"]


def directory(rule: str) -> Path:
    """Where the case of a rule is."""
    return (FRAMED if rule in FRAME_RULES else CASES) / rule


def registrations(rule: str, kind: Kind) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The manifests of a case, each with what it says beside it."""
    objects: list[dict[str, Any]] = yaml.safe_load((directory(rule) / f"{kind}.yaml").read_text())["objects"]
    return [(each, each.pop("pulumi", {})) for each in objects]


def type_of(manifest: dict[str, Any], beside: dict[str, Any]) -> str:
    """Pulumi's token, as an SDK would choose it."""
    if "type" in beside:
        return str(beside["type"])
    version = manifest["apiVersion"] if "/" in manifest["apiVersion"] else f"core/{manifest['apiVersion']}"
    return f"kubernetes:{version}:{manifest['kind']}"
