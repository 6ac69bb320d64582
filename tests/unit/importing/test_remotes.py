"""The source of a bootstrap that a repository does not hold: its address is that of the Git remote, and has to be checked."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tenantry.importing.assemble import drafted
from tenantry.importing.environments import read_environment, summary
from tenantry.importing.model import Inventory, inventory
from tenantry.importing.remotes import for_flux, plain
from tenantry.importing.report import Report, report_of
from tenantry.importing.text import text_of
from tenantry.kube.objects import object_id
from tests.table import table
from tests.unit.importing.test_follow import DEPLOYMENT, SOURCE, Repository, leads

URL = "https://git.example.com/acme/fleet.git"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A fleet's repository without the file that `flux bootstrap` writes, and a Kustomization in it that stays one."""
    made = Repository(tmp_path / "repository")
    (made.root / "clusters" / "prod" / "flux-system" / "gotk-sync.yaml").unlink()
    made.write("clusters/prod/web.yaml", leads("web", "./web"))
    made.write("web/web.yaml", DEPLOYMENT)
    (made.root / ".git").rmdir()
    git(made, "init", "--quiet", "--initial-branch", "main")
    git(
        made, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--allow-empty", "-m", "first"
    )
    return made


def git(repository: Repository, *arguments: str) -> None:
    subprocess.run(("git", *arguments), cwd=repository.root, check=True)


def read(repository: Repository, *environments: str) -> Inventory:
    directory = repository.root / "clusters" / "prod"
    found, how = {}, None
    for each in environments or ("prod",):
        found[each], one = read_environment(each, [directory], (), repository.build)
        how = how + one if how else one
    assert how
    return inventory(found, {each: each for each in found}, how)


def imported(repository: Repository, *environments: str) -> Report:
    """Raises: Defect: the counts do not add up."""
    found = read(repository, *environments)
    draft = drafted(found)
    return report_of(found, draft, text_of(draft.data, (), draft.decisions), "tenants.yaml")


def test_what_the_remote_tells_is_in_the_file_and_has_to_be_checked(repository: Repository) -> None:
    git(repository, "remote", "add", "origin", "https://someone:hidden-token@git.example.com/acme/fleet.git")
    report = imported(repository, "prod", "test")
    addon = report.draft.data["platform"]["addons"]["web"]
    assert addon["source"] == {"git": {"url": URL, "interval": "1m", "ref": {"branch": "main"}}}
    # It was not read, so it is not counted.
    counts = report.counts
    assert (counts.read, counts.changed, counts.left, counts.flux_expressed) == (2, 2, 0, 2)
    assert Counter(each.id.name for each in report.proof.added if each.id.kind == "GitRepository") == {"web": 2}
    # One comment, although two environments have it; one step, with a command for each cluster.
    comment = " ".join(line.strip(" #") for line in report.text.splitlines() if line.strip().startswith("# "))
    assert comment.count("decide: no address of GitRepository flux-system/flux-system was read") == 1
    step = next(each for each in report.steps if each.text.startswith("GitRepository"))
    assert f"of {repository.root} tells that it is {URL} with branch main" in step.text
    assert step.commands == tuple(
        f"kubectl get gitrepository flux-system --namespace flux-system --context {each} --output yaml"
        for each in ("prod", "test")
    )
    assert list(summary(report.inventory.reading, report.draft.assumed))[-1] == (
        "GitRepository flux-system/flux-system in prod, test was not read: its address is that of the Git remote 'origin' of"
        f" {repository.root}"
    )
    assert "hidden-token" not in f"{report.text}{report}"


def test_the_source_of_a_bootstrap_that_keeps_its_name_is_not_new(repository: Repository) -> None:
    git(repository, "remote", "add", "origin", URL)
    source = {"kind": "GitRepository", "name": "fleet"}
    sync = leads("sync", "./clusters/prod", sourceRef=source)
    repository.write("clusters/prod/web.yaml", sync, leads("fleet", "./web", sourceRef=source))
    report = imported(repository)
    assert "GitRepository" not in {each.id.kind for each in report.proof.added}
    assert [str(object_id(each.manifest)) for each in report.draft.assumed] == ["GitRepository flux-system/fleet"]


def test_an_address_that_is_still_to_be_filled_in_counts_as_none(repository: Repository) -> None:
    git(repository, "remote", "add", "origin", URL)
    source = SOURCE.replace("ssh://git@git.example.com/fork", "YOUR_PREFIX/fleet")
    repository.write("clusters/prod/source.yaml", source)
    report = imported(repository)
    assert report.draft.data["platform"]["addons"]["web"]["source"]["git"]["url"] == URL
    assert [(each.reason, each.fate) for each in report.left_over if not each.field] == [
        ("Flux refuses it: spec.url: 'YOUR_PREFIX/fleet' does not match ^(http|https|ssh)://.*$", "inexpressible")
    ]


def test_ssh_needs_a_secret(repository: Repository) -> None:
    git(repository, "remote", "add", "origin", "git@git.example.com:acme/fleet.git")
    report = imported(repository)
    platform = report.draft.data["platform"]
    assert platform["addons"]["web"]["source"] == {
        "git": {"url": "ssh://git@git.example.com/acme/fleet.git", "interval": "1m", "ref": {"branch": "main"}},
        "credentials": "flux-system",
    }
    assert platform["credentials"] == {"flux-system": {"existing": True}}


