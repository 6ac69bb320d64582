"""Puts `components/` into the wheel as `tenantry.components`, and `templates/pulumi`, which `tenantry init` copies.

Here `components/` is a top-level directory, as a Pulumi project has it; nobody else should get a package with such a common
name. An editable installation has neither, because Hatchling cannot rename directories there: `tenantry/__init__.py` finds the
components, `tenantry/cli/init.py` the template.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Components(BuildHookInterface[Any]):
    """Adds them to a wheel, not to an editable installation."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build_data["force_include"]["components"] = "tenantry/components"
            build_data["force_include"]["templates/pulumi"] = "tenantry/template"
