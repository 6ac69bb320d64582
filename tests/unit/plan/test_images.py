"""Image automation: where it is planned, what it is called, and which sources it can write to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tenantry.cli.app import run
from tests.table import table
from tests.unit.texts import named, one, planned, problems, rocky, told

PULL = "clusters: {names: [hub]}\ncredentials: {pull: {registry: ghcr.io}, keys: {keys: [git.asc]}}"
IMAGES = "images: {front: {repository: {image: ghcr.io/rocky/front}, policy: {policy: {semver: {range: 1.x}}}}}"
COMMIT = "commit: {author: {email: a@b.example}}"


def web(automation: str, source: str = "manifests", clusters: str = "names: [hub]") -> str:
    app = f"web: {{kustomize: {{source: {source}}}, clusters: {{{clusters}}}, imageAutomation: {{{automation}}}}}"
    return rocky(app, PULL)


def kinds(text: str) -> list[str]:
    return [each for each in named(planned(text)) if each.startswith("Image")]


def test_tags_are_followed_and_written_once_and_on_the_management_cluster_if_the_app_is_there() -> None:
    assert kinds(web(f"{IMAGES}, update: {{git: {{{COMMIT}}}}}", clusters="all: true")) == [
        "ImageRepository rocky/web-front",
        "ImagePolicy rocky/web-front",
        "ImageUpdateAutomation rocky/web",
    ]


def test_without_the_management_cluster_it_is_the_first_of_the_alphabet_whatever_the_order_of_the_file() -> None:
    clusters = "  far: {environments: [dev], kubeconfig: {kamaji: {controlPlane: far, namespace: kamaji}}}\n  edge: "
    text = web(IMAGES, clusters="all: true, exclude: [hub]").replace("  edge: ", clusters)
    assert kinds(text) == ["ImageRepository kamaji/edge-rocky-web-front", "ImagePolicy kamaji/edge-rocky-web-front"]


def test_what_is_for_another_environment_is_not_planned() -> None:
    text = web(f"{IMAGES}, environments: [prod]").replace(
        "clusters:\n", "  prod: {management: far}\nclusters:\n  far: {environments: [prod]}\n", 1
    )
    assert kinds(text) == []


def test_credentials_are_those_of_the_placement_and_come_first() -> None:
    images = IMAGES.replace("policy: {policy", "credentials: pull, policy: {policy")
    plan = planned(web(images, clusters="names: [edge]"))
    repository = one(plan, "ImageRepository", "edge-rocky-web-front")
    assert repository.manifest["spec"] == {
        "image": "ghcr.io/rocky/front",
        "interval": "5m",
        "secretRef": {"name": "rocky.pull"},
    }
    assert [str(each) for each in repository.depends_on] == ["Secret kamaji/rocky.pull"]


def test_an_update_comes_after_its_source_its_policies_and_its_key() -> None:
    key = "signingKey: {secretRef: {name: keys}}"
    plan = planned(web(f"{IMAGES}, update: {{git: {{commit: {{author: {{email: a@b.example}}, {key}}}}}}}"))
    update = one(plan, "ImageUpdateAutomation", "web")
    assert [str(each) for each in update.depends_on] == [
        "GitRepository rocky/manifests",
        "ImagePolicy rocky/web-front",
        "Secret rocky/keys",
    ]
    policy = one(plan, "ImagePolicy", "web-front")
    assert update.manifest["spec"]["policySelector"] == {"matchLabels": policy.manifest["metadata"]["labels"]}


def test_the_template_of_a_commit_message_keeps_its_braces_and_takes_values_of_ours() -> None:
    message = 'messageTemplate: "{{ .Values.env }}", messageTemplateValues: {env: "{env}"}'
    text = web(f"{IMAGES}, update: {{git: {{commit: {{author: {{email: a@b.example}}, {message}}}}}}}")
    commit = one(planned(text), "ImageUpdateAutomation", "web").manifest["spec"]["git"]["commit"]
    assert commit["messageTemplate"] == "{{ .Values.env }}"
    assert commit["messageTemplateValues"] == {"env": "dev"}


def test_only_a_git_source_can_be_written_to() -> None:
    automation = f"imageAutomation: {{{IMAGES}, update: {{git: {{{COMMIT}}}}}}}"
    app = f"web: {{helm: {{source: charts, chart: web, version: 1.x}}, {automation}}}"
    column = app.index("update:") + 7
    assert problems(rocky(app)) == told(
        f"tenants.yaml:15:{column}: error[wrong-source]: the source of app 'web' is not a Git repository, so image"
        f" updates cannot be written to it",
        "  at tenants.rocky.apps.web.imageAutomation.update",
        "  fix: use a 'git:' source, or remove 'update' to keep only the image policies",
        "Found 1 error",
    )


REFS = [
    ("tag: v1", COMMIT, "tag 'v1'"),
    ("semver: 1.x", COMMIT, "semver '1.x'"),
    ("branch: main, commit: abc", COMMIT, "commit 'abc'"),
    ("branch: main, commit: abc", f"{COMMIT}, push: {{branch: main}}", "commit 'abc'"),
    ("branch: main", f"{COMMIT}, checkout: {{ref: {{name: refs/pull/1/head}}}}", "name 'refs/pull/1/head'"),
    ("branch: main", f"{COMMIT}, checkout: {{ref: {{}}}}", "no branch"),
]


@table(("ref", "git", "start"), REFS)
def test_an_update_that_has_no_branch_to_be_pushed_to_is_refused(ref: str, git: str, start: str) -> None:
    text = web(f"{IMAGES}, update: {{git: {{{git}}}}}").replace("ref: {branch: main}", f"ref: {{{ref}}}")
    line = next(line for line in text.splitlines() if "imageAutomation" in line)
    assert problems(text) == told(
        f"tenants.yaml:16:{line.index('git: {commit') + 1}: error[no-branch]: updates of the images of app 'web'"
        f" start from {start}, and no branch to push to is set",
        "  at tenants.rocky.apps.web.imageAutomation.update.git",
        "  fix: set 'git.push.branch', or set 'git.checkout.ref' to the branch to change",
        "Found 1 error",
    )


GOOD_REFS = [
    ("branch: main", COMMIT),
    ("branch: main", f"{COMMIT}, push: {{branch: main}}"),
    ("tag: v1", f"{COMMIT}, push: {{branch: next}}"),
    ("branch: main, commit: abc", f"{COMMIT}, push: {{branch: next}}"),
    ("tag: v1", f"{COMMIT}, checkout: {{ref: {{branch: main}}}}"),
]


@table(("ref", "git"), GOOD_REFS)
def test_an_update_goes_to_the_branch_it_starts_from_or_to_one_of_its_own(ref: str, git: str) -> None:
    text = web(f"{IMAGES}, update: {{git: {{{git}}}}}").replace("ref: {branch: main}", f"ref: {{{ref}}}", 1)
    assert one(planned(text), "ImageUpdateAutomation", "web")


def test_an_update_says_how_to_commit() -> None:
    text = web(f"{IMAGES}, update: {{interval: 1h}}")
    line = next(line for line in text.splitlines() if "imageAutomation" in line)
    assert problems(text) == told(
        f"tenants.yaml:16:{line.index('{interval: 1h') + 1}: error[missing-key]: key 'git' is missing",
        "  at tenants.rocky.apps.web.imageAutomation.update",
        "  fix: add 'git: {commit: {author: {email: ...}}}'",
        "Found 1 error",
    )


IMAGE_NAMES = [
    "https://ghcr.io/a",
    "ghcr.io/a:v1",
    "ghcr.io/a@sha256:00",
    "ghcr.io/A",
    "a b",
    "{{a}}",
    "a",
    "{image}:v1",
    "ghcr.io/",
    "ghcr.io/rocky//front",
    "ghcr.io/rocky/front/",
    "ghcr.io/rocky/a..b",
    "/front",
]


@table("name", IMAGE_NAMES)
def test_an_image_is_written_without_scheme_tag_and_digest(name: str) -> None:
    text = web(IMAGES.replace("ghcr.io/rocky/front", f'"{name}"'))
    line = next(line for line in text.splitlines() if "imageAutomation" in line)
    assert problems(text) == told(
        f"tenants.yaml:16:{line.index(f'{chr(34)}{name}') + 1}: error[bad-image]: '{name}' is not a valid image",
        "  at tenants.rocky.apps.web.imageAutomation.images.front.repository.image",
        "  fix: write [HOST[:PORT]/]PATH in lower case, without scheme, tag and digest",
        "Found 1 error",
    )


@table("name", ["web", "library/web", "localhost:5000/web", "ghcr.io/a/b-c_d.e", "{app}/{env}"])
def test_an_image_may_have_a_registry_and_placeholders(name: str) -> None:
    repository = one(planned(web(IMAGES.replace("ghcr.io/rocky/front", f'"{name}"'))), "ImageRepository", "web-front")
    assert repository.manifest["spec"]["image"] == name.replace("{app}", "web").replace("{env}", "dev")


def test_what_a_placeholder_makes_of_an_image_is_checked_too() -> None:
    text = web(IMAGES.replace("ghcr.io/rocky/front", '"{front}"')).replace(
        "management: hub}", "management: hub, variables: {front: 'web:v1'}}"
    )
    assert "error[bad-image]: 'web:v1' is not a valid image\n" in problems(text)


def test_two_images_of_one_name_are_refused() -> None:
    policy = "policy: {policy: {semver: {range: 1.x}}}"
    apps = (
        f"a: {{kustomize: {{source: manifests}}, imageAutomation: {{images: {{b-c: {{repository: {{image: bc}}, {policy}}}}}}}}}\n"
        f"a-b: {{kustomize: {{source: manifests}}, imageAutomation: {{images: {{c: {{repository: {{image: bc}}, {policy}}}}}}}}}"
    )
    assert problems(rocky(apps)) == told(
        "tenants.yaml:16:72: error[duplicate-name]: images of apps 'a' and 'a-b' would both be named 'a-b-c'",
        "  at tenants.rocky.apps.a-b.imageAutomation.images.c",
        "  fix: rename one of them",
        "Found 1 error",
    )


OWNED = [
    ("repository: {image", "repository: {secretRef: {name: pull}, image", "images.front.repository.secretRef"),
    (
        "repository: {image",
        "repository: {serviceAccountName: admin, image",
        "images.front.repository.serviceAccountName",
    ),
    ("policy: {policy", "policy: {imageRepositoryRef: {name: x}, policy", "images.front.policy.imageRepositoryRef"),
]


@table(("old", "new", "path"), OWNED)
def test_what_the_fleet_sets_can_not_be_set(old: str, new: str, path: str) -> None:
    fix = (
        "write 'credentials: pull' beside 'repository:', and declare it under 'tenants.rocky.credentials:'"
        if path.endswith("secretRef")
        else "remove it"
    )
    assert f"  at tenants.rocky.apps.web.imageAutomation.{path}\n  fix: {fix}\n" in problems(
        web(IMAGES.replace(old, new))
    )


def test_rules_of_flux_between_fields_are_checked() -> None:
    text = web(IMAGES.replace("policy: {policy", "policy: {digestReflectionPolicy: Always, policy"))
    assert "at tenants.rocky.apps.web.imageAutomation.images.front.policy" in problems(text)


def test_an_automation_that_does_not_fit_hides_no_mistake_of_its_app() -> None:
    text = web(f"{IMAGES}, environments: []", source="manifest")
    said = problems(text)
    assert "error[empty]: at least one entry is needed" in said
    assert "error[unknown-source]: app 'web' of tenant 'rocky' uses source 'manifest'" in said


def test_an_add_on_leaves_the_policies_of_tenants_alone() -> None:
    automation = f"imageAutomation: {{{IMAGES}, update: {{git: {{{COMMIT}}}}}}}"
    addon = (
        "addons: {dns: {clusters: {names: [edge]}, kustomize: {}, "
        f"source: {{git: {{url: 'https://git.example.com/dns', ref: {{branch: main}}}}}}, {automation}}}}}, chart"
    )
    update = one(planned(rocky("{}").replace("chart", addon, 1)), "ImageUpdateAutomation", "edge-dns")
    assert update.manifest["spec"]["policySelector"]["matchExpressions"] == [
        {"key": "toolkit.fluxcd.io/tenant", "operator": "DoesNotExist"}
    ]


def test_the_documented_example_yields_the_documented_markers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documentation = (Path(__file__).parents[3] / "docs/image-automation.md").read_text(encoding="utf-8")
    fleet, marked = re.findall(r"^```yaml\n(.*?)^```$", documentation, re.MULTILINE | re.DOTALL)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", documentation, re.MULTILINE | re.DOTALL)
    (tmp_path / "f").write_text(fleet)
    assert run(["-f", str(tmp_path / "f"), "explain", "rocky", "web", "-e", "dev"]) == 0
    told = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert {" ".join(line.split()) for line in shown.splitlines()} <= set(told)
    assert marked.partition("# ")[2] == shown.splitlines()[-1].partition("# ")[2] + "\n"
