"""What Kustomizations apply from the sources at hand, and what an environment costs that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenantry.importing.documents import Document
from tenantry.importing.drafting import drafted
from tenantry.importing.follow import repository_around
from tenantry.importing.reading import read_environment
from tenantry.importing.resources import Reading, inventory
from tenantry.messages.errors import Refused

LEADS = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: NAME, namespace: flux-system}
spec: {interval: 5m, path: PATH, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
"""
SYNC = LEADS.replace("NAME", "flux-system").replace("PATH", "./clusters/prod")
SOURCE = """\
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: "ssh://git@git.example.com/fork", ref: {branch: main}}
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: harbour}
spec: {interval: 5m, chartRef: {kind: OCIRepository, name: web}, values: {host: "VALUE"}}
"""
DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: harbour}\n"


def leads(name: str, path: str, **spec: Any) -> str:
    """A Kustomization in flux-system that applies a path of the repository."""
    document = yaml.safe_load(LEADS.replace("NAME", name))
    document["spec"] |= {"path": path, **spec}
    return yaml.safe_dump(document)


def config(name: str, data: Mapping[str, str], kind: str = "ConfigMap") -> str:
    metadata = {"name": name, "namespace": "flux-system"}
    return yaml.safe_dump({"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": dict(data)})


class Repository:
    """A repository whose bootstrap applies clusters/prod, and a build that puts all files of a directory together."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.built: list[str] = []
        (root / ".git").mkdir(parents=True)
        self.write("clusters/prod/flux-system/gotk-sync.yaml", SYNC + SOURCE)

    def write(self, path: str, *texts: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("---\n".join(texts))

    def build(self, root: Path, directory: Path, spec: Mapping[str, Any]) -> bytes:
        self.built.append(str(directory.relative_to(root)))
        if directory.name == "broken":
            raise KeyError("name")
        if spec.get("components"):
            raise Refused("kustomize: there is no such component", "correct it")
        return "\n---\n".join(each.read_text() for each in sorted(directory.rglob("*.yaml"))).encode()

    def read(self) -> tuple[dict[str, Document], Reading]:
        """What is read of the cluster: by kind and name."""
        reading = read_environment("prod", [self.root / "clusters" / "prod"], (), self.build)
        return {
            f"{each.manifest['kind']} {each.manifest['metadata']['name']}": each for each in reading.documents
        }, reading


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def owner(found: Document) -> str:
    labels = found.manifest["metadata"].get("labels", {})
    return str(labels.get("kustomize.toolkit.fluxcd.io/name", ""))


def test_what_is_applied_is_read_with_the_labels_that_flux_gives_it(repository: Repository) -> None:
    repository.write("clusters/prod/apps.yaml", leads("apps", "./apps"))
    # A circle: the one leads to the other, and back.
    repository.write("apps/team.yaml", leads("team", "./team"), leads("apps", "./apps"))
    repository.write("team/web.yaml", RELEASE)
    found, reading = repository.read()
    assert {key: owner(each) for key, each in found.items()} == {
        "GitRepository flux-system": "flux-system",
        "Kustomization apps": "flux-system",
        "Kustomization team": "apps",
        "HelmRelease web": "team",
    }
    assert repository.built == ["clusters/prod", "apps", "team"]
    # The file itself tells the line, where a build tells none.
    assert found["Kustomization apps"].origin == f"{repository.root}/clusters/prod/apps.yaml:1"
    assert reading.unread == []


STAYS = {
    "suspended": (leads("web", "./web", suspend=True), []),
    "remote": (leads("web", "./web", kubeConfig={"secretRef": {"name": "edge"}}), []),
    "own namespace": (leads("web", "./web").replace("namespace: flux-system\nspec", "namespace: harbour\nspec"), []),
    "no keys": (leads("web", "./plain"), ["plain"]),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_stays_an_app_is_not_read(repository: Repository, name: str) -> None:
    text, built = STAYS[name]
    repository.write("clusters/prod/web.yaml", text)
    repository.write("web/web.yaml", RELEASE)
    repository.write("plain/web.yaml", DEPLOYMENT)
    found, reading = repository.read()
    assert sorted(found) == ["GitRepository flux-system", "Kustomization web"]
    assert ([each for each in repository.built if each != "clusters/prod"], reading.unread) == (built, [])


VARIABLES = {
    # A ConfigMap wins over the one before it, and what stands in the Kustomization over all.
    "config": (
        {"substituteFrom": [{"kind": "ConfigMap", "name": "a"}, {"kind": "ConfigMap", "name": "b"}]},
        "b.example",
    ),
    "inline": (
        {"substituteFrom": [{"kind": "ConfigMap", "name": "a"}], "substitute": {"host": "c.example"}},
        "c.example",
    ),
    "of a Secret": ({"substituteFrom": [{"kind": "Secret", "name": "hidden"}]}, None),
    "a Secret without it": (
        {"substituteFrom": [{"kind": "ConfigMap", "name": "a"}, {"kind": "Secret", "name": "other"}]},
        "a.example",
    ),
    "not read": ({"substituteFrom": [{"kind": "ConfigMap", "name": "a"}, {"kind": "ConfigMap", "name": "made"}]}, None),
    "nowhere": ({"substitute": {"port": "80"}}, ""),
    "none": ({}, "${host}"),
}


@pytest.mark.parametrize("name", VARIABLES)
def test_variables_have_the_values_that_flux_gives_them(repository: Repository, name: str) -> None:
    post_build, host = VARIABLES[name]
    repository.write("clusters/prod/web.yaml", leads("web", "./web", postBuild=post_build))
    configs = (config("a", {"host": "a.example"}), config("b", {"host": "b.example"}))
    secrets = (config("hidden", {"host": "aGlkZGVu"}, "Secret"), config("other", {"port": "ODA="}, "Secret"))
    repository.write("clusters/prod/values.yaml", *configs, *secrets)
    repository.write("web/web.yaml", RELEASE.replace("VALUE", "${host}"))
    found, reading = repository.read()
    release = found.get("HelmRelease web")
    assert ((release and release.manifest["spec"]["values"]["host"]) or "") == (host or "")
    assert (release is None) == (host is None)
    assert [each.reason for each in reading.unread] == {
        "of a Secret": ["its variables can come from Secret hidden, which is not read"],
        "not read": ["its variables can come from ConfigMap made, which is not read"],
    }.get(name, [])


def test_objects_with_variables_are_left_out_if_the_bootstrap_that_sets_them_cannot_be_built(
    repository: Repository,
) -> None:
    sync = leads("flux-system", "./clusters/prod", postBuild={"substitute": {"a": "b"}}, components=["../no"])
    repository.write("clusters/prod/flux-system/gotk-sync.yaml", sync, SOURCE)
    repository.write("clusters/prod/web.yaml", leads("web", "./web/${a}"), leads("plain", "./plain"))
    found, reading = repository.read()
    assert sorted(found) == ["GitRepository flux-system", "Kustomization plain"]
    assert [each.reason for each in reading.unread] == [
        "kustomize: there is no such component",
        "1 object with variables such as Kustomization flux-system/web are not known without it",
        "the source has no directory './plain'",
    ]


def test_one_that_cannot_be_built_costs_that_one(repository: Repository) -> None:
    (repository.root / "out").symlink_to("/")
    lost = {
        "gone": "./gone",
        "long": f"./{'a' * 300}",
        "out": "./out/etc",
        "encrypted": "./encrypted",
        "broken": "./broken",
    }
    repository.write("clusters/prod/apps.yaml", *(leads(*each) for each in lost.items()), leads("web", "./web"))
    repository.write("clusters/prod/values.yaml", "replicas: 3\n")
    repository.write("encrypted/config.yaml", f"{config('a', {})}sops: {{mac: x}}\n")
    repository.write("web/web.yaml", RELEASE)
    repository.write("broken/kustomization.yaml", "")
    found, reading = repository.read()
    assert owner(found["HelmRelease web"]) == "web"
    places = {each.place.rpartition(" (")[0] or Path(each.place).name: each.reason for each in reading.unread}
    assert "ConfigMap a is encrypted with SOPS" in places.pop("Kustomization flux-system/encrypted")
    assert places == {
        "values.yaml": f"{repository.root}/clusters/prod/values.yaml:1:1: not a Kubernetes object with 'apiVersion', 'kind' and"
        " 'metadata.name'",
        "Kustomization flux-system/flux-system": f"kustomize build {repository.root}/clusters/prod:1:1: not a Kubernetes object"
        " with 'apiVersion', 'kind' and 'metadata.name'",
        "Kustomization flux-system/long": f"the source has no directory './{'a' * 300}'",
        "Kustomization flux-system/broken": "its content has a form that is not known here (KeyError)",
        "Kustomization flux-system/gone": "the source has no directory './gone'",
        "Kustomization flux-system/out": "path './out/etc' is a link, which Flux does not take",
    }


@pytest.mark.parametrize(
    "note", ["kustomize.toolkit.fluxcd.io/reconcile: disabled", "kustomize.toolkit.fluxcd.io/ssa: Ignore"]
)
def test_what_flux_does_not_apply_is_not_read(repository: Repository, note: str) -> None:
    repository.write("clusters/prod/web.yaml", leads("web", "./web"))
    idle = RELEASE.replace("name: web,", f"name: idle, annotations: {{{note}}},")
    repository.write("web/web.yaml", RELEASE, idle)
    found, _ = repository.read()
    assert [each for each in found if each.startswith("HelmRelease")] == ["HelmRelease web"]


def test_what_two_apply_is_that_of_the_first(repository: Repository) -> None:
    repository.write(
        "clusters/prod/apps.yaml", leads("one", "./one"), leads("other", "./other"), leads("same", "./one")
    )
    repository.write("one/web.yaml", RELEASE)
    repository.write("other/web.yaml", RELEASE.replace("VALUE", "else"))
    found, reading = repository.read()
    assert owner(found["HelmRelease web"]) == "one"
    assert [(each.place, each.reason) for each in reading.unread] == [
        (
            f"HelmRelease harbour/web ({repository.root}/other)",
            f"Kustomization flux-system/other applies it too, with other fields than those of {repository.root}/one",
        )
    ]


ELSEWHERE = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1m, url: "https://git.example.com/acme/apps", ref: {branch: main}}
"""


