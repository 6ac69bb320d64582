"""`tenantry import`, and the sources that it reads as they are named on the command line."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tenantry.cli.commands import Command
from tenantry.cli.options import output
from tenantry.cli.output import columns, data, data_json, error, say, working
from tenantry.edit.write import write_all
from tenantry.importing.documents import MOST_BYTES, Placed, objects_in
from tenantry.kube.names import dns_label_problem
from tenantry.messages.errors import Refused
from tenantry.messages.text import grouped, listed

if TYPE_CHECKING:
    from tenantry.importing.applied import Build
    from tenantry.importing.model import Reading
    from tenantry.importing.report import Report


_CONTEXT = "context:"


class Source(NamedTuple):
    """`NAME=SOURCE` of the option `--environment`."""

    environment: str
    text: str


def sources_of(options: Sequence[str]) -> list[Source]:
    """Raises: click.UsageError: an option is malformed."""
    found = [Source(*_named(option, "--environment", "NAME=SOURCE")) for option in options]
    if sum(each.text == "-" for each in found) > 1:
        raise click.UsageError("'-' reads stdin, which can be read once")
    return found


def management_of(options: Sequence[str], sources: Sequence[Source]) -> dict[str, str]:
    """The management cluster of each environment: named like the environment, unless an option names it."""
    found = {source.environment: source.environment for source in sources}
    for option in options:
        environment, cluster = _named(option, "--cluster", "ENVIRONMENT=NAME")
        if environment not in found:
            raise click.UsageError(f"--cluster {option}: '--environment {environment}=SOURCE' is not given")
        found[environment] = cluster
        _check(cluster, "cluster")
    return found


def _named(option: str, name: str, form: str) -> tuple[str, str]:
    key, equals, value = option.partition("=")
    if not (key and equals and value):
        raise click.UsageError(f"{name} {option}: write {form}")
    _check(key, "environment")
    return key, value


def _check(name: str, what: str) -> None:
    if problem := dns_label_problem(name):
        raise click.UsageError(
            f"'{name}' cannot be the name of {'an' if what == 'environment' else 'a'} {what}: {problem}"
        )


def read_all(sources: Sequence[Source], kubeconfig: Path | None) -> tuple[dict[str, list[Placed]], Reading]:
    """The objects of each environment, and how they were read.

    Raises: Refused: a source cannot be read, or is invalid.
    """
    from tenantry.importing.environments import read_environment
    from tenantry.importing.model import Reading

    build = builder()
    found: dict[str, list[Placed]] = {}
    how = Reading()
    for environment, own in grouped(sources, lambda each: each.environment).items():
        directories, others = [], []
        for source in own:
            if directory := directory_of(source):
                directories.append(directory)
            else:
                others += objects_of(source, kubeconfig)
        with working(f"reading {listed([each.text for each in own])}"):
            found[environment], one = read_environment(environment, directories, others, build)
        how += one
    return found, how


def directory_of(source: Source) -> Path | None:
    """The directory that a source names; None: it is none."""
    path = Path(source.text).expanduser()
    return path if source.text != "-" and not source.text.startswith(_CONTEXT) and path.is_dir() else None


def objects_of(source: Source, kubeconfig: Path | None) -> list[Placed]:
    """All objects of a source that is no directory. Raises: Refused: it cannot be read, or is invalid."""
    with working(f"reading {source.text}"):
        if source.text == "-":
            return list(objects_in(sys.stdin.buffer.read(MOST_BYTES + 1), "stdin"))
        if source.text.startswith(_CONTEXT):
            return _live(source.text.removeprefix(_CONTEXT) or None, kubeconfig)
        path = Path(source.text).expanduser()
        if path.is_file():
            return list(objects_in(path.read_bytes(), str(path)))
    fix = "name a directory, a file, '-' for stdin, or context:NAME for a context of the kubeconfig"
    raise Refused(f"{source.text}: no such directory", fix)


def _live(context: str | None, kubeconfig: Path | None) -> list[Placed]:
    from tenantry.cluster.connect import answering, connect
    from tenantry.importing.reading import objects_on

    with connect(kubeconfig, context) as client, answering(client.config):
        return list(objects_on(client))


def builder() -> Build:
    """Builds directories with kustomize, each once."""
    built: dict[str, bytes] = {}

    def build(root: Path, directory: Path, spec: Mapping[str, Any]) -> bytes:
        spec = {key: each for key, each in spec.items() if key in _BUILT_IN}
        key = f"{root} {directory} {spec!r}"
        if key not in built:
            built[key] = _build(root, directory, spec)
        return built[key]

    return build


_BUILT_IN = (
    *("targetNamespace", "namePrefix", "nameSuffix", "patches", "components", "ignoreMissingComponents", "images"),
)
"""The keys of a Kustomization that change what kustomize builds."""


def _build(root: Path, directory: Path, spec: Mapping[str, Any]) -> bytes:
    """Raises: NotBuilt; Refused: nothing can be built here."""
    from tenantry.importing.kustomize import build

    return build(root, directory, _kustomize(), spec)


def _kustomize() -> tuple[str, ...]:
    """The command that builds a directory: kustomize, on PATH or as `tenantry sandbox tools` has built it, or kubectl's."""
    if path := shutil.which("kustomize") or _built_tool():
        return (path, "build")
    if kubectl := shutil.which("kubectl"):
        return (kubectl, "kustomize")
    raise Refused(
        "kustomize is not installed", "install kustomize or kubectl, or run `tenantry sandbox tools kustomize`"
    )


