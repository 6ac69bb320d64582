"""A project of three lines on the installed package, previewed by the real Pulumi with target `directory`."""

from __future__ import annotations

import os
from pathlib import Path

from tenantry.tools import locate
from tenantry.tools.errors import ToolsError
from tests.dist.environment import Environment, Wrong

_FILES = {
    "Pulumi.yaml": "name: fleet\nruntime: python\n",
    "Pulumi.dev.yaml": "config: {tenantry:target: directory}\n",
    "__main__.py": "from tenantry.components.stack import run\n\nrun()\n",
}


def programs() -> dict[str, Path] | None:
    """Pulumi, its language host and its provider; None: they are neither built nor installed."""
    try:
        return {
            each: locate.path_of(each) for each in ("pulumi", "pulumi-language-python", "pulumi-resource-kubernetes")
        }
    except ToolsError:
        return None


def preview(environment: Environment, found: dict[str, Path]) -> None:
    """The provider that is there takes the place of the one that the SDK asks for. Raises: Wrong."""
    for name, text in _FILES.items():
        (environment.project / name).write_text(text)
    home = environment.home / "pulumi"
    (home / "state").mkdir(parents=True)
    directories = dict.fromkeys(str(found[each].parent) for each in ("pulumi", "pulumi-language-python"))
    variables = {
        "PATH": os.pathsep.join(
            [str(environment.home / "venv" / "bin"), *directories, os.environ.get("PATH", os.defpath)]
        ),
        "PULUMI_HOME": str(home),
        "PULUMI_BACKEND_URL": (home / "state").as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }
    plugin = (
        "kubernetes",
        environment.version("pulumi-kubernetes"),
        "--file",
        str(found["pulumi-resource-kubernetes"]),
    )
    environment.run("pulumi", "plugin", "install", "resource", *plugin, more=variables)
    environment.run("pulumi", "--non-interactive", "stack", "init", "dev", more=variables)
    said = environment.run("pulumi", "--non-interactive", "preview", "--stack", "dev", more=variables)
    if "kamaji/edge-rocky-web create" not in said:
        raise Wrong(f"the preview does not create the app on the remote cluster:\n{said}")
