"""What people type out of habit from kubectl, flux, helm, terraform and Git, and what to type instead.

A habit is accepted where it is exactly the same thing. Otherwise it gets an answer: there is one name for each thing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

_UP = "tenantry up {env}"
_LIST = "tenantry list apps  # what the file declares"
_STATUS = "tenantry status {env}"
_EXPLAIN = "tenantry explain {app} {where}  # its settings"
_REVERT = ("git revert COMMIT", _UP)
_ADD = "tenantry add app {app}  # edits tenants.yaml"
_TREE = "tenantry tree {app} {where}  # what Flux applied"
_WHY = "tenantry why {app} {where}"
_RECONCILE = "tenantry reconcile {app} {where}"
_PATH = "A value is named by its path."
_DESTROY = "tenantry destroy -e ENVIRONMENT  # deletes all of an environment"
_FREEZE = ("tenantry suspend {app} {where}", "tenantry set {path}.state paused  # for longer")
_VARIABLE = "export TENANTRY_ENVIRONMENT={env}"
_RESTART = "kubectl rollout restart deployment/{name} --namespace NAMESPACE  # on the app's cluster"
_RESTARTS = "`tenantry reconcile` restarts no pod."
_CLUSTERS = "tenantry list clusters"
_KIND = "tenant|app|source|addon|cluster|group|environment"
_VERB = "reconcile|suspend|resume|tree|why|events|logs|explain"

HABITS: Mapping[str, Sequence[str]] = {
    # kubectl
    "get|ls|show|list events|event|ev ...": ("tenantry events {app} {where}",),
    "get|ls|show tenants|tenant|apps|clusters|environments|sources|placements|rights ...": ("tenantry list {1}",),
    "get|ls|show nodes|node ...": (_CLUSTERS,),
    "get|ls|show|list ks|kustomization|kustomizations|hr|helmrelease|helmreleases|pod|pods|all|deployments|deploy ...": (
        _LIST,
        _STATUS + "  # whether apps are ready",
    ),
    "get|show|describe|inspect KIND? APP ...": (_WHY, _TREE, _EXPLAIN),
    "describe|inspect|diagnose|debug|troubleshoot|trace ...": (_WHY + "  # why it is not well", _TREE, _EXPLAIN),
    "get|ls|show ...": (_LIST, _STATUS + "  # whether apps are ready", _EXPLAIN),
    "rollout status ...": ("tenantry status {env} --watch",),
    "rollout restart KIND? APP ...": (_RESTARTS, _RESTART),
    "rollout restart|... ...": (_RESTARTS, _RESTART),
    "rollout undo|history ...": _REVERT,
    "rollout pause ...": _FREEZE,
    "rollout resume ...": ("tenantry resume {app} {where}",),
    "restart ...": (_RESTARTS, _RESTART),
    "rollout|sync|trigger KIND? ...": (_RECONCILE,),
    "scale ...": ("Replicas stand in the file or in the manifests.", "tenantry set {path}.helm.values.replicas NUMBER"),
    "cordon|drain|taint ...": ("Tenantry does not change nodes: use kubectl.", _CLUSTERS),
    "exec|port-forward|cp|attach|proxy|run ...": ("Use kubectl, with the kubeconfig of the cluster.", _CLUSTERS),
    "edit|patch|annotate|label ...": (
        "tenantry set PATH VALUE",
        "tenantry set tenants.rocky.quota.pods 40  # an example",
    ),
    "apply|deploy ...": (_UP,),
    "delete|rm|del|uninstall|prune ENVIRONMENT": (_DESTROY,),
    f"delete|rm|del|uninstall {_KIND} * ...": ("tenantry remove {1} {2}  # edits tenants.yaml",),
    "delete|rm|del|uninstall TENANT": ("tenantry remove tenant {tenant}  # edits tenants.yaml",),
    "delete|rm|del|uninstall ...": ("tenantry remove app {app}  # edits tenants.yaml", _DESTROY),
    f"new|create|scaffold {_KIND} * ...": ("tenantry add {1} {2}",),
    "new|create|scaffold ...": ("tenantry init  # a new project", _ADD),
    "config|context|contexts|use ...": ("tenantry stacks  # which cluster an environment is on", _VARIABLE),
    "login|logout|whoami|account|auth ...": ("pulumi login  # the state", "kubectl auth whoami  # a cluster"),
    # flux
    "suspend|resume|reconcile|tree|why|events|logs|explain KIND APP ...": ("tenantry {0} {app} {where}",),
    "bootstrap ...": ("tenantry bootstrap CLUSTER",),
    "check|lint|verify|test|doctor ...": ("tenantry validate  # the file", "tenantry preflight {env}  # the clusters"),
    "pause|stop|freeze|hold KIND? ...": _FREEZE,
    "unpause|start|continue|unfreeze|unsuspend KIND? ...": ("tenantry resume {app} {where}",),
    # helm
    "install ...": (_ADD, _UP + "  # applies the file"),
    "upgrade APP --version": ("tenantry set {path}.helm.version {version}",),
    "upgrade A/B": ("tenantry update {app}",),
    "repo|source add * *": ("tenantry add source TENANT/{2} --helm {3}",),
    "repo|source add ...": ("tenantry add source TENANT/NAME --helm URL",),
    "repo|source ...": ("tenantry list sources",),
    "add app ... --repo": (
        "Add the repository as a source first.",
        "tenantry add source {tenant}/charts --helm {repo}",
        "tenantry add app {app} --source charts --chart {chart} --version {version}",
    ),
    "rollback|undo|revert ...": _REVERT,
    "log|blame|audit ...": ("tenantry history {env}", "git log -p tenants.yaml"),
    "template|build|generate|export|manifests ...": ("tenantry render {env}",),
    "bump|renovate ...": ("tenantry update  # versions of apps", "tenantry upgrade  # the project's files"),
    # argocd
    "app|apps|application list|ls": ("tenantry list apps",),
    "app|apps|application get ...": (_WHY, _TREE),
    "app|apps|application sync|refresh ...": (_RECONCILE,),
    "app|apps|application diff|manifests ...": ("tenantry diff", "tenantry render {env} --tenant {tenant}"),
    "app|apps|application logs|history|wait ...": (
        "tenantry logs {app} {where}",
        "tenantry status {env} --app {app} --wait",
    ),
    "app|apps|application create|add ...": (_ADD,),
    "app|apps|application set|edit|patch ...": ("tenantry set {path}.KEY VALUE",),
    "app|apps|application delete|remove|rm ...": ("tenantry remove app {app}  # edits tenants.yaml",),
    "app|apps|application rollback ...": _REVERT,
    "app|apps|application ...": (_LIST, _WHY),
    "tenant|tenants|project|proj add|create * ...": ("tenantry add tenant {2}",),
    "tenant|tenants|project|proj ...": ("tenantry list tenants",),
    "clusters|environments|placements|rights|sources ...": ("tenantry list {0}",),
    "cluster list|ls|get|show ...": (_CLUSTERS,),
    "cluster add|create|new * ...": ("tenantry add cluster {2}  # then: tenantry bootstrap {2}",),
    "cluster rm|remove|delete|del * ...": ("tenantry remove cluster {2}  # edits tenants.yaml",),
    "cancel|abort ...": (
        "Ctrl-C ends a command; this ends an update that another process left behind.",
        "pulumi cancel --stack {env}",
    ),
    # terraform, Pulumi, Git and others
    "stack|workspace|env|environment select|use|switch *": ("export TENANTRY_ENVIRONMENT={2}",),
    "env|environment list|ls": ("tenantry list environments",),
    "state|workspace|stack|env ...": ("tenantry stacks", _VARIABLE),
    "plan ...": (
        "tenantry preview {env}  # with Pulumi",
        "tenantry diff  # what a change does",
        "tenantry render {env}  # the objects",
    ),
    "drift|refresh ...": ("tenantry preview {env} --refresh",),
    "output ...": ("tenantry list", _STATUS + " -o json"),
    "commit|push|pull|checkout|branch|merge|add-commit ...": ("Git keeps tenants.yaml.", "git {0}"),
    "compare ENVIRONMENT ENVIRONMENT": ("tenantry parity {1} {2}",),
    "compare ...": ("tenantry diff  # with a Git revision", "tenantry parity ENVIRONMENT ENVIRONMENT"),
    "mv A/B TENANT": ("tenantry move app {app} {2}",),
    "mv ...": ("tenantry move app {app} TENANT", "tenantry rename app {app} NAME"),
    "wait ...": (_STATUS + " --wait",),
    "watch|top|dashboard|ui|health|open ...": (_STATUS + " --watch", _STATUS + " -o html > status.html"),
    "format ...": ("tenantry fmt",),
    "discover ...": ("tenantry cluster discover -e {env}",),
    "down ...": ("tenantry sandbox down", _DESTROY),
    "demo|example|quickstart|tour ...": ("tenantry try",),
    "version ...": ("tenantry --version",),
    # our own commands, with words that they do not take
    "APP": (_STATUS + " --app {app}", _WHY),
    f"{_VERB} APP -n|-t|--tenant|--namespace": ("tenantry {0} {app} {where}",),
    "up|destroy ENVIRONMENT? -n|-t|--tenant|-target": (
        "Pulumi applies a whole environment.",
        "tenantry preview {env} --tenant {tenant}",
    ),
    "diff ENVIRONMENT ENVIRONMENT": ("tenantry parity {1} {2}",),
    "sandbox start|create|new|run": ("tenantry sandbox up",),
    "sandbox stop|delete|rm|remove|destroy ...": ("tenantry sandbox down",),
    "logs|events|tree ... -f": ("-f is --file, and --follow follows.", "tenantry logs {app} {where} --follow"),
    "remove A/B": ("tenantry remove app {app}",),
    f"remove {_KIND} ...": (),
    "remove TENANT": ("tenantry remove tenant {tenant}",),
    "move A/B TENANT": ("tenantry move app {app} {2}",),
    "move A/B ...": ("tenantry move app {app} TENANT",),
    "rename A/B *": ("tenantry rename app {app} {last}",),
    "rename TENANT *": ("tenantry rename tenant {1} {2}",),
    "add A/B": (_ADD,),
    "list * TENANT": ("tenantry list {1} --tenant {tenant}",),
    "list * ENVIRONMENT": ("tenantry list {1} -e {env}",),
    "render|preview|preflight ENVIRONMENT TENANT ...": ("tenantry preview {env} --tenant {tenant}",),
    "validate ... -e|--environment|--env": ("It checks all environments.", "tenantry validate"),
    "promote ENVIRONMENT ENVIRONMENT": ("tenantry promote TENANT/APP --from {1} --to {2}",),
    "promote APP ENVIRONMENT ENVIRONMENT": ("tenantry promote {app} --from {2} --to {3}",),
    "promote TENANT ENVIRONMENT ENVIRONMENT": ("tenantry promote {1} --from {2} --to {3}",),
    "set A/B version|chart *": ("tenantry set {path}.helm.{2} {3}",),
    "set A/B replicas *": ("tenantry set {path}.helm.values.replicas {3}",),
    "set A/B helm|kustomize * *": ("tenantry set {path}.{2}.{3} {4}",),
    "set A/B * *": ("tenantry set {path}.{2} {3}",),
    "set image APP KEY=VALUE": ("tenantry set '{path}.kustomize.images[]' '{{name: {key}, newTag: {value}}}'",),
    "set A/B": ("tenantry set {path}.KEY VALUE",),
    "set KEY=VALUE": ("tenantry set {key} {value}",),
    "add|remove|rename override|overrides ...": (
        "tenantry set PATH VALUE",
        "tenantry set tenants.rocky.overrides.environments.prod.quota.pods 80  # an example",
    ),
    "add|remove|rename selector|selectors ...": (
        "tenantry set PATH VALUE",
        "tenantry set tenants.rocky.clusters '{{labels: {{tier: edge}}}}'  # an example",
    ),
    "add|remove|rename grant|grants ...": (
        "tenantry set PATH VALUE",
        "tenantry set tenants.rocky.grants.settings '[quota, limits]'  # an example",
    ),
    "add|remove|rename namespace|ns ...": (
        "tenantry set PATH VALUE",
        "tenantry set tenants.rocky.namespaces.jobs '{{}}'  # an example",
    ),
    "add|remove|rename|move|cluster|sandbox|chart help ...": ("tenantry help {0}",),
}
"""What to type instead of a command line that is wrong: the first pattern that fits.

