"""Runs Pulumi against a sandbox: its state, its home and its provider all lie in the sandbox's directory.

Whichever Pulumi is used, built or the user's own, the user's Pulumi home is not touched: neither its logins nor its plugins
play a part.
"""

import os
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.layout import Layout
from tools.locate import path_of

PROVIDER = "kubernetes"
LANGUAGE_HOST = "pulumi-language-python"


def environment(root: Path) -> dict[str, str]:
    """The whole environment in which a command such as `pulumi up` works on the sandbox.

    Raises:  SandboxError: there is no sandbox in the directory.
    """
    layout = _layout(root)
    return {
        **os.environ,
        "PATH": _path(layout),
        "PULUMI_HOME": str(layout.pulumi_home),
        # Beside the state no notes about it: they are not written in one go, and who is killed meanwhile can not read the state.
        "PULUMI_BACKEND_URL": f"{layout.backend.as_uri()}?metadata=skip",
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
    _assemble(layout)
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


def _path(layout: Layout) -> str:
    """PATH, with the engine first where the user's own PATH does not lead to it."""
    directories = os.environ.get("PATH", os.defpath).split(os.pathsep)
    engine = path_of("pulumi").parent
    if engine != path_of(LANGUAGE_HOST).parent:
        engine = layout.engine
    return os.pathsep.join([*([] if str(engine) in directories else [str(engine)]), *directories])


def _assemble(layout: Layout) -> None:
    """Put the engine and its language host side by side, as an installed Pulumi has them; apart they cause a warning each time."""
    homes = {path_of("pulumi").parent, path_of(LANGUAGE_HOST).parent}
    if len(homes) == 1:
        return
    layout.engine.mkdir(mode=0o700, exist_ok=True)
    for file in (file for home in homes for file in home.iterdir() if file.name.startswith("pulumi")):
        target = layout.engine / file.name
        if target.exists() and target.samefile(file):
            continue
        target.unlink(missing_ok=True)
        try:
            # The engine looks for the language host beside its real path, so a symbolic link would not do.
            target.hardlink_to(file)
        except OSError:  # the cache lies on another file system
            shutil.copy2(file, target)


def _layout(root: Path) -> Layout:
    layout = Layout(root.resolve())
    if not layout.exists():
        raise SandboxError(f"there is no sandbox in {root}", "start one: tenantry sandbox up")
    return layout
