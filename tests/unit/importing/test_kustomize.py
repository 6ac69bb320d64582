"""What a kustomization names is of its source, or is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.importing import kustomize
from tenantry.importing.kustomize import references
from tenantry.messages.errors import Refused

OUTSIDE = "leaves the source"
REFUSED = {
    "resource": ("resources: [../../../victim]", f"resources[0]: '../../../victim' {OUTSIDE}"),
    "file": ("resources: [good.yaml, ../../victim/a.yaml]", f"resources[1]: '../../victim/a.yaml' {OUTSIDE}"),
    "absolute": ("resources: [/etc/passwd]", f"resources[0]: '/etc/passwd' {OUTSIDE}"),
    "beside": ("resources: [../../source-2]", f"resources[0]: '../../source-2' {OUTSIDE}"),
    "nothing there": ("resources: [../../../../none]", f"resources[0]: '../../../../none' {OUTSIDE}"),
    "out and in": ("resources: [../../none/../victim/x]", f"resources[0]: '../../none/../victim/x' {OUTSIDE}"),
    "base": ("bases: [../../victim]", f"bases[0]: '../../victim' {OUTSIDE}"),
    "component": ("components: [../../victim]", f"components[0]: '../../victim' {OUTSIDE}"),
    "crds": ("crds: [../../x.json]", f"crds[0]: '../../x.json' {OUTSIDE}"),
    "configuration": ("configurations: [../../x]", f"configurations[0]: '../../x' {OUTSIDE}"),
    "transformer": ("transformers: [../../victim]", f"transformers[0]: '../../victim' {OUTSIDE}"),
    "patch": ("patches: [{path: ../../victim/a.yaml}]", f"patches[0].path: '../../victim/a.yaml' {OUTSIDE}"),
    "old patch": ("patchesStrategicMerge: [../../a.yaml]", f"patchesStrategicMerge[0]: '../../a.yaml' {OUTSIDE}"),
    "replacement": ("replacements: [{}, {path: /etc/x}]", f"replacements[1].path: '/etc/x' {OUTSIDE}"),
    "schema": ("openapi: {path: ../../x}", f"openapi.path: '../../x' {OUTSIDE}"),
    "file of a map": (
        "configMapGenerator: [{name: a, files: [key=../../victim/a.yaml]}]",
        f"configMapGenerator[0].files[0]: '../../victim/a.yaml' {OUTSIDE}",
    ),
    "variables": ("secretGenerator: [{envs: [../../.env]}]", f"secretGenerator[0].envs[0]: '../../.env' {OUTSIDE}"),
    "variable": ("secretGenerator: [{env: ../../.env}]", f"secretGenerator[0].env: '../../.env' {OUTSIDE}"),
    "link": ("resources: [link/a.yaml]", f"resources[0]: 'link/a.yaml' {OUTSIDE}"),
    "link to nothing": ("resources: [dangling]", f"resources[0]: 'dangling' {OUTSIDE}"),
    "climbing server": (
        "resources: ['https://h/../../../../etc']",
        f"resources[0]: 'https://h/../../../../etc' {OUTSIDE}",
    ),
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source with an app, beside a directory and another source that are not its own."""
    root = tmp_path / "source"
    for directory in (root / "apps", tmp_path / "victim", tmp_path / "source-2"):
        directory.mkdir(parents=True)
        (directory / "kustomization.yaml").write_text("resources: [a.yaml]\n")
        (directory / "a.yaml").write_text("kind: ConfigMap\n")
    (root / "apps" / "good.yaml").write_text("kind: ConfigMap\n")
    (root / "apps" / "link").symlink_to(tmp_path / "victim")
    (root / "apps" / "dangling").symlink_to("../../nothing")
    (root / "apps" / "loop").symlink_to("loop")
    return root


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_kustomization_may_not_name(source: Path, case: str) -> None:
    content, said = REFUSED[case]
    (source / "apps" / "kustomization.yaml").write_text(content)
    with pytest.raises(Refused) as refused:
        list(references(source, source / "apps"))
    assert refused.value.message == f"apps/kustomization.yaml: {said}"