Patterns: `a|b` one of these words; `word?` it may be left out; `*` any word; `...` any more words; `-x` an option; KIND such as
`kustomization`; APP, also `web` alone; BARE, only so; A/B, only `rocky/web`; DECLARED, that of the file; TENANT and
ENVIRONMENT of the file; KEY=VALUE.
Answers: sentences, which end with a full stop, and lines. `{1}` is the second word; names in braces: `typed.Typed.filled`.
"""

FAILING: Mapping[str, Sequence[str]] = {
    f"{_VERB} KIND APP ...": (
        "An app is named TENANT/APP, without its kind.",
        "tenantry {0} {app} {where}",
    ),
    f"{_VERB} KIND": ("Name an app.", "tenantry {0} {app} {where}"),
    f"{_VERB} BARE": ("'{1}' is an app: {apps}.", "tenantry {0} {app} {where}"),
    "explain|tree|why|events|logs ENVIRONMENT": (
        "'{1}' is an environment.",
        "tenantry status {1}",
        "tenantry {0} TENANT/APP -e {1}",
    ),
    "reconcile|suspend|resume ENVIRONMENT": (
        "'{1}' is an environment: name a tenant or an app.",
        "tenantry {0} TENANT/APP -e {1}",
    ),
    "status TENANT": ("'{1}' is a tenant.", "tenantry status {env} --tenant {1}"),
    "status ENVIRONMENT TENANT": ("'{2}' is a tenant.", "tenantry status {env} --tenant {2}"),
    "render|preview|preflight TENANT": ("'{1}' is a tenant.", "tenantry preview {env} --tenant {1}"),
    "upgrade DECLARED": ("`tenantry upgrade` is for a project's files.", "tenantry update {app}"),
    "set DECLARED version=*|chart=*": (
        _PATH,
        "tenantry set {path}.helm.{key} {value}",
    ),
    "set DECLARED replicas=*": (
        _PATH,
        "tenantry set {path}.helm.values.replicas {value}",
    ),
    "set DECLARED KEY=VALUE": (
        _PATH,
        "tenantry set {path}.{key} {value}",
    ),
    "set DECLARED *": (
        _PATH,
        "tenantry set {path}.{2} VALUE",
    ),
    "unset DECLARED": (
        _PATH,
        "tenantry unset {path}.KEY",
    ),
}
"""The same for command lines whose command fails with another message."""

SHORT: Mapping[str, str] = {"env": "environment", "envs": "environment", "helmrelease": "app", "kustomization": "app"}
"""Other words for what a group's commands are about."""