def test_the_source_of_a_tenants_app_is_marked_too(repository: Repository) -> None:
    git(repository, "remote", "add", "origin", URL)
    space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: harbour, labels: {toolkit.fluxcd.io/tenant: harbour}}\n"
    source = {"kind": "GitRepository", "name": "flux-system", "namespace": "flux-system"}
    own = leads("web", "./web", sourceRef=source, serviceAccountName="harbour", targetNamespace="harbour")
    repository.write(
        "clusters/prod/web.yaml", space, own.replace("namespace: flux-system\nspec", "namespace: harbour\nspec")
    )
    draft = imported(repository).draft
    place = ("tenants", "harbour", "sources", "flux-system")
    assert draft.data["tenants"]["harbour"]["sources"]["flux-system"]["git"]["url"] == URL
    assert [path for path, texts in draft.decisions.items() if "Git remote" in texts[0]] == [place]


NOT_TOLD = {
    "no remote": (),
    "another name": (("remote", "add", "upstream", URL),),
    "a path": (("remote", "add", "origin", "/srv/fleet"),),
    "no branch": (("remote", "add", "origin", URL), ("checkout", "--quiet", "--detach")),
}


@pytest.mark.parametrize("name", NOT_TOLD)
def test_without_an_address_the_report_has_the_line_that_reads_it(repository: Repository, name: str) -> None:
    for each in NOT_TOLD[name]:
        git(repository, *each)
    report = imported(repository)
    assert (report.counts.expressed, report.draft.assumed, report.inventory.reading.assumed) == (0, (), ())
    assert report.left_over[0].fix.startswith("read it, too: run `flux export source git flux-system")


BRANCHES = {
    "the remote has it": (
        ("checkout", "--quiet", "-b", "next"),
        ("update-ref", "refs/remotes/origin/next", "HEAD"),
        "next",
    ),
    "the remote does not": (("checkout", "--quiet", "-b", "mine"), ("pack-refs",), "stable"),
    "none": (("checkout", "--quiet", "--detach"), ("pack-refs",), "stable"),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_the_branch_is_one_of_the_remote(repository: Repository, name: str) -> None:
    *commands, branch = BRANCHES[name]
    git(repository, "remote", "add", "origin", URL)
    git(repository, "update-ref", "refs/remotes/origin/stable", "HEAD")
    git(repository, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/stable")
    for each in commands:
        git(repository, *each)
    assert [each.manifest["spec"]["ref"] for each in read(repository).reading.assumed] == [{"branch": branch}]


def test_a_source_below_a_repository_is_not_that_repository(repository: Repository) -> None:
    """Its remote tells where the repository is, and the paths of the Kustomizations begin elsewhere."""
    git(repository, "remote", "add", "origin", URL)
    inner = repository.root / "inner"
    inner.mkdir()
    (repository.root / "clusters").rename(inner / "clusters")
    (repository.root / "web").rename(inner / "web")
    repository.root = inner
    repository.write("clusters/prod/sync.yaml", leads("flux-system", "./clusters/prod"))
    reading = read(repository).reading
    assert ([each.kustomization.name for each in reading.followed], reading.assumed) == (["flux-system", "web"], ())


@table(
    ("url", "expected"),
    [
        ("https://git.example.com/acme/apps", "https://git.example.com/acme/apps"),
        (
            "https://someone:hidden@git.example.com:8443/acme/apps.git?a=hidden#b",
            "https://git.example.com:8443/acme/apps.git",
        ),
        ("git@git.example.com:acme/apps.git", "ssh://git@git.example.com/acme/apps.git"),
        ("git.example.com:/srv/apps", "ssh://git@git.example.com/srv/apps"),
        ("ssh://me:hidden@git.example.com:22/acme/apps", "ssh://me@git.example.com:22/acme/apps"),
        ("ssh://git.example.com/acme/apps", "ssh://git@git.example.com/acme/apps"),
        ("https://[::1]:80/apps", "https://[::1]:80/apps"),
        # A name of somebody's own settings, a path, other protocols, and what is no address.
        *((each, "") for each in ("work:acme/apps", "/srv/apps", "../apps", "C:\\apps", "file:///srv/apps")),
        *((each, "") for each in ("git://git.example.com/apps", "ext::sh -c x", "https://git.example.com/", "")),
        *(
            (each, "")
            for each in ("https://git.example.com:port/a", "https://[/a", "https:///a", "https://a.example/b c")
        ),
    ],
)
def test_an_address_is_written_as_flux_takes_it(url: str, expected: str) -> None:
    assert for_flux(url) == expected


@table(
    "url",
    [
        *("https://git.example.com/acme/apps", "https://someone@git.example.com:443/acme/apps.git"),
        *("ssh://git@GIT.example.com/acme/apps", "git@git.example.com:acme/apps.git"),
    ],
)
def test_an_address_is_the_same_in_all_forms(url: str) -> None:
    assert plain(url) == "git.example.com/acme/apps"
    assert [plain(each) for each in ("/srv/apps", "../apps", "file:///srv/apps", "")] == [""] * 4
