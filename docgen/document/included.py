"""The JSON Schema of teams' files: that of tenants.yaml without what belongs to the platform, with all that can be granted.

It does not know what is granted to whom; `tenantry validate` does.
"""

from __future__ import annotations

from typing import Any, get_args

from docgen.document.whole import DIALECT, json_schema, whole_file
from tenantry.grants.frames import BLOCKS, OF_NAMESPACES, OVERRIDES, PARTS, SELECTOR
from tenantry.grants.model import GRANTABLE


def included_schema() -> dict[str, Any]:
    """What an included file can say if everything that can be granted is granted."""
    whole, settings = json_schema(), get_args(GRANTABLE)
    definitions = whole["$defs"]
    _keep(definitions["Tenant"], {*PARTS, SELECTOR, OVERRIDES, *BLOCKS, *settings})
    _keep(definitions["TenantOverride"], {"when", *PARTS, *BLOCKS, *settings})
    _keep(definitions["ExtraNamespace"], {"name", *(set(settings) & {*OF_NAMESPACES})})
    definitions["TenantOwner"]["properties"]["role"] |= {"enum": ["view", "edit"]}
    del definitions["App"]["properties"]["waves"]
    tenants = whole["properties"]["tenants"]
    return {
        "$schema": DIALECT,
        "title": "included files of Tenantry",
        "type": "object",
        "properties": {"tenants": tenants},
        "allOf": [whole_file({"required": ["tenants"]})],
        "additionalProperties": False,
        "$defs": definitions,
    }


def _keep(definition: dict[str, Any], keys: set[str]) -> None:
    """Leave the properties that the file may set."""
    definition["properties"] = {key: part for key, part in definition["properties"].items() if key in keys}