SAME: Mapping[str, Sequence[str]] = {
    "--env": ("--environment", "--environments"),
    "--environment": ("--environments",),
    "-t": ("--tenant",),
}
"""Options that are accepted for those of a command: the first that it has."""

OPTIONS: Mapping[str, Sequence[tuple[str, str]]] = {
    "-n -t --namespace --tenant": (
        ("tenants", "Type: --tenant NAME"),
        ("tenant", "Name the app as TENANT/APP."),
        ("subject", "Name the app as TENANT/APP."),
        ("skip_preview", "Pulumi applies a whole environment. Type: tenantry preview ENVIRONMENT --tenant TENANT"),
        ("", "A tenant is named where a command has --tenant or an argument TENANT."),
    ),
    "-A --all-namespaces --all-tenants": (
        ("tenants", "All tenants are shown unless --tenant names one: leave it out."),
        ("tenant", "Name the tenant; run the command for each. Type: tenantry list tenants"),
        ("", "All tenants are taken: leave it out."),
    ),
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


def option_answer(option: str, parameters: Collection[str]) -> str:
    """What to type instead of an option. parameters: those of the command. "" if nothing is known."""
    answers = next((each for names, each in OPTIONS.items() if option in names.split()), ())
    return next((answer for needs, answer in answers if not needs or needs in parameters), "")