def test_what_leads_to_another_repository_is_not_followed(repository: Repository) -> None:
    text = leads("web", "./web").replace("name: flux-system\n", "name: apps\n")
    repository.write("clusters/prod/web.yaml", text, ELSEWHERE)
    repository.write("web/web.yaml", RELEASE)
    assert "HelmRelease web" not in repository.read()[0]


@pytest.mark.parametrize(
    ("address", "branch", "is_followed"),
    [
        ("ssh://git@git.example.com/fork", "main", True),
        ("ssh://git@git.example.com/fork", "next", False),
        ("ssh://git@git.example.com/others", "main", False),
    ],
)
def test_the_address_of_the_bootstrap_tells_the_repository(
    repository: Repository, address: str, branch: str, *, is_followed: bool
) -> None:
    text = leads("web", "./web").replace("name: flux-system\n", "name: apps\n")
    source = ELSEWHERE.replace("https://git.example.com/acme/apps", address).replace("main", branch)
    repository.write("clusters/prod/web.yaml", text, source)
    repository.write("web/web.yaml", RELEASE)
    assert ("HelmRelease web" in repository.read()[0]) is is_followed


def test_without_the_source_of_the_bootstrap_its_apps_are_left(repository: Repository) -> None:
    (repository.root / "clusters" / "prod" / "flux-system" / "gotk-sync.yaml").unlink()
    repository.write("clusters/prod/web.yaml", leads("web", "./web"))
    repository.write("web/web.yaml", DEPLOYMENT)
    documents = repository.read()[1].documents
    (left,) = drafted(inventory({"prod": Reading(documents)}, {"prod": "prod"})).resources
    assert left.reasons[0].text == "its source was not read"


