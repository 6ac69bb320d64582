"""No command that Tenantry or its documentation prints deletes what can hold data: it would be pasted.

A run of Pulumi deletes too, but the guard judges it. What is left goes by hand, and the texts say how to see what uses it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMANDS = re.compile(
    r"kubectl\b[^`\n]*?\b(?:delete|replace --force)\b|\bflux (?:delete|uninstall)\b|\bhelm (?:uninstall|delete)\b"
    r"|(?:\$|\brun) `?pulumi destroy\b|\bpulumi state delete\b|\brm -[a-z]*r|\bdelete (?:the )?namespaces? [\w{']"
)
ADVICE = re.compile(r"\b(?:or|and|then) delete (?!its entry)\S+(?: \S+)?")
"""In a message: to delete an object by hand."""

ALLOWED = {
    ("tenantry/cluster/leftovers.py", "kubectl delete"): "a RoleBinding holds no data, and Tenantry's stand beside it",
    (
        "examples/multi-cluster/workflows.md",
        "kubectl --context america-south delete",
    ): "a ClusterRoleBinding of a destroyed environment",
    (
        "docs/clusters.md",
        "kubectl delete",
    ): "an account holds no data, and its access has to end at once",
    (
        "docs/recovery.md",
        "kubectl --kubeconfig edge-1.kubeconfig --namespace tenantry-system delete",
    ): "the same account, of a management cluster that must not act any more",
    ("Makefile", "rm -r"): "`make clean`, what this repository has built",
}
"""By file and text, why it may stand there."""


_READ = {".md", ".yaml", ".yml", ".sh", ".txt", ".html", ".js"}


def _texts() -> Iterator[tuple[str, str]]:
    """Each file of the product that prints or is read, and its texts."""
    for folder in ("docs", "examples", "templates", "tenantry", ".ci"):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.is_file() and (file.suffix in _READ or file.parent.name == ".ci"):
                yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")
    for name in ("README.md", "Makefile", "action.yml"):
        yield name, (ROOT / name).read_text(encoding="utf-8")


def _strings() -> Iterator[tuple[str, str]]:
    """Each module of the product, and its literal texts, with `{}` for what is filled in."""
    for folder in ("tenantry", "components"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                match node:
                    case ast.JoinedStr():
                        parts = (each.value if isinstance(each, ast.Constant) else "{}" for each in node.values)
                        yield str(file.relative_to(ROOT)), "".join(map(str, parts))
                    case ast.Constant(value=str() as text):
                        yield str(file.relative_to(ROOT)), text


def _found() -> set[tuple[str, str]]:
    return {
        *((file, found[0]) for file, text in (*_texts(), *_strings()) for found in COMMANDS.finditer(text)),
        *((file, found[0]) for file, text in _strings() for found in ADVICE.finditer(text)),
    }


def test_no_printed_command_deletes_what_can_hold_data() -> None:
    assert _found() == set(ALLOWED)


def test_such_commands_are_recognized() -> None:
    for text in (
        "kubectl delete {}",
        "kubectl --context hub delete secret token",
        "fix: flux delete source git x",
        "$ pulumi destroy",
        "run `pulumi destroy` first",
        "helm uninstall web",
        "rm -rf .pulumi",
        "pulumi state delete URN",
        "delete namespace 'x'",
    ):
        assert COMMANDS.search(text), text
    assert ADVICE.search("or delete {}")
    for text in ("kubectl get namespace", "`pulumi destroy` does not run the program", "rm STACK.json.attrs"):
        assert not COMMANDS.search(text), text
    assert not ADVICE.search("run `tenantry up`, then delete its entry")
