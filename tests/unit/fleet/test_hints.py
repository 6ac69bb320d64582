"""What is said to an author whose meaning is plain: the whole message, with what to write instead."""

from __future__ import annotations

from tests.table import table
from tests.unit.texts import problems, rocky, told

ALL = "clusters: {all: true}"
GIT = "git: {url: https://git.example.com/rocky, ref: {branch: main}}"
WEB = "web: {kustomize: {source: manifests}}"
KAMAJI = "{kamaji: {controlPlane: edge, namespace: kamaji}}"


def said(text: str) -> str:
    """What is said about a text, without places and the closing count."""
    lines = problems(text).splitlines()[:-1]
    return told(*(line.partition(": ")[2] if line.startswith("tenants.yaml:") else line.strip() for line in lines))


def wrong_type(found: str, at: str, fix: str) -> str:
    return told(f"error[wrong-type]: expected a mapping, found {found}", f"at {at}", f"fix: {fix}")


@table(
    ("rest", "found", "at", "fix"),
    [
        (
            "clusters: [hub, edge]",
            "a list",
            "clusters",
            "write a mapping, with keys such as names, labels, all, exclude",
        ),
        ("clusters: hub", "a string", "clusters", "write a mapping, with keys such as names, labels, all, exclude"),
        (f"{ALL}\nowners: [jo@example.com]", "a string", "owners[0]", "write a mapping, with keys such as %s"),
        (f"{ALL}\nquota: 8", "the number 8", "quota", "write a mapping, such as {NAME: ...}"),
    ],
)
def test_what_is_written_in_place_of_a_mapping(rest: str, found: str, at: str, fix: str) -> None:
    keys = "group, user, serviceAccount, role"
    assert said(rocky(WEB, rest)) == wrong_type(found, f"tenants.rocky.{at}", fix.replace("%s", keys))


@table(
    ("written", "keys"),
    [("secret: edge-kubeconfig", "name, namespace"), ("kamaji: edge", "controlPlane, namespace")],
)
def test_a_kubeconfig_written_as_a_name(written: str, keys: str) -> None:
    place = f"clusters.edge.kubeconfig.{written.partition(':')[0]}"
    expected = wrong_type("a string", place, f"write a mapping, with keys such as {keys}")
    assert said(rocky(WEB).replace(KAMAJI, f"{{{written}}}")) == expected


@table("password", ["hunter2", "user:hunter2@ghcr.io", "correct horse"])
def test_a_word_in_place_of_credentials_is_not_repeated(password: str) -> None:
    expected = wrong_type(
        "a string", "tenants.rocky.credentials.git", "write a mapping, with keys such as keys, registry, existing"
    )
    assert said(rocky(WEB, f"{ALL}\ncredentials: {{git: '{password}'}}")) == expected


def test_durations_without_a_unit() -> None:
    found = said(rocky("web: {kustomize: {source: manifests, interval: 5}}", f"{ALL}\ntimeout: '5'"))
    assert found == told(
        "error[bad-duration]: '5' is not a valid duration",
        "at tenants.rocky.timeout",
        "fix: add a unit, such as '5s' or '5m'",
        "error[wrong-type]: expected a string, found the number 5",
        "at tenants.rocky.apps.web.kustomize.interval",
        "fix: add a unit, such as '5s' or '5m'",
    )


def test_a_duration_of_flux_s_own_without_a_unit() -> None:
    found = said(rocky("web: {helm: {source: charts, chart: c, version: 1.x, install: {timeout: 5}}}", ALL))
    assert found == told(
        "error[wrong-type]: expected a string, found the number 5",
        "at tenants.rocky.apps.web.helm.install.timeout",
        "fix: add a unit, such as '5s' or '5m'",
    )


def test_bytes_in_place_of_a_quantity() -> None:
    assert said(rocky(WEB, f"{ALL}\nquota: {{requests.memory: 16GB}}")) == told(
        "error[bad-quantity]: '16GB' is not a valid quantity",
        'at tenants.rocky.quota["requests.memory"]',
        "fix: write '16G' or '16Gi'",
    )


@table(("name", "shown"), [("git", "'git'"), ("hunter2", "(a secret?)"), ("git-2", "(a secret?)")])
def test_undeclared_credentials_are_named_unless_the_name_may_be_a_password(name: str, shown: str) -> None:
    assert said(rocky(WEB).replace(GIT, f"{GIT}, credentials: {name}")).splitlines()[0] == (
        "error[unknown-credentials]: source 'manifests' of tenant 'rocky' names credentials"
        f" {shown}, which are not declared"
    )


