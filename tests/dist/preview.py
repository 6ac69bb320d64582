"""A project of three lines, previewed by the real Pulumi on a sandbox, both from the installed package."""

from __future__ import annotations

from tenantry_sandbox.tools import store
from tenantry_sandbox.tools.catalog import MODULES, ToolsError
from tests.dist.environment import Environment, Wrong

_FILES = {
    "Pulumi.yaml": "name: fleet\nruntime: python\n",
    "__main__.py": "from tenantry.components.stack import run\n\nrun()\n",
}


def has_programs() -> bool:
    """Whether the sandbox's programs, among them Pulumi with its language host and provider, are built."""
    try:
        return all(store.path_of(tool.name) for module in MODULES for tool in module.tools)
    except ToolsError:
        return False


def preview(environment: Environment) -> None:
    """Raises: Wrong: the preview of a new stack fails, or lacks an object."""
    for name, text in _FILES.items():
        (environment.project / name).write_text(text)
    pulumi = ("tenantry", "sandbox", "run", "--", "pulumi", "--non-interactive")
    environment.run("tenantry", "sandbox", "up")
    try:
        environment.run(*pulumi, "stack", "init", "dev")
        output = environment.run(*pulumi, "preview", "--stack", "dev")
    finally:
        environment.run("tenantry", "sandbox", "down")
    if "kamaji/edge-rocky-web create" not in output:
        raise Wrong(f"the preview does not create the app on the remote cluster:\n{output}")
