"""`tenantry import`."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenantry.cli.commands import Command
from tenantry.cli.importing.sources import management_of, objects_of, sources_of
from tenantry.cli.options import output, trust_sources
from tenantry.cli.output import columns, data, data_json, say, working
from tenantry.messages.errors import Refused

if TYPE_CHECKING:
    from tenantry.importing.readers.documents import Placed
    from tenantry.importing.report.report import Report


@click.command(
    "import",
    cls=Command,
    epilog="""\
Examples:
  tenantry import --environment prod=context:prod --to tenants.yaml
  tenantry import -e staging=clusters/staging -e production=clusters/production
  tenantry import -e test=rendered/test -e prod=rendered/prod \\
                  --cluster test=cloudy --cluster prod=cloudy
  flux export kustomization --all -A | tenantry import -e dev=- --dry-run

A SOURCE is a directory of manifests, a directory with a kustomization.yaml,
which is built, a file, - for stdin, or context:NAME for a live management
cluster. An environment can have several sources.

Exit codes:
  0  the file is written; the report says what is left over
  2  a source is invalid or cannot be read; nothing is written
""",
)
@click.option(
    "-e",
    "--environment",
    "environments",
    metavar="NAME=SOURCE",
    multiple=True,
    required=True,
    help="An environment, and where its Flux objects are read; can be repeated.",
)
@click.option(
    "-c",
    "--cluster",
    "clusters",
    metavar="ENVIRONMENT=NAME",
    multiple=True,
    help="The name of an environment's management cluster; default: the environment's name.",
)
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The kubeconfig with the contexts; default: KUBECONFIG, then ~/.kube/config.",
)
@click.option(
    "--chart",
    metavar="URL",
    help="The repository with the chart for baselines, for remote clusters; https://... or oci://...",
)
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("tenants.yaml"),
    show_default=True,
    help="The file to write. It must not exist.",
)
@click.option(
    "--report",
    "report_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the report to this file, as Markdown.",
)
@click.option("--keep-values", is_flag=True, help="Also write values that may be secrets, such as passwords.")
@click.option("--all", "everything", is_flag=True, help="Show every object and field of the report.")
@trust_sources
@click.option("--dry-run", is_flag=True, help="Print tenants.yaml on stdout, and write nothing.")
@output("text", "json", kind="Import")
def command(
    environments: tuple[str, ...],
    clusters: tuple[str, ...],
    kubeconfig: Path | None,
    chart: str | None,
    target: Path,
    report_file: Path | None,
    output: str,
    *,
    dry_run: bool,
    everything: bool,
    keep_values: bool,
    trust_sources: bool,
) -> int:
    """Write tenants.yaml from existing Flux objects, with a report.

    Reads live management clusters, directories of manifests or kustomize trees. What tenants.yaml cannot express is left
    over, with the reason and a fix. The written file is valid, and its plan is compared with what was read. No cluster is
    changed, and no value of a Secret is read or written. Apps with values that may be secrets, such as passwords, are left
    over.
    """
    from tenantry.cli.importing.markdown import as_markdown
    from tenantry.importing.inference.draft import drafted
    from tenantry.importing.inventory import inventory
    from tenantry.importing.report.report import report_of
    from tenantry.importing.text import header, text_of

    for each in (target, *((report_file,) if report_file else ())):
        if not dry_run and each.exists():
            raise Refused(f"{each} exists already, and is not overwritten", "name another file, or remove it")
    sources = sources_of(environments)
    management = management_of(clusters, sources)
    found: defaultdict[str, list[Placed]] = defaultdict(list)
    for source in sources:
        found[source.environment] += objects_of(source, kubeconfig, trust=trust_sources)
    read = inventory(found, management)
    if not read.objects:
        raise Refused("no Kubernetes objects were found", "name a directory that holds Flux objects, or a context")
    with working("planning the draft"):
        draft = drafted(read, chart_at(chart) if chart else None, keep_values=keep_values)
    head = header([f"{each.environment}={each.text}" for each in sources])
    report = report_of(read, draft, text_of(draft.data, head, draft.decisions), str(target))
    if not dry_run:
        write_new(target, report.text)
    if report_file and not dry_run:
        write_new(report_file, as_markdown(report) + "\n")
    _print(report, output, dry_run=dry_run, everything=everything)
    return 0


def _print(report: Report, output: str, *, dry_run: bool, everything: bool) -> None:
    """The report is the result; with --dry-run the file is, and the report goes to stderr."""
    from tenantry.cli.diff.values import EVERYTHING, DisplayLimits
    from tenantry.cli.importing.text import as_text

    if output == "json":
        from tenantry.cli.importing.data import import_document

        data_json(import_document(report))
        return
    if dry_run:
        data(report.text.rstrip("\n"))
    width = columns(sys.stderr if dry_run else sys.stdout)
    (say if dry_run else data)(as_text(report, EVERYTHING if everything else DisplayLimits(), width))


def chart_at(url: str) -> dict[str, str]:
    """`platform.chart.helm` for the chart of this version of Tenantry."""
    from tenantry.charts import OBJECTS
    from tenantry.kube.yaml_text import document as read

    version = str(read((OBJECTS / "Chart.yaml").read_text())["version"])
    return {"url": url, **({"type": "oci"} if url.startswith("oci://") else {}), "version": version}


def write_new(target: Path, text: str) -> None:
    """Write a file that does not exist yet, whole or not at all. Raises: Refused."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.link(temporary, target)  # unlike a rename, this fails if somebody made the file meanwhile
    except FileExistsError:
        raise Refused(f"{target} exists already, and is not overwritten", "name another file, or remove it") from None
    except OSError as error:
        raise Refused(f"{target} cannot be written: {error.strerror}", "name another file") from None
    finally:
        temporary.unlink(missing_ok=True)
