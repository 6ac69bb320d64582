"""Puts `components/` into the wheel as `tenantry.components`.

Here it is a top-level directory, as a Pulumi project has it; nobody else should get a package with such a common name. The
files that `tenantry init` copies from the top of the repository go into the wheel too. An editable installation has neither,
because Hatchling cannot rename directories there: `tenantry/__init__.py` finds the components, `tenantry/scaffold/shared.py` the
files.
"""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Components(BuildHookInterface[Any]):
    """Adds them to a wheel, not to an editable installation."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build_data["force_include"]["components"] = "tenantry/components"
            shared = runpy.run_path(str(Path(self.root, "tenantry", "scaffold", "shared.py")))
            build_data["force_include"] |= {each: f"{shared['PLACE']}/{each}" for each in shared["ALL"]}
