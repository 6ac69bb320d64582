"""Runs Pulumi against a sandbox: its state, its home and its provider all lie in the sandbox's directory.

Whichever Pulumi is used, built or the user's own, the user's Pulumi home is not touched: neither its logins nor its plugins
play a part.
"""

import os
import subprocess
from importlib.metadata import version
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.layout import Layout
from tools.locate import path_of

PROVIDER = "kubernetes"


def environment(root: Path) -> dict[str, str]:
    """The whole environment in which a command such as `pulumi up` works on the sandbox.

    Raises:  SandboxError: there is no sandbox in the directory.
    """
    layout = _layout(root)
    return {
        **os.environ,
        "PATH": _path(),
        "PULUMI_HOME": str(layout.pulumi_home),
        "PULUMI_BACKEND_URL": layout.backend.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        # The state is written once at the end instead of twice per resource.
        "PULUMI_SKIP_CHECKPOINTS": "true",
    }


def prepare_pulumi(root: Path) -> None:
    """Make the directories Pulumi needs and install the provider's plugin, unless that was done before.

    Raises:  SandboxError: there is no sandbox, or Pulumi refuses the plugin.
    """
    layout = _layout(root)
    layout.backend.mkdir(mode=0o700, exist_ok=True)
    # Program and plugin have to be of the same version.
    wanted = version(f"pulumi-{PROVIDER}")
    if not (layout.pulumi_home / "plugins" / f"resource-{PROVIDER}-v{wanted}").is_dir():
        _install(root, wanted)


def _install(root: Path, wanted: str) -> None:
    plugin = path_of(f"pulumi-resource-{PROVIDER}")
    command = [str(path_of("pulumi")), "plugin", "install", "resource", PROVIDER, wanted, "--file", str(plugin)]
    done = subprocess.run(command, env=environment(root), capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        message = f"Pulumi did not install its provider: {done.stderr.strip()}"
        raise SandboxError(message, f"see what is wrong with {plugin}")


def _path() -> str:
    """PATH, with the engine and its language host where the user's own does not lead to them."""
    directories = os.environ.get("PATH", os.defpath).split(os.pathsep)
    needed = dict.fromkeys(str(path_of(name).parent) for name in ("pulumi", "pulumi-language-python"))
    return os.pathsep.join([*(each for each in needed if each not in directories), *directories])


def _layout(root: Path) -> Layout:
    layout = Layout(root.resolve())
    if not layout.exists():
        raise SandboxError(f"there is no sandbox in {root}", "start one: tenantry sandbox up")
    return layout
