"""`tenantry import`: the sources that it reads as they are named on the command line, and its report for a terminal."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.lines import Line, changed_objects, line_text
from tenantry.cli.output import data, data_json, error, working
from tenantry.facts.objects import FieldChange
from tenantry.importing.documents import Document, objects_in
from tenantry.importing.drafting import drafted, header, text_of
from tenantry.importing.kustomize import builder
from tenantry.importing.proof import Outcome, Report, Result, report_of
from tenantry.importing.reading import objects_on, read_environment
from tenantry.importing.resources import Inventory, inventory
from tenantry.kube.names import dns_label_problem
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, grouped, listed, printable

_CONTEXT = "context:"


def _pairs(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[tuple[str, str]]:
    """Pairs of an environment and what is said of it."""
    pairs = []
    for text in given:
        environment, _, value = text.partition("=")
        if not (environment and value):
            raise click.UsageError(f"{option.opts[-1]} {text}: write {option.metavar}", context)
        if problem := dns_label_problem(environment):
            raise click.UsageError(f"'{environment}' cannot be the name of an environment: {problem}", context)
        pairs.append((environment, value))
    return pairs


def _management(sources: Sequence[tuple[str, str]], clusters: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The management cluster of each environment: named like the environment, unless an option names it."""
    management = {environment: environment for environment, _ in sources}
    for environment, cluster in clusters:
        if environment not in management:
            message = f"--cluster {environment}={cluster}: '--environment {environment}=SOURCE' is not given"
            raise click.UsageError(message)
        if problem := dns_label_problem(cluster):
            raise click.UsageError(f"'{cluster}' cannot be the name of a cluster: {problem}")
        management[environment] = cluster
    return management


def _read_all(sources: Sequence[tuple[str, str]], management: Mapping[str, str], kubeconfig: Path | None) -> Inventory:
    """Everything that is read. Raises: Refused: a source cannot be read, or is invalid."""
    build = builder(_kustomize)
    environments = {}
    for environment, own in grouped(sources, lambda source: source[0]).items():
        directories, documents = list[Path](), list[Document]()
        with working(f"reading {listed([text for _, text in own])}"):
            for _, text in own:
                path = Path(text).expanduser()
                if text.startswith(_CONTEXT):
                    from tenantry.cluster.connect import answering, connect

                    with connect(kubeconfig, text.removeprefix(_CONTEXT) or None) as hub, answering(hub):
                        documents += objects_on(hub)
                elif path.is_file():
                    documents += objects_in(path.read_bytes(), str(path))
                elif path.is_dir():
                    directories.append(path)
                else:
                    fix = "name a directory, a file, or context:NAME for a context of the kubeconfig"
                    raise Refused(f"{text}: no such directory", fix)
            environments[environment] = read_environment(environment, directories, documents, build)
    return inventory(environments, management)


def _kustomize() -> tuple[str, ...]:
    """The command that builds a directory: kustomize, on PATH or as `tenantry sandbox tools` has built it, or kubectl's."""
    if path := shutil.which("kustomize"):
        return (path, "build")
    for plugin in entry_points(group="tenantry.programs", name="kustomize"):
        if built := plugin.load()():
            return (str(built), "build")
    if kubectl := shutil.which("kubectl"):
        return (kubectl, "kustomize")
    raise Refused(
        "kustomize is not installed", "install kustomize or kubectl, or run `tenantry sandbox tools kustomize`"
    )