def _built_tool() -> str | None:
    """What `tenantry sandbox tools` has built, if the sandbox is installed."""
    plugins = entry_points(group="tenantry.programs", name="kustomize")
    return next((str(path) for plugin in plugins if (path := plugin.load()())), None)


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
  1  the file is written without some places that could not be read
  2  a source is invalid, or nothing in it can be written; no file
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
) -> int:
    """Write tenants.yaml from existing Flux objects, with a report.

    Reads live management clusters, directories of manifests or kustomize trees. What tenants.yaml cannot express is left
    over, with the reason and a fix. The written file is valid, and its plan is compared with what was read. No cluster is
    changed, and no value of a Secret is read or written. Apps with values that may be secrets, such as passwords, are left
    over.
    """
    from tenantry.cli.fleet_file import NAME as FLEET
    from tenantry.cli.importing.markdown import as_markdown
    from tenantry.importing.assemble import drafted
    from tenantry.importing.environments import clusters_to_name, nothing_found
    from tenantry.importing.model import inventory
    from tenantry.importing.report import report_of
    from tenantry.importing.text import header, text_of

    for each in (target, *((report_file,) if report_file else ())):
        if not dry_run and each.exists():
            raise Refused(f"{each} exists already, and is not overwritten", "name another file, or remove it")
    sources = sources_of(environments)
    management = management_of(clusters, sources)
    found, how = read_all(sources, kubeconfig)
    directories = [each for each in map(directory_of, sources) if each]
    try:
        read = inventory(found, management, how)
    except Refused as refused:
        raise Refused(refused.message, clusters_to_name(directories) or refused.fix) from None
    if not read.objects:
        raise nothing_found(how, directories, empty=True)
    with working("planning the draft"):
        draft = drafted(read, chart_at(chart) if chart else None, keep_values=keep_values)
    head = header([f"{each.environment}={each.text}" for each in sources])
    needs_project = target.name == FLEET and not target.with_name("Pulumi.yaml").exists()
    text = text_of(draft.data, head, draft.decisions)
    report = report_of(read, draft, text, str(target), needs_project=needs_project)
    if not report.counts.expressed:
        _print(report, output, dry_run=False, everything=everything)
        error(str(nothing_found(how, directories, empty=False, left=report.left_over)))
        return 2
    if not dry_run:
        write_all({target: (b"", report.text.encode())}, [target])
    if report_file and not dry_run:
        write_all({report_file: (b"", f"{as_markdown(report)}\n".encode())}, [report_file])
    _print(report, output, dry_run=dry_run, everything=everything)
    return 1 if how.unread else 0


def _print(report: Report, output: str, *, dry_run: bool, everything: bool) -> None:
    """The report is the result; with --dry-run the file is, and the report goes to stderr."""
    from tenantry.cli.diff.values import EVERYTHING, DisplayLimits
    from tenantry.cli.importing.text import as_text

    if output == "json":
        data_json(report, "Import")
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
