"""`tenantry cluster check`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import click

from tenantry.cli.clusters import environment_of
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import environment as environment_option
from tenantry.cli.options import output
from tenantry.cli.output import data, data_json
from tenantry.cli.problems import as_text, counts
from tenantry.errors import Refused
from tenantry.fleet import Fleet
from tenantry.inventory import secret_of
from tenantry.kubeconfigcheck import is_loopback
from tenantry.load import load_fleet
from tenantry.model import SecretKey
from tenantry.problems import Problem, Severity
from tenantry.secretcheck import check_secret


@click.command(
    "check",
    short_help="say what Flux will refuse of a cluster's kubeconfig",
    epilog="""\b
Examples:
  tenantry cluster check edge-1
  tenantry cluster check edge-1 --environment prod --kubeconfig ~/.kube/hub-prod --output json
""",
)
@click.argument("name")
@environment_option("The environment whose management cluster is asked; default: the cluster's first.")
@management_options
@output("text", "json")
@click.pass_obj
def check(
    file: Path, name: str, environment: str | None, kubeconfig: Path | None, context: str | None, output: str
) -> int:
    """Read the kubeconfig through which Flux reaches remote cluster NAME, and say what Flux will refuse or drop of it.

    Only the management cluster is asked, nothing is changed, and nothing of the kubeconfig is printed.
    Exit code 0: no errors, warnings at most; 1: at least one error.
    """
    fleet = load_fleet(file)
    chosen = environment_of(fleet, name, environment)
    reference = _reference(fleet, name, chosen)
    with connect_management(file, chosen, kubeconfig, context) as client:
        local = is_loopback(urlsplit(client.config.cluster.server).hostname or "")
        problems = check_secret(reference, secret_of(client, reference), now=datetime.now(UTC), local=local)
    _print(name, problems, output)
    return 1 if any(problem.severity is Severity.ERROR for problem in problems) else 0


def _reference(fleet: Fleet, name: str, environment: str) -> SecretKey:
    declared = fleet.clusters[name].kubeconfig
    if declared is None or name == fleet.environments[environment].management:
        message = (
            f"cluster '{name}' is the management cluster of environment '{environment}': no kubeconfig leads to it"
        )
        raise Refused(message, "name a remote cluster")
    reference = declared.resolved
    if not isinstance(reference, SecretKey):
        message = f"cluster '{name}' is reached by workload identity: there is no kubeconfig to check"
        raise Refused(message, "see `tenantry status` for what Flux says about it")
    return reference


def _print(name: str, problems: tuple[Problem, ...], output: str) -> None:
    if output == "json":
        data_json({"cluster": name, "problems": [asdict(problem) for problem in problems]})
        return
    for problem in problems:
        data(as_text(problem))
    data(f"{name}: {counts(problems) or 'nothing that Flux would refuse'}")
