"""What image automation writes into files goes on being applied from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tenantry.importing.assemble import drafted
from tenantry.importing.documents import objects_in
from tenantry.importing.markers import Marked, marked_in, texts_in
from tenantry.importing.model import Draft, Reading, inventory
from tests.table import table

IMAGE = "registry.example.com/web:1.2.3"


@table(
    ("line", "found"),
    [
        (f'image: {IMAGE} # {{"$imagepolicy": "flux-system:web"}}', Marked("image", IMAGE)),
        (f'  - image: "{IMAGE}"   #{{ "$imagepolicy":"flux-system:web" }}', Marked("image", IMAGE)),
        ('    tag: 1.2.3 # {"$imagepolicy": "flux-system:web:tag"}', Marked("tag", "1.2.3")),
        ('    tag: \'7\' # {"$imagepolicy": "flux-system:web:tag"}', Marked("tag", "7")),
        (f'- {IMAGE} # {{"$imagepolicy": "flux-system:web"}}', Marked("", IMAGE)),
        (f"image: {IMAGE} # the policy of flux-system", None),
        ('# {"$imagepolicy": "flux-system:web"}', None),
        (f'image: {IMAGE}\n# {{"$imagepolicy": "flux-system:web"}}', None),
    ],
)
def test_a_marker_follows_its_value(tmp_path_factory: Any, line: str, found: Marked | None) -> None:
    root = tmp_path_factory.mktemp("source")
    (root / "apps").mkdir()
    (root / "apps" / "web.yml").write_text(f"a: b\n{line}\nc: d\n")
    assert marked_in(root) == ({found: "apps/web.yml"} if found else {})


def test_files_that_are_links_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text(f'image: {IMAGE} # {{"$imagepolicy": "flux-system:web"}}\n')
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "link.yaml").symlink_to(tmp_path / "outside.txt")
    assert marked_in(tmp_path / "source") == {}


def test_texts_have_the_key_that_stands_before_them() -> None:
    data = {"image": {"tag": 1.5, "names": ["web"]}, "replicas": 2}
    assert list(texts_in(data)) == [Marked("tag", "1.5"), Marked("", "web"), Marked("replicas", "2")]


OBJECTS = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 5m, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: fleet}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 1m, url: "https://git.example.com/fleet", ref: {branch: main}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: web}
spec: {interval: 1h, url: "https://charts.example.com"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: web, labels: LABELS}
spec:
  interval: 5m
  serviceAccountName: web
  chart: {spec: {chart: web, version: 1.x, sourceRef: {kind: HelmRepository, name: charts}}}
  values: {image: {tag: "1.2.3"}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: db, namespace: web, labels: LABELS}
spec:
  interval: 5m
  serviceAccountName: web
  chart: {spec: {chart: db, version: 1.2.3, sourceRef: {kind: HelmRepository, name: charts}}}
""".replace("LABELS", "{kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}")
MARKED = ((Marked("tag", "1.2.3"), "apps/web.yaml"),)


def draft(reading: Reading) -> Draft:
    return drafted(inventory({"dev": objects_in(OBJECTS.encode(), "it.yaml")}, {"dev": "hub"}, reading))


def test_a_release_that_image_automation_writes_stays_with_its_file_and_with_what_applies_it() -> None:
    found = draft(Reading(marked=MARKED))
    # The same text below another key is another value.
    assert list(found.data["tenants"]["web"]["apps"]) == ["db"]
    (left,) = (each for each in found.left_over if each.read.manifest["metadata"]["name"] == "web" and not each.field)
    assert left.reason == "image automation writes into apps/web.yaml, from where Flux applies it"
    assert left.fate == "stays"


def test_what_a_kustomization_with_such_a_value_applies_stays_with_it() -> None:
    """It passes the value on, such as by a variable."""
    post_build = 'postBuild: {substitute: {tag: "1.2.3"}}'
    objects = OBJECTS.replace('tag: "1.2.3"', "tag: other").replace("prune: true,", f"prune: true, {post_build},")
    found = drafted(inventory({"dev": objects_in(objects.encode(), "it.yaml")}, {"dev": "hub"}, Reading(marked=MARKED)))
    assert "apps" not in found.data["tenants"]["web"]
    reasons = {
        f"{each.read.manifest['kind']} {each.read.manifest['metadata']['name']}": each.reason
        for each in found.left_over
    }
    assert reasons["Kustomization apps"] == "image automation writes into apps/web.yaml, from where Flux applies it"
    assert reasons["HelmRelease web"] == "Kustomization flux-system/apps applies it"


AUTOMATION = """\
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageUpdateAutomation
metadata: {name: images, namespace: flux-system}
spec:
  interval: 5m
  sourceRef: {kind: GitRepository, name: fleet}
  git: {commit: {author: {email: flux@example.com}}}
"""


def test_a_live_cluster_does_not_show_what_image_automation_writes() -> None:
    objects = [each._replace(origin="live") for each in objects_in((OBJECTS + AUTOMATION).encode(), "it.yaml")]
    found = drafted(inventory({"dev": objects}, {"dev": "hub"}))
    (left,) = (each for each in found.left_over if each.read.manifest["kind"] == "ImageUpdateAutomation")
    assert left.reason.endswith("which was not read: an app of the file keeps the image of today")
    assert left.fix == "import from the directory of the repository, which shows the apps that it writes"


def test_without_a_marker_the_release_is_taken_over() -> None:
    assert list(draft(Reading()).data["tenants"]["web"]["apps"]) == ["web", "db"]