def unknown(text: str) -> list[tuple[str, str]]:
    """The path of each unknown key, and its fix."""
    lines = said(text).splitlines()
    ours = [index for index, line in enumerate(lines) if line.startswith("error[unknown-key]")]
    fixes = [next(line for line in lines[at:] if line.startswith("fix: ")).removeprefix("fix: ") for at in ours]
    return [(lines[at + 1].removeprefix("at tenants.rocky."), fix) for at, fix in zip(ours, fixes, strict=True)]


@table(
    ("app", "expected"),
    [
        ("path: ./x", ("apps.web.path", "remove it")),
        (
            "overrides: [{when: {clusters: {names: [hub]}}, state: paused}]",
            ("apps.web.overrides[0].state", "remove it"),
        ),
        (
            "overrides: [{wen: {environments: [dev]}, kustomize: {path: ./a}}]",
            ("apps.web.overrides[0].wen", "write 'when'"),
        ),
        (
            "overrides: [{when: {clusters: {all: true}}, kustomize: {namespace: x}}]",
            ("apps.web.overrides[0].kustomize.namespace", "write 'targetNamespace'"),
        ),
    ],
)
def test_an_unknown_key_is_removed_or_is_one_that_is_alike(app: str, expected: tuple[str, str]) -> None:
    assert unknown(rocky(f"web: {{kustomize: {{source: manifests}}, {app}}}", ALL)) == [expected]


def test_values_of_credentials() -> None:
    text = rocky(WEB, f"{ALL}\ncredentials: {{git: {{username: a, password: hunter2}}}}")
    assert [path for path, _ in unknown(text)] == ["credentials.git.username", "credentials.git.password"]
    assert all(fix.startswith("values never stand in the file: ") for _, fix in unknown(text))
    assert "hunter2" not in said(text)


@table(
    ("source", "keys"),
    [("type: git, url: https://x/y", "'type:' and 'url:' stand"), ("url: oci://x/y", "'url:' stands")],
)
def test_a_source_without_its_kind_is_one_error(source: str, keys: str) -> None:
    assert said(rocky(WEB).replace(GIT, source)) == told(
        f"error[unknown-key]: {keys} beside the source's kind instead of under it",
        "at tenants.rocky.sources.manifests",
        "fix: write it under 'git:', 'oci:', 'helm:' or 'bucket:'",
    )


@table(
    ("apps", "rest", "message", "at", "fix"),
    [
        (
            "worker: {dependsOn: []}",
            ALL,
            "app 'worker' needs either 'kustomize:' or 'helm:'; it has neither",
            "apps.worker",
            "add one of them",
        ),
        (
            "worker: {kustomize: {}, helm: {}}",
            ALL,
            "app 'worker' needs either 'kustomize:' or 'helm:'; it has both",
            "apps.worker.helm",
            "keep one of them",
        ),
        (
            WEB,
            "clusters: {}",
            "'clusters:' needs exactly one of 'names:', 'labels:' or 'all:'; it has none",
            "clusters",
            "add one of them",
        ),
        (
            WEB,
            f"{ALL}\nowners: [{{user: a, group: b}}]",
            "entry 1 of 'owners:' needs exactly one of 'group:', 'user:' or 'serviceAccount:';"
            " it has 'group:' and 'user:'",
            "owners[0].group",
            "keep one of them",
        ),
    ],
)
def test_a_choice_that_is_not_made(apps: str, rest: str, message: str, at: str, fix: str) -> None:
    assert said(rocky(apps, rest)) == told(f"error[choose-one]: {message}", f"at tenants.rocky.{at}", f"fix: {fix}")


def test_words_that_are_not_levels() -> None:
    assert said(rocky(WEB, f"{ALL}\npodSecurity: strict\nnetwork: closed")) == told(
        "error[bad-value]: 'strict' is not a valid pod security level",
        "at tenants.rocky.podSecurity",
        "fix: write privileged, baseline or restricted, or a mapping of enforce, audit, warn and version",
        "error[bad-value]: 'closed' is not a valid network setting",
        "at tenants.rocky.network",
        "fix: write isolated, strict or open",
    )