def test_a_repository_below_that_of_git_is_found_by_its_paths(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "outer" / "inner")
    (repository.root / ".git").rmdir()
    (tmp_path / ".git").mkdir()
    repository.write("clusters/prod/apps.yaml", leads("apps", "./apps"))
    repository.write("apps/web.yaml", RELEASE)
    assert repository_around(repository.root / "clusters" / "prod").root == tmp_path
    assert owner(repository.read()[0]["HelmRelease web"]) == "apps"
    assert repository.built == ["clusters/prod", "apps"]


def test_settings_of_the_namespaces_of_apps_are_read(repository: Repository) -> None:
    repository.write(
        "clusters/prod/all.yaml", leads("apps", "./apps"), leads("spaces", "./spaces"), leads("others", "./others")
    )
    repository.write("apps/web.yaml", RELEASE)
    repository.write("spaces/harbour.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: harbour}\n")
    repository.write("others/quarry.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: quarry}\n")
    found, _ = repository.read()
    assert (owner(found["Namespace harbour"]), "Namespace quarry" in found) == ("spaces", False)


FLUX = """\
apiVersion: v1
kind: Namespace
metadata: {name: flux-system, labels: {app.kubernetes.io/part-of: flux, app.kubernetes.io/version: v2.7.1}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: buckets.source.toolkit.fluxcd.io}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: source-controller, namespace: flux-system, labels: {app.kubernetes.io/part-of: flux}}
"""


def test_what_flux_consists_of_is_not_counted(repository: Repository) -> None:
    repository.write("clusters/prod/flux-system/gotk-components.yaml", FLUX)
    assert sorted(repository.read()[0]) == ["GitRepository flux-system"]