def test_what_a_base_names_is_checked_too_and_a_circle_ends(source: Path) -> None:
    (source / "base").mkdir()
    (source / "kustomization.yaml").write_text("resources: [base]\n")
    (source / "base" / "kustomization.yml").write_text("resources: [.., ../../victim]\n")
    with pytest.raises(Refused, match=r"^base/kustomization.yml: resources\[1\]: '../../victim' leaves the source"):
        list(references(source, source))


def test_a_long_chain_of_bases_is_refused(source: Path) -> None:
    directory = source
    for _ in range(110):
        (directory / "kustomization.yaml").write_text("resources: [d]\n")
        directory /= "d"
        directory.mkdir()
    (directory / "kustomization.yaml").write_text("resources: []\n")
    with pytest.raises(Refused, match=r"^(d/)+\.\.\.: more than 100 directories are nested"):
        list(references(source, source))


def test_a_file_elsewhere_in_the_source_may_be_named_as_flux_allows_it(source: Path) -> None:
    (source / "shared").mkdir()
    (source / "shared" / "patch.yaml").write_text("kind: ConfigMap\n")
    content = (
        "resources: [a.yaml]\n"
        "patches: [{path: ../shared/patch.yaml}, {patch: 'kind: X'}]\n"
        "configMapGenerator: [{name: a, files: [a.yaml, key=../shared/patch.yaml], literals: [b=c]}]\n"
        'generators: ["{kind: ConfigMapGenerator, files: [x]}", \'kind: ConfigMapGenerator\', "a: b\\nc: d\\n"]\n'
        "transformers: [../shared]\n"
    )
    (source / "apps" / "kustomization.yaml").write_text(content)
    assert list(references(source, source / "apps")) == [
        *(source / "apps" / "a.yaml", source / "shared" / "patch.yaml", source / "apps" / "a.yaml"),
        *(source / "shared" / "patch.yaml", source / "shared"),
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("components: 5", "components is not a list"),
        ("patches: {}x", "not valid YAML"),
        ("- a", "kustomization.yaml is not a mapping"),
    ],
)
def test_a_malformed_kustomization_is_refused(source: Path, content: str, said: str) -> None:
    (source / "apps" / "kustomization.yaml").write_text(content)
    with pytest.raises(Refused, match=said):
        kustomize.build(source, source / "apps", ("false",), {})


def test_only_what_is_named_of_a_large_source_reaches_kustomize(source: Path, tmp_path: Path) -> None:
    """As `tenantry import` builds: kustomize finds neither the repository's own files nor what nothing names."""
    for name in (".git/config", "apps/.git/config", "shared/patch.yaml", "other/secret.yaml"):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text("kind: ConfigMap\n")
    (source / "apps" / "kustomization.yaml").write_text("patches: [{path: ../shared/patch.yaml}]\n")
    lists = tmp_path / "kustomize"
    lists.write_text("#!/bin/sh\n/usr/bin/find . -type f -o -type l | /usr/bin/sort\n")
    lists.chmod(0o755)
    assert kustomize.build(source, source / "apps", (str(lists),), {}).decode().split() == [
        *("./apps/a.yaml", "./apps/good.yaml", "./apps/kustomization.yaml", "./shared/patch.yaml"),
    ]
    (source / "apps" / "kustomization.yaml").write_text(
        "resources: [loop/x, 'a\\0b', 'github.com/x/y', none.yaml]\nconfigMapGenerator: [{name: a, files: [../.git/config]}]\n"
    )
    assert kustomize.build(source, source / "apps", (str(lists),), {}).decode().split() == [
        *("./apps/a.yaml", "./apps/good.yaml", "./apps/kustomization.yaml"),
    ]


def test_a_kustomization_that_is_a_link_is_none(source: Path) -> None:
    (source / "apps" / "kustomization.yaml").unlink()
    (source / "apps" / "kustomization.yaml").symlink_to("/etc/passwd")
    assert list(references(source, source / "apps")) == []
