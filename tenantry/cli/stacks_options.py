"""The options of `tenantry stacks --output pulumi-operator`, and what they stand for if they are not given."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from tenantry.compare.git import Repository as Clone
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import dns_label_problem, object_name_problem
from tenantry.messages.errors import Refused
from tenantry.stacks.command import TUNED
from tenantry.stacks.operator import Delivery, Repository, is_cloud
from tenantry.stacks.project import project_name

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


def delivered(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options, as the argument `deliver`: a function of the project's directory and the fleet."""

    @wraps(command)
    def with_delivery(*arguments: Any, **options: Any) -> int:
        ours = {each: options.pop(each) for each in _NAMES}
        return command(*arguments, deliver=partial(_delivery, ours), **options)

    for option in reversed(_OPTIONS):
        with_delivery = option(with_delivery)
    return with_delivery


_NAMES = (
    "url",
    "branch",
    "commit",
    "git_secret",
    "backend",
    "organization",
    "secret",
    "secrets_provider",
    "kubeconfig_secret",
    "env_secret",
    "namespace",
    "service_account",
    "image",
)


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
    for each in fleet.environments:
        named["kubeconfig_secret"] = given["kubeconfig_secret"].replace("{environment}", each)
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
