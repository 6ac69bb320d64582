"""Hostile and broken input: refused in one line with its place, or read without what must not be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.importing.documents import objects_in
from tenantry.importing.follow import Repository
from tenantry.importing.reading import objects_below
from tenantry.importing.resources import Reading, inventory
from tenantry.messages.errors import Refused
from tests.table import table

GOOD = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: b}\n"
BOMB = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(7)
)

REFUSED = {
    "not-yaml": ("a: [\n", "x.yaml:2:1: not valid YAML: did not find expected node content"),
    "not-an-object": (f"{GOOD}---\na: 1\n", "x.yaml:5:1: not a Kubernetes object with 'apiVersion', 'kind'"),
    "no-name": ("apiVersion: v1\nkind: Secret\nmetadata: {}\n", "x.yaml:1:1: not a Kubernetes object"),
    "a-list": ("- 1\n", "x.yaml:1:1: not a Kubernetes object"),
    "bomb": (BOMB, "x.yaml:6:4: aliases unfold to more than 250000 values"),
    "itself": ("a: &a [*a]\n", "x.yaml:1:4: an alias holds itself"),
    "deep": ("[" * 100, "x.yaml:1:65: values are nested deeper than 64 levels"),
    "tag": (f"{GOOD}x: !!python/object:os.system {{}}\n", "x.yaml:4:4: not valid YAML: could not determine"),
    "list-of-others": ("kind: List\napiVersion: v1\nitems: [1]\n", "x.yaml:3:9: not a Kubernetes object"),
}


@table("name", REFUSED)
def test_what_is_wrong_is_refused_with_its_place(name: str) -> None:
    text, message = REFUSED[name]
    with pytest.raises(Refused) as refused:
        list(objects_in(text.encode(), "x.yaml"))
    assert str(refused.value).startswith(message)
    assert refused.value.fix


def test_bytes_that_are_not_text_are_refused_with_their_line() -> None:
    with pytest.raises(Refused, match=r"x\.yaml:4:\d+: byte 0xff is not UTF-8"):
        list(objects_in(GOOD.encode() + b"\xff", "x.yaml"))


@table("text", [GOOD, GOOD.replace("\n", "\r\n"), "\ufeff" + GOOD, f"---\n---\n{GOOD}...\n"])
def test_line_ends_marks_and_empty_documents_do_not_matter(text: str) -> None:
    (found,) = objects_in(text.encode(), "x.yaml")
    assert (found.manifest["kind"], found.manifest["metadata"]) == ("ServiceAccount", {"name": "a", "namespace": "b"})


def test_scalars_are_read_as_kubernetes_reads_them() -> None:
    text = f"{GOOD}spec: {{on: on, time: 22:22, date: 2024-01-01, octal: 0644, text: '1'}}\n"
    (found,) = objects_in(text.encode(), "x.yaml")
    assert found.manifest["spec"] == {"true": True, "time": "22:22", "date": "2024-01-01", "octal": 420, "text": "1"}


def test_values_of_secrets_and_what_the_server_adds_are_not_kept() -> None:
    text = """\
kind: List
apiVersion: v1
items:
- apiVersion: v1
  kind: Secret
  type: Opaque
  metadata:
    name: s
    namespace: n
    uid: "1"
    annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"data": {"k": "hunter2"}}'}
  data: {k: aHVudGVyMg==}
  stringData: {l: hunter2}
  status: {a: 1}
"""
    (found,) = objects_in(text.encode(), "x.yaml")
    assert found.manifest == {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {"name": "s", "namespace": "n"},
        "data": {"k": "", "l": ""},
    }
    assert found.origin == "x.yaml:4"


def test_one_object_declared_twice_is_refused_with_both_places() -> None:
    other = GOOD.replace("metadata:", "automountServiceAccountToken: false\nmetadata:")
    found = [*objects_in(GOOD.encode(), "a.yaml"), *objects_in(other.encode(), "b.yaml")]
    with pytest.raises(Refused, match=r"b.yaml:1: ServiceAccount b/a is declared differently at a.yaml:1"):
        inventory({"dev": Reading(found)}, {"dev": "hub"})
    same = inventory({"dev": Reading([*found[:1], *found[:1]])}, {"dev": "hub"})
    assert len(same.resources) == 1


def test_a_directory_with_a_kustomization_is_built_and_links_are_not_walked(tmp_path: Path) -> None:
    (tmp_path / "tree" / "base").mkdir(parents=True)
    (tmp_path / "tree" / "kustomization.yaml").write_text("resources: [base]\n")
    (tmp_path / "tree" / "patch.yaml").write_text("not an object")
    (tmp_path / "plain.yml").write_text(GOOD)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.yaml").write_text("[")
    (tmp_path / "loop").symlink_to(tmp_path)
    built: list[Path] = []

    def build(_root: Path, directory: Path, _spec: object) -> bytes:
        built.append(directory)
        return GOOD.encode()

    found = list(objects_below(tmp_path, Repository(tmp_path, relative=False), build, print))
    assert [each.origin for each in found] == [f"{tmp_path}/plain.yml:1", f"{tmp_path}/tree"]
    assert built == [tmp_path / "tree"]
