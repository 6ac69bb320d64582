"""`tenantry stacks`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.table import Table
from rich.text import Text

from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import environments, output
from tenantry.cli.output import data, data_json, print_fitting, say, stdout_console
from tenantry.compare.git import Repository as Clone
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import dns_label_problem, object_name_problem
from tenantry.listing import Filter, listing
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.messages.text import listed, printable
from tenantry.render import to_yaml
from tenantry.stacks.command import TUNED
from tenantry.stacks.file import NAMESPACE, Stack, directory_of, project_name, stacks_of
from tenantry.stacks.operator import Delivery, Repository, is_cloud, objects

if TYPE_CHECKING:
    from tenantry.cli.documents.checks import ProjectStack


_F = TypeVar("_F", bound=Callable[..., Any])
_OPTIONS = (
    click.option("--url", metavar="URL", default="", help="Git repository of the fleet; default: the remote 'origin'."),
    click.option("--branch", metavar="NAME", default="", help="Branch to run; default: the current one."),
    click.option("--commit", metavar="HASH", default="", help="Commit to run, in place of a branch."),
    click.option("--git-secret", metavar="NAME", default="", help="Secret for Git: accessToken, or sshPrivateKey."),
    click.option("--backend", metavar="URL", default="", help="Address of the state; default: the Secret has it."),
    click.option("--organization", metavar="NAME", default="organization", help="Of Pulumi Cloud."),
    click.option("--secret", metavar="NAME", default="pulumi", show_default=True, help="Secret with Pulumi's values."),
    click.option("--secrets-provider", metavar="URL", default="", help="Key service, in place of a passphrase."),
    click.option(
        "--kubeconfig-secret",
        metavar="NAME",
        default="{environment}-kubeconfig",
        show_default=True,
        help="Secret with the management cluster's kubeconfig.",
    ),
    click.option("--env-secret", metavar="NAME", multiple=True, help="Secret whose keys become environment variables."),
    click.option(
        "--namespace", metavar="NAME", default="pulumi-kubernetes-operator", show_default=True, help="For the objects."
    ),
    click.option("--service-account", metavar="NAME", default="tenantry", show_default=True, help="Of the workspaces."),
    click.option("--image", metavar="IMAGE", default="", help="Image of the workspaces; default: the operator's."),
)


def _operator_options(command: _F) -> _F:
    """What the objects for Pulumi's operator say."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _delivery(given: dict[str, Any], project: Path, fleet: Fleet) -> Delivery:
    """Raises: Refused: the repository is not known, or a name or an address cannot be written."""
    _check_names(given, fleet)
    if _has_password(given["backend"]):
        raise Refused(
            "--backend holds a password, which the objects would show",
            f"put the address into the Secret '{given['secret']}', as PULUMI_BACKEND_URL, and omit --backend",
        )
    return Delivery(
        project=project_name(project),
        repository=_repository(given, project),
        namespace=given["namespace"],
        service_account=given["service_account"],
        secret=given["secret"],
        kubeconfig_secret=given["kubeconfig_secret"],
        organization=given["organization"],
        backend=given["backend"],
        secrets_provider=given["secrets_provider"],
        image=given["image"],
        variables=_variables(given["backend"]),
        environment_secrets=given["env_secret"],
        after={name: each.before for name, each in fleet.environments.items()},
    )


def _variables(backend: str) -> dict[str, str]:
    """The settings of a tuned run that are safe for the backend."""
    return {each.variable: each.value for each in TUNED if not (each.self_managed and is_cloud(backend))}


def _check_names(given: dict[str, Any], fleet: Fleet) -> None:
    if problem := dns_label_problem(given["namespace"]):
        raise click.UsageError(f"--namespace {problem}")
    named = {"secret": given["secret"], "service_account": given["service_account"], "git_secret": given["git_secret"]}
    for environment in fleet.environments:
        named["kubeconfig_secret"] = given["kubeconfig_secret"].replace("{environment}", environment)
        for option, name in (*named.items(), *(("env_secret", one) for one in given["env_secret"])):
            if name and (problem := object_name_problem(name)):
                raise click.UsageError(f"--{option.replace('_', '-')} {problem}")


def _repository(given: dict[str, Any], project: Path) -> Repository:
    if given["branch"] and given["commit"]:
        raise click.UsageError("--branch and --commit exclude each other")
    clone = _clone(project)
    url = given["url"] or _read(
        clone,
        ("remote", "get-url", "origin"),
        "the clone has no remote 'origin'",
        "name the repository's address with --url",
    )
    if _has_password(url):
        raise Refused(
            "the address of the Git repository holds a user or a password",
            "name the address without it with --url, and the Secret that holds it with --git-secret",
        )
    branch = given["branch"]
    if not branch and not given["commit"]:
        branch = _read(
            clone,
            ("symbolic-ref", "--short", "HEAD"),
            "no branch is checked out",
            "name one with --branch, or use --commit",
        )
    return Repository(url, branch, given["commit"], clone.prefix.rstrip("/"), given["git_secret"])


def _clone(project: Path) -> Clone:
    try:
        return Clone(project.resolve())
    except Refused as refused:
        raise Refused(
            refused.message, "run it in a clone of the fleet's repository: the objects name its directory"
        ) from None


def _read(clone: Clone, arguments: Sequence[str], problem: str, fix: str) -> str:
    ended = clone.run(*arguments)
    if ended.returncode:
        raise Refused(problem, fix)
    return ended.stdout.decode(errors="replace").strip()


