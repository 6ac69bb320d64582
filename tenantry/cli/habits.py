"""What people type out of habit from kubectl, flux, helm, terraform and Git, and what to type instead.

A habit is accepted where it is exactly the same thing. Otherwise it gets an answer: there is one name for each thing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

_APP = re.compile(r"[a-z0-9-]+/[a-z0-9-]+")
_UP = "tenantry up ENVIRONMENT"
_REMOVE = "tenantry remove app TENANT/APP (edits tenants.yaml)"
_DESTROY = "tenantry destroy ENVIRONMENT (everything of an environment)"
_LIST = "tenantry list apps (what the file declares)"
_STATUS = "tenantry status ENVIRONMENT"
_EXPLAIN = "tenantry explain TENANT/APP -e ENVIRONMENT (settings)"
_REVERT = "git revert COMMIT, then tenantry up ENVIRONMENT"
_ADD = "tenantry add app TENANT/APP (edits tenants.yaml)"
_TREE = "tenantry tree TENANT/APP -e ENVIRONMENT"
_WHY = "tenantry why TENANT/APP -e ENVIRONMENT"
_PLAN = (
    "tenantry preview ENVIRONMENT (with Pulumi)",
    "tenantry diff (what a change does)",
    "tenantry render ENVIRONMENT (the objects)",
)
_VALIDATE = ("tenantry validate (the file)", "tenantry preflight ENVIRONMENT (the clusters)")
_VERSIONS = ("tenantry update (versions of apps)", "tenantry upgrade (the project's files)")
_FREEZE = (
    "tenantry suspend TENANT/APP -e ENVIRONMENT",
    "tenantry set tenants.TENANT.apps.APP.state paused (for longer)",
)


def _each(answers: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The answer of each habit. Keys: names separated by spaces; values: the lines to type."""
    return {name: f"Type: {', or '.join(lines)}" for names, lines in answers.items() for name in names.split()}


COMMANDS = _each(
    {
        "apply deploy": (_UP,),
        "install": (_ADD, f"{_UP} (applies the file)"),
        "uninstall delete rm del": (_REMOVE, _DESTROY),
        "mv": ("tenantry move app TENANT/APP TENANT", "tenantry rename app TENANT/APP NAME"),
        "new create scaffold": ("tenantry init (a new project)", _ADD),
        "bump renovate": _VERSIONS,
        "ls get show": (_LIST, f"{_STATUS} (whether apps are ready)", _EXPLAIN),
        "describe inspect": (f"{_WHY} (what is not well)", f"{_TREE} (what Flux applied)", _EXPLAIN),
        "diagnose debug troubleshoot trace": (f"{_WHY} (the cause of what is not well)",),
        "output": ("tenantry list", f"{_STATUS} -o json"),
        "plan": _PLAN,
        "drift refresh": ("tenantry preview ENVIRONMENT --refresh",),
        "compare": ("tenantry diff (with a Git revision)", "tenantry parity ENVIRONMENT ENVIRONMENT"),
        "build template generate export manifests": ("tenantry render ENVIRONMENT",),
        "check lint verify test doctor": _VALIDATE,
        "wait": (f"{_STATUS} --wait",),
        "watch top dashboard ui health": (f"{_STATUS} --watch", f"{_STATUS} -o html > status.html"),
        "sync rollout restart trigger": ("tenantry reconcile TENANT/APP -e ENVIRONMENT",),
        "rollback undo revert": (_REVERT,),
        "history log blame": ("git log -p tenants.yaml", "pulumi stack history --stack ENVIRONMENT"),
        "pause stop freeze hold": _FREEZE,
        "unpause start continue unfreeze unsuspend": ("tenantry resume TENANT/APP -e ENVIRONMENT",),
        "edit patch": ("tenantry set PATH VALUE, such as tenantry set tenants.rocky.quota.pods 40",),
        "config context contexts use": (
            "tenantry stacks (which cluster an environment is on)",
            "export TENANTRY_ENVIRONMENT=ENVIRONMENT (the default of commands)",
        ),
        "login logout whoami": ("pulumi login (the state)", "kubectl auth whoami (a cluster)"),
        "exec port-forward cp attach": ("kubectl, with the kubeconfig of the cluster: tenantry list clusters",),
        "state workspace stack": ("tenantry stacks",),
        "format": ("tenantry fmt",),
        "discover": ("tenantry cluster discover -e ENVIRONMENT",),
        "bootstrap": ("tenantry cluster bootstrap CLUSTER",),
        "down": ("tenantry sandbox down", _DESTROY),
        "demo example quickstart tour": ("tenantry try",),
        "version": ("tenantry --version",),
    }
)
"""The answers for names that are no command."""

