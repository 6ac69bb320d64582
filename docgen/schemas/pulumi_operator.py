"""The command that derives tests/unit/stacks/schemas from the definitions of Pulumi's Kubernetes operator.

    python -m docgen.schemas.pulumi_operator [--check] VERSION pulumi.com_stacks.yaml

The definitions are in deploy/crds of the operator's repository, at the tag VERSION. The operator is no dependency here, so take a
clone of that repository to raise the version.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from docgen.schemas import files
from docgen.schemas.definitions import file_name, read, reduced

DIRECTORY = Path(__file__).parents[2] / "tests" / "unit" / "stacks" / "schemas"
MODULE = "github.com/pulumi/pulumi-kubernetes-operator/v2"
_WITHOUT_EFFECT = ("format", "x-kubernetes-embedded-resource")


def main(arguments: Sequence[str] | None = None, directory: Path = DIRECTORY) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m docgen.schemas.pulumi_operator",
        description="Derives the schemas of Pulumi's operator from its definitions.",
        epilog=files.EPILOG,
    )
    parser.add_argument("version", help="the operator's, such as v2.9.0")
    parser.add_argument("definitions", nargs="+", type=Path)
    return files.run(
        parser,
        arguments,
        lambda options: generate(options.version, map(read, options.definitions)),
        directory,
        "run it without --check",
    )


def generate(version: str, definitions: Iterable[dict[str, Any]]) -> dict[str, str]:
    """File names and their texts. Raises: UnknownKeyword."""
    records = [reduced(definition, {"module": MODULE, "version": version}, _bare) for definition in definitions]
    return {file_name(record): _text_of(record) for record in records}


def _text_of(record: dict[str, Any]) -> str:
    """One line: the templates of pods are long."""
    return json.dumps(record, sort_keys=True, separators=(",", ":")) + "\n"


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
