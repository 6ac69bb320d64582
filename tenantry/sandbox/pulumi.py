"""Keeps everything of Pulumi that works on a sandbox in the sandbox's directory: its state, its home and its provider.

The user's own Pulumi home is not touched, whether Pulumi is built or installed: neither its logins nor its plugins are used.
"""

import shutil
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from tenantry.sandbox.layout import Layout, SandboxError
from tenantry.tools.catalog import PROVIDER_VERSION
from tenantry.tools.locate import path_of

PROVIDER = "kubernetes"
LANGUAGE_HOST = "pulumi-language-python"


def variables(layout: Layout) -> dict[str, str]:
    """The environment variables that make Pulumi work on the sandbox."""
    return {
        "PULUMI_HOME": str(layout.pulumi_home),
        # No metadata beside the state: it is not written atomically, and a run that is killed meanwhile makes the state unreadable.
        "PULUMI_BACKEND_URL": f"{layout.backend.as_uri()}?metadata=skip",
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        # The state is written once at the end instead of twice per resource.
        "PULUMI_SKIP_CHECKPOINTS": "true",
    }


def prepare(layout: Layout, environment: Mapping[str, str]) -> None:
    """Make the directories that Pulumi needs and install the provider's plugin, unless that was done before.

    Args:    environment: the environment that Pulumi runs in.
    Raises:  SandboxError: Pulumi refuses the plugin.
    """
    layout.backend.mkdir(mode=0o700, exist_ok=True)
    _without_logs(layout)
    _assemble(layout)
    wanted = _version()
    if (layout.pulumi_home / "plugins" / f"resource-{PROVIDER}-v{wanted}").is_dir():
        return
    # Not by putting it on PATH: Pulumi warns on every run of a plugin that is there.
    plugin = path_of(f"pulumi-resource-{PROVIDER}")
    command = [str(path_of("pulumi")), "plugin", "install", "resource", PROVIDER, wanted, "--file", str(plugin)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        message = f"Pulumi did not install its provider: {done.stderr.strip()}"
        raise SandboxError(message, f"see what is wrong with {plugin}")


def _without_logs(layout: Layout) -> None:
    """Let Pulumi keep no debug log of each run, which takes the engine a third of its time and which nothing reads here.

    It has no setting for this, and goes on if it cannot make the directory.
    """
    logs = layout.pulumi_home / "logs"
    if not logs.exists():
        layout.pulumi_home.mkdir(mode=0o700, exist_ok=True)
        logs.write_text("Here Pulumi would keep a debug log of each run. To have them, put a directory in its place.\n")


def _version() -> str:
    """The version that the program asks for: that of the SDK beside this package, under which the plugin is installed.

    The plugin that is built is of one version. The engine does not compare them, and other versions of the SDK work with it.
    """
    try:
        return version(f"pulumi-{PROVIDER}")
    except PackageNotFoundError:  # the program has an environment of its own
        return PROVIDER_VERSION


def _assemble(layout: Layout) -> None:
    """Put the engine and its language host side by side, as in an installed Pulumi; apart they cause a warning on every run."""
    homes = {path_of("pulumi").parent, path_of(LANGUAGE_HOST).parent}
    if len(homes) == 1:
        for former in layout.programs.glob("pulumi*"):
            former.unlink()
        return
    for file in (file for home in homes for file in home.iterdir() if file.name.startswith("pulumi")):
        target = layout.programs / file.name
        if target.exists() and target.samefile(file):
            continue
        target.unlink(missing_ok=True)
        try:
            # The engine looks for the language host beside its real path, so a symbolic link would not do.
            target.hardlink_to(file)
        except OSError:  # the cache is on another file system
            shutil.copy2(file, target)
