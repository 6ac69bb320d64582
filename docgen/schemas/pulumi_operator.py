"""The command that derives tests/unit/stacks/schemas from the definitions of Pulumi's Kubernetes operator.

    python -m docgen.schemas.pulumi_operator VERSION pulumi.com_stacks.yaml

The definitions lie in deploy/crds of the operator's release. Its module is not a dependency here: the files are a test's alone.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docgen.schemas.definitions import file_name, read
from docgen.schemas.keywords import json_schema

DIRECTORY = Path(__file__).parents[2] / "tests" / "unit" / "stacks" / "schemas"
MODULE = "github.com/pulumi/pulumi-kubernetes-operator/v2"
_WITHOUT_EFFECT = ("format", "x-kubernetes-embedded-resource")


def main(arguments: Sequence[str] | None = None, directory: Path = DIRECTORY) -> int:
    parser = argparse.ArgumentParser(prog="python -m docgen.schemas.pulumi_operator", description=__doc__)
    parser.add_argument("version", help="the operator's, such as v2.9.0")
    parser.add_argument("definitions", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    directory.mkdir(exist_ok=True)
    for path in options.definitions:
        record = derived(read(path), options.version)
        (directory / file_name(record)).write_text(json.dumps(record, sort_keys=True, separators=(",", ":")) + "\n")
    return 0


def derived(definition: dict[str, Any], version: str) -> dict[str, Any]:
    """The stored version of a definition, reduced to what an API server enforces. Raises: UnknownKeyword."""
    spec = definition["spec"]
    stored = next(each for each in spec["versions"] if each["storage"])
    kind = spec["names"]["kind"]
    schema = _bare(stored["schema"]["openAPIV3Schema"]["properties"]["spec"])
    return {
        "group": spec["group"],
        "version": stored["name"],
        "kind": kind,
        "plural": spec["names"]["plural"],
        "scope": spec["scope"],
        "source": {"module": MODULE, "version": version},
        "spec": json_schema(schema, f"{kind}.spec"),
    }


def _bare(schema: Any) -> Any:
    """A schema without keywords that only describe. Names of properties stay, also if they are those of keywords."""
    if isinstance(schema, list):
        return [_bare(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in _WITHOUT_EFFECT}
    if isinstance(named := kept.get("properties"), dict):
        kept["properties"] = {key: _bare(value) for key, value in named.items()}
    return {key: value if key in ("properties", "default", "enum") else _bare(value) for key, value in kept.items()}


if __name__ == "__main__":
    sys.exit(main())
