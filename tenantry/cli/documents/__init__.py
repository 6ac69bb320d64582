"""The shape of every document of `--output json`, as models. From them come the JSON Schemas and docs/output-reference.md.

Called by: `tenantry schema --document`, docgen, and tests, which hold every document of a command against its model.
Never: makes a document. The commands do, without these models.
"""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from tenantry.cli.documents import checks, diff, edits, explanation, importing, parity, projects, stacks, states
from tenantry.cli.documents.common import Document, Failed, Invalid

FAILURES: tuple[type[Document], ...] = (Invalid, Failed)
"""What the document of any command can be instead, if the command fails."""

KINDS: dict[str, tuple[type[Document], ...]] = {
    "Validation": (checks.Validation,),
    "Diff": (diff.Diff, diff.InvalidBase),
    "Preflight": (checks.Preflight,),
    "Explanation": (
        explanation.ExplainedApp,
        explanation.ExplainedTenant,
        explanation.ExplainedPlatform,
        explanation.ExplainedGrants,
        explanation.NoGrants,
    ),
    "Parity": (parity.Parity,),
    "Status": (states.Status, states.Receivers),
    "List": (states.List,),
    "Stacks": (stacks.Stacks,),
    "Tree": (states.Tree,),
    "Actions": (states.Actions,),
    "Objects": (states.Objects,),
    "KubeconfigCheck": (checks.KubeconfigCheck,),
    "Discovery": (states.Discovery,),
    "Import": (importing.Import,),
    "Sandbox": (states.Sandbox,),
    "Project": (projects.Project,),
    "Upgrade": (projects.Upgrade,),
    "Edit": (edits.Edit,),
    "Error": (),
}


def schema_of(kind: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a kind of document."""
    models = (*KINDS[kind], *FAILURES)
    by_model, definitions = models_json_schema([(each, "validation") for each in models])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind,
        "required": ["apiVersion", "kind"],
        "properties": {"kind": {"const": kind}},
        "anyOf": [by_model[each, "validation"] for each in models],
        **definitions,
    }