@click.command(
    "import",
    cls=Command,
    epilog="""\
Examples:
  tenantry import --environment prod=context:prod --to tenants.yaml
  tenantry import -e staging=clusters/staging -e production=clusters/production
  tenantry import -e test=rendered/test -e prod=rendered/prod \\
                  --cluster test=cloudy --cluster prod=cloudy

A SOURCE is a directory of manifests, a directory with a kustomization.yaml,
which is built, a file, or context:NAME for a live management cluster.
An environment can have several sources.

Exit codes:
  0  the file is written; the report says what is left
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
    callback=_pairs,
    help="An environment, and where its Flux objects are read; can be repeated.",
)
@click.option(
    "-c",
    "--cluster",
    "clusters",
    metavar="ENVIRONMENT=NAME",
    multiple=True,
    callback=_pairs,
    help="The name of an environment's management cluster; default: the environment's name.",
)
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The kubeconfig with the contexts; default: KUBECONFIG, then ~/.kube/config.",
)
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("tenants.yaml"),
    show_default=True,
    help="The file to write. It must not exist.",
)
@options.output("text", "json")
def command(
    environments: list[tuple[str, str]],
    clusters: list[tuple[str, str]],
    kubeconfig: Path | None,
    target: Path,
    output: str,
) -> int:
    """Write tenants.yaml from existing Flux objects, with a report.

    Reads live management clusters, directories of manifests or kustomize trees. What tenants.yaml cannot express is left
    where it is, with the reason and a fix. The written file is valid, and its plan is compared with what was read. No cluster
    is changed, and no value of a Secret is read or written. Apps with values that may be secrets, such as passwords, are left.
    """
    if target.exists():
        raise Refused(f"{target} exists already, and is not overwritten", "name another file, or remove it")
    read = _read_all(environments, _management(environments, clusters), kubeconfig)
    if not read.resources:
        raise _nothing(read)
    with working("planning the draft"):
        draft = drafted(read)
    head = header(map("=".join, environments))
    report = report_of(read, draft, text_of(draft.data, head), str(target))
    if report.expressed:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("x", encoding="utf-8") as opened:
                opened.write(report.text)
        except OSError as refused:
            raise Refused(f"{target} cannot be written ({refused.strerror})", "name another file") from None
    if output == "json":
        data_json(report, "Import")
    else:
        data(as_text(report))
    if not report.expressed:
        error("nothing that was read can be written: the report says why")
        return 2
    return 1 if read.unread else 0


def _nothing(read: Inventory) -> Refused:
    """No object was read: the first place that could not be, or that there is nothing."""
    if read.unread:
        first = read.unread[0]
        return Refused(f"{first.place}: {first.reason}", first.fix)
    fix = "name a directory that Flux applies to a cluster, or context:NAME for a live one"
    return Refused("no Kubernetes objects were found", fix)


# --- the report for a terminal: counts first, then each object that is not equal, with what is to do ------------------

_COUNTED = {
    "equal": "in the file, as they are",
    "different": "in the file, with fields or a name that change",
    "left": "left where they are: what applies them today goes on",
    "inexpressible": "not expressed: see why",
    "added": "new, created by adoption",
}


def as_text(report: Report) -> str:
    """The whole report."""
    unread = [(place.place, place.reason, place.fix) for place in report.unread]
    parts = [
        _summary(report),
        [*_grouped("Not read", unread)],
        [*_grouped("Not expressed", _reasons(report, Outcome.INEXPRESSIBLE))],
        [*_grouped("Look at these", _reasons(report, Outcome.EQUAL, Outcome.DIFFERENT))],
        [*_grouped("Left where they are", _reasons(report, Outcome.LEFT))],
        [*_fields("Adoption changes", [(result, result.changed) for result in report.objects])],
        # What stays is no removal, so these lines have no sign.
        [*_fields("These fields stay, but are not in the file, on", ((own, own.held) for own in report.objects), " ")],
        [*_added(report)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _summary(report: Report) -> list[str]:
    """9 objects read: 7 are in tenants.yaml"""
    counts = report.counts
    is_in = f"{report.expressed} {'is' if report.expressed == 1 else 'are'} in {printable(report.file)}"
    widest = max(len(str(counts[key])) for key in _COUNTED)
    lines = [f"  {counts[key]:>{widest}} {text}" for key, text in _COUNTED.items() if counts[key]]
    return [f"{counted(counts['read'], 'object')} read: {is_in}", *lines]


def _grouped(title: str, rows: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """What is said of several places for the same reason together. Args: rows: places with a reason and a fix."""
    if rows:
        yield f"{title} ({len(rows)}):"
    for (reason, fix), group in grouped(rows, lambda row: row[1:]).items():
        places = Counter(place for place, *_ in group)
        names = (f"{place} in {count} environments" if count > 1 else place for place, count in places.items())
        yield line_text(Line("!", printable(listed(names))))
        yield line_text(Line(" ", printable(reason), 1))
        yield line_text(Line(" ", f"fix: {printable(fix)}", 1))


def _reasons(report: Report, *outcomes: Outcome) -> list[tuple[str, str, str]]:
    """Kind namespace/name (file:line): spec.field, with each reason and its fix."""
    return [
        (f"{result.id} ({result.origin}){f': {reason.field}' if reason.field else ''}", reason.text, reason.fix)
        for result in report.of(*outcomes)
        for reason in result.reasons
    ]


def _fields(title: str, results: Iterable[tuple[Result, tuple[FieldChange, ...]]], sign: str = "") -> Iterator[str]:
    """The fields of objects below a title. Args: sign: of all lines; "": the one of the change."""
    if changed := [(result.planned or result.id, fields) for result, fields in results if fields]:
        yield f"{title} {counted(len(changed), 'object')}:"
        for line in changed_objects(changed):
            yield line_text(line._replace(sign=sign or line.sign))


def _added(report: Report) -> Iterator[str]:
    if report.counts["added"]:
        kinds = Counter(id.kind for ids in report.added.values() for id in ids)
        yield f"Adoption creates {counted(report.counts['added'], 'object')}:"
        yield line_text(Line("+", ", ".join(f"{count} {kind}" for kind, count in kinds.items())))
