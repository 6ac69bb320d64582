"""The options of a source, of tenants and of add-ons."""

from __future__ import annotations

from typing import Any

import click


def source_options(function: Any) -> Any:
    """The options of a source, whose keys `adding.source_of` reads."""
    for option in (
        click.option("--credentials", metavar="NAME", help="Declared credentials with which Flux fetches it."),
        click.option("--semver", metavar="RANGE", help="The newest tag in this range of versions."),
        click.option("--tag", metavar="TAG", help="A tag of a Git repository or an OCI artifact."),
        click.option("--branch", metavar="NAME", help="A branch of a Git repository; default: main."),
        click.option("--bucket", metavar="ENDPOINT/NAME", help="A bucket in an object store."),
        click.option("--oci", metavar="URL", help="An OCI artifact: oci://HOST/PATH."),
        click.option("--helm", metavar="URL", help="A Helm repository, or oci:// of a registry with charts."),
        click.option("--git", metavar="URL", help="A Git repository."),
    ):
        function = option(function)
    return function