_SET = "tenantry set PATH VALUE (or unset PATH), such as tenantry set"
SUBCOMMANDS = _each(
    {
        "help": ("tenantry help COMMAND",),
        "override overrides": (f"{_SET} tenants.rocky.overrides.environments.prod.quota.pods 80",),
        "selector selectors": (f"{_SET} tenants.rocky.clusters '{{labels: {{tier: edge}}}}'",),
        "grant grants": (f"{_SET} tenants.rocky.grants.settings '[quota, limits]'",),
        "namespace ns": (f"{_SET} tenants.rocky.namespaces.jobs '{{}}'",),
    }
)
"""The answers for names that are no command of a group such as `tenantry add`."""

SHORT: Mapping[str, str] = {"env": "environment", "envs": "environment", "helmrelease": "app", "kustomization": "app"}
"""Other words for what a group's commands are about."""

OPTIONS: Mapping[str, Sequence[tuple[str, str]]] = {
    "-n --namespace --tenant": (
        ("tenant", "Name the app as TENANT/APP."),
        ("subject", "Name the app as TENANT/APP."),
        ("skip_preview", "Pulumi applies a whole environment. Type: tenantry preview ENVIRONMENT --tenant TENANT"),
        ("", "A tenant is named where a command has --tenant or an argument TENANT."),
    ),
    "-A --all-namespaces --all-tenants": (("", "All tenants are shown unless --tenant names one: leave it out."),),
    "-l --selector --labels": (("", "Clusters have labels: tenantry list clusters"),),
    "-w --watch --follow": (("", "Type: tenantry status ENVIRONMENT --watch"),),
    "--wait": (("", "Type: tenantry status ENVIRONMENT --wait"),),
    "--json --yaml -o --output": (
        ("", "Commands that have it take it behind their names: tenantry COMMAND --output FORMAT"),
    ),
    "--format --output-format": (("output", "Type: --output FORMAT"),),
    "-q --quiet --silent": (("", "Messages are on stderr, results on stdout: 2>/dev/null hides the messages."),),
    "-v --verbose --debug": (("", "There are no more messages to show. `tenantry --version` prints the version."),),
    "-C --chdir --cwd": (("", "Type: --file DIRECTORY/tenants.yaml"),),
    "--kube-context": (("context", "Type: --context NAME"),),
    "--auto-approve": (("yes", "Type: --yes"),),
    "--dry-run": (("skip_preview", "Type: tenantry preview ENVIRONMENT"),),
    "--no-color --color --no-colour --colour": (("", "Type: NO_COLOR=1 tenantry ..., or FORCE_COLOR=1 tenantry ..."),),
    "-e --env --environment": (("from", "Name both environments: --from ENVIRONMENT --to ENVIRONMENT"),),
    "-s --stack": (("stack", "Type: --stack NAME"), ("", "Name the environment with -e: a stack runs each.")),
}
"""Answers for options that a command does not have, by the parameter that it has instead; the first that fits, "" fits all."""

EXTRA: Mapping[str, str] = {
    "diff": "To compare two environments, type: tenantry parity ENVIRONMENT ENVIRONMENT",
    "validate": "It checks all environments.",
    "up": "Run it for each environment.",
    "preview": "Run it for each environment.",
}
"""Answers for words behind those that a command takes."""


def with_app(answer: str, words: Sequence[str]) -> str:
    """An answer about the app that the command line names as TENANT/APP, if it names one."""
    app = next(filter(_APP.fullmatch, words), "TENANT/APP")
    return answer.replace("TENANT/APP", app)


def option_answer(option: str, parameters: Collection[str]) -> str:
    """What to type instead of an option. parameters: those of the command. "" if nothing is known."""
    answers = next((each for names, each in OPTIONS.items() if option in names.split()), ())
    return next((answer for needs, answer in answers if not needs or needs in parameters), "")