def _has_password(address: str) -> bool:
    """Whether an address has a user with a password, or an access token in place of a user's name."""
    found = _USER.match(address)
    if found is None:
        return False
    return ":" in found[2] or (found[1].lower() in ("http", "https") and bool(found[2]))


_USER = re.compile(r"([a-z0-9+.-]+)://([^/@]*)@", re.IGNORECASE)
_COLUMNS = ("NAME", "ENVIRONMENT", "TARGET", "KUBECONFIG", "CONTEXT")
_DISPENSABLE = ("CONTEXT", "KUBECONFIG")
"""Columns that are omitted on a narrow terminal, in this order."""


@click.command(
    "stacks",
    cls=Command,
    epilog="""\
Examples:
  tenantry stacks
  tenantry stacks --environment prod --output json
  tenantry stacks --output pulumi-operator | kubectl apply -f -
  tenantry stacks --output pulumi-operator --environment prod \\
                  --backend s3://state --image registry.example.com/fleet:1

The objects for Pulumi's operator name these Secrets, which must be in their
namespace. Their values are never written:
  pulumi                  PULUMI_BACKEND_URL and PULUMI_CONFIG_PASSPHRASE
                          (--secret; PULUMI_ACCESS_TOKEN for Pulumi Cloud)
  ENVIRONMENT-kubeconfig  value: the kubeconfig of the management cluster; of
                          several, with the contexts in tenantry:hubs
                          (--kubeconfig-secret)

Exit codes:
  0  success, also if there are no stacks
  2  tenants.yaml or a stack's file is invalid, or the repository is not known
""",
)
@environments("Only the stacks of this environment.", argument=True)
@output("text", "json", "pulumi-operator", kind="Stacks", wide=True)
@_operator_options
@reads_file
def command(file: Path, environment: tuple[str, ...], output: str, **given: Any) -> int:
    """List the project's stacks: which environment each one runs, and on which management cluster.

    A stack is listed if it has a file, Pulumi.NAME.yaml, next to tenants.yaml.

    With --output pulumi-operator, write the objects that have Pulumi's Kubernetes operator run the stacks. No cluster is
    contacted.
    """
    fleet = load_fleet(file)
    listing(fleet, "clusters", Filter(environment))  # refuses names that the file does not declare
    project = file.parent
    found = [stack for stack in stacks_of(project) if not environment or stack.environment in environment]
    if output == "json":
        from tenantry.cli.documents.checks import Stacks

        data_json(Stacks(project=project_name(project), stacks=[_item(each, fleet) for each in found]))
    elif output == "text":
        _print_table([_item(each, fleet) for each in found])
    else:
        _check_contexts(found, fleet)
        _print_objects(found, _delivery(given, project, fleet))
    return 0


def _check_contexts(stacks: Sequence[Stack], fleet: Fleet) -> None:
    """Raises: Refused: a workspace would not reach one of several management clusters: its only kubeconfig is the Secret's."""
    for stack in stacks:
        declared, target = fleet.environments.get(stack.environment), stack.target
        for hub in declared.managements if declared and len(declared.managements) > 1 and not target.files else ():
            reach = target.hubs.get(hub)
            if reach is None or reach.kubeconfig or not reach.context:
                at = f"'{NAMESPACE}:hubs.{hub}"
                raise Refused(
                    f"stack '{stack.name}' does not reach management cluster '{hub}' by a context: a workspace has one kubeconfig",
                    f"pulumi config set --stack {stack.name} --path {at}.context' CONTEXT; pulumi config rm --stack {stack.name}"
                    f" --path {at}.kubeconfig'; put that context into the Secret's kubeconfig",
                )


def _item(stack: Stack, fleet: Fleet) -> ProjectStack:
    from tenantry.cli.documents.checks import ProjectStack

    target, declared = stack.target, fleet.environments.get(stack.environment)
    written = target.directory or str(directory_of(stack.environment))
    return ProjectStack(
        name=stack.name,
        environment=stack.environment,
        target="directory" if target.files else "cluster",
        cluster=", ".join(declared.managements) if declared and not target.files else None,
        kubeconfig=os.path.relpath(target.kubeconfig) if target.kubeconfig and not target.files else None,
        context=None if target.files else target.context,
        directory=written if target.files else None,
    )


def _print_table(items: Sequence[ProjectStack]) -> None:
    if not items:
        say("no stacks: a stack is listed if it has a file, Pulumi.NAME.yaml; pulumi stack init NAME makes one")
        return

    def build(headings: Sequence[str]) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in headings:
            table.add_column(heading, overflow="fold")
        for item in items:
            table.add_row(*(Text(_cell(item, heading)) for heading in headings))
        return table

    console = stdout_console()
    columns = tuple(each for each in _COLUMNS if any(_cell(item, each) for item in items))
    print_fitting(build, columns, _DISPENSABLE, console)


def _cell(item: ProjectStack, heading: str) -> str:
    if heading == "TARGET":
        return printable(item.cluster or item.directory or "(environment is not declared)")
    return printable(str(getattr(item, heading.lower()) or ""))


def _print_objects(stacks: Sequence[Stack], delivery: Delivery) -> None:
    if files := [stack.name for stack in stacks if stack.target.files]:
        say(f"no object for stacks that write files: {listed(files)}")
    made = objects(stacks, delivery)
    if not made:
        fix = "make one: pulumi stack init ENVIRONMENT; tenantry stacks lists all of them"
        if files:
            fix = f"have one do so: pulumi config set {NAMESPACE}:target cluster --stack {files[0]}"
        raise Refused("no stack runs on a cluster", fix)
    data(to_yaml(made).rstrip("\n"))
