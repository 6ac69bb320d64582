"""Puts `components/` into the wheel as `tenantry.components`, `templates/pulumi`, which `tenantry init` copies, and the JSON
Schemas, which `tenantry schema` prints.

Here `components/` is a top-level directory, as a Pulumi project has it; nobody else should get a package with such a common
name. An editable installation has none of them, because Hatchling cannot rename directories there: `tenantry/__init__.py` finds the
components, `tenantry/cli/init.py` the template, `tenantry/cli/editors.py` the schemas.
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
            for name in ("tenants.schema.json", "tenants-included.schema.json"):
                build_data["force_include"][name] = f"tenantry/{name}"
