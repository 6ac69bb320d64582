"""A Pulumi project as a user would have it, in a directory of its own, with the sandbox that belongs to it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from tenantry.stacks.file import stack_named
from tenantry_sandbox.programs import user_environment as sandbox_environment
from tenantry_sandbox.supervisor import Running, existing
from tests.e2e import rights
from tests.e2e.caretaker import caretaker
from tests.resident import programs

REPOSITORY = Path(__file__).resolve().parents[2]
FLEETS = Path(__file__).with_name("fleets")
"""Fleets that are there for a test alone."""
TIMEOUT = 900
"""Seconds; generous, because a shared machine may stand still for a while. Nothing waits for it when all is well."""
ROLES = ("deploy --secrets", "operate --kubeconfigs")
"""What `tenantry bootstrap --roles` prints for who deploys and operates, which is all that a stack's user has in most tests."""
ADMINISTRATOR = ()
"""The roles of who prepares clusters, imports what is there, or plays a stranger."""
MEMORY = {"GOGC": "400", "GOMEMLIMIT": "1GiB"}
"""For programs in Go: garbage is collected at five times what is in use instead of twice, which takes less of the processor."""


@dataclass(frozen=True, slots=True)
class Result:
    """A finished command; `text` holds both streams as a user would have seen them."""

    code: int
    out: str
    text: str

    def ok(self) -> Result:
        assert self.code == 0, self.text
        return self


@dataclass(frozen=True, slots=True)
class Project:
    """roles: those that the programs of its stacks run with, each as the options of `tenantry bootstrap --roles`.

    programs: the directory of the installed `tenantry`; None: of one that has been started already.
    """

    root: Path
    roles: tuple[str, ...] = ADMINISTRATOR
    programs: Path | None = None
    _given: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict, compare=False)

    @property
    def fleet(self) -> Path:
        return self.root / "tenants.yaml"

    @property
    def sandbox(self) -> Path:
        return self.root / ".sandbox"

    @property
    def command(self) -> str:
        """The command line of Tenantry."""
        return str((self.programs or programs()) / "tenantry")

    @property
    def is_up(self) -> bool:
        """Whether the sandbox was started."""
        return caretaker().has(self.sandbox)

    @property
    def content(self) -> Path:
        return self.root / "content"

    def parts(self) -> dict[str, Running]:
        """The processes of the sandbox."""
        return existing(self.sandbox)[1].running

    def webhooks(self) -> str:
        """The address that takes the calls of webhooks."""
        (controller,) = (each for each in self.parts().values() if each.part == "notification-controller")
        return f"http://127.0.0.1:{controller.ports[0]}"

    def kubeconfig(self, cluster: str) -> Path:
        return self.sandbox / cluster / "kubeconfig"

    def tenantry(self, *arguments: str, timeout: int = TIMEOUT) -> Result:
        """Run the installed command in the project's directory."""
        return self._run([self.command, *arguments], timeout)

    def pulumi(self, *arguments: str, timeout: int = TIMEOUT) -> Result:
        """Run pulumi against the sandbox, in the environment of `tenantry sandbox run`."""
        return self._run(["pulumi", "--non-interactive", *arguments], timeout, {**self.environment(), **MEMORY})

    def engine(self, *arguments: str, timeout: int = TIMEOUT) -> Result:
        """Run a command of tenantry that runs pulumi, in the environment of `tenantry sandbox run`."""
        return self._run([self.command, *arguments], timeout, {**self.environment(), **MEMORY})

    def environment(self) -> dict[str, str]:
        """The environment of `tenantry sandbox run`, with a directory of the test's own for temporary files.

        The provider leaves a kubeconfig among them in every run.
        """
        temporary = self.root.with_name("tmp")
        temporary.mkdir(exist_ok=True)
        return {**sandbox_environment(self.sandbox), "PWD": str(self.root), "TMPDIR": str(temporary)}

    def up(self, environment: str = "dev", *options: str) -> Result:
        """Run `pulumi up` of a stack."""
        return self.pulumi("up", "--stack", environment, "--yes", "--skip-preview", *options)

    def destroy(self, environment: str = "dev") -> Result:
        """Run `pulumi destroy` of a stack."""
        return self.pulumi("destroy", "--stack", environment, "--yes", "--skip-preview")

    def offboard(self, environment: str = "dev") -> Result:
        """Run `tenantry destroy --offboard`, after which nothing is left, not even data."""
        options = ("--environment", environment, "--offboard", "--yes", "--skip-preview")
        return self.tenantry("sandbox", "run", "--", "tenantry", "destroy", *options)

    def start(self, environment: str) -> None:
        """Have the sandbox run an environment's clusters and serve the content as it is now."""
        if not self.is_up:
            caretaker().expect(self.sandbox)
        command = [self.command, "sandbox", "up", "--environment", environment, "--content", str(self.content)]
        self._run(command, TIMEOUT, {**os.environ, **MEMORY}).ok()
        for hub in rights.hubs_of(self.root, environment):
            rights.log_in(self.sandbox, hub)
            self._given.clear()

    def give(self) -> None:
        """As an administrator does before a run: give the stacks' user the rights for what the file asks for, if it is valid."""
        for environment in self._environments() if self.roles else ():
            for hub in rights.hubs_of(self.root, environment):
                # Of a cluster that a test has stopped, the rights stay as they are.
                with suppress(httpx2.TransportError):
                    self._give(environment, hub)

    def _give(self, environment: str, hub: str) -> None:
        key, administrator = (environment, hub), self.kubeconfig(hub)
        manifests = rights.printed(self.fleet, environment, hub, self.roles)
        known = self._given.get(key) == manifests and rights.has_all_namespaces(administrator, manifests)
        if manifests and not known:
            rights.give(administrator, manifests)
            self._given[key] = manifests

    def make_stack(self, environment: str) -> None:
        """Have a stack for an environment."""
        if not self._state(environment):
            self.pulumi("stack", "select", "--create", environment).ok()

    def has_resources(self, environment: str) -> bool:
        """Whether the stack's state holds more than the stack itself."""
        state = self._state(environment)
        return bool(state) and len(json.loads(state.read_text())["checkpoint"]["latest"].get("resources") or []) > 1

    def deploy(self, environment: str) -> None:
        """Bring an environment up on the running sandbox, and wait until everything is ready."""
        self.make_stack(environment)
        self.up(environment).ok()
        self.wait(environment)

    def wait(self, environment: str) -> None:
        """Wait until everything that an environment has is ready."""
        self.tenantry("status", "--environment", environment, "--wait", "--timeout", "600").ok()

    def set_secrets(self, environment: str, values: Mapping[str, str]) -> None:
        """Set values of the stack's secret config: by path, such as `credentials.rocky.git.password`."""
        pairs = (each for path, value in values.items() for each in ("--secret", f"tenantry:{path}={value}"))
        self.pulumi("config", "set-all", "--stack", environment, "--path", *pairs).ok()

    def running(self) -> list[str]:
        """The environments whose stack's file leads to a management cluster that the sandbox runs."""
        kubeconfigs = {stack: stack_named(self.root, stack).reach.kubeconfig for stack in self._environments()}
        return [stack for stack, kubeconfig in kubeconfigs.items() if kubeconfig and kubeconfig.exists()]

    def _environments(self) -> list[str]:
        return sorted(file.suffixes[0].removeprefix(".") for file in self.root.glob("Pulumi.*.yaml"))

    def preview_of(self, environment: str) -> Result:
        """Run `pulumi preview` of a stack."""
        return self.pulumi("preview", "--stack", environment)

    def preview(self, *arguments: str, stack: str = "dev") -> dict[str, str]:
        """What `pulumi preview` would do: the operation by the resource's type and name. What is only read is left out."""
        result = self.pulumi("preview", "--stack", stack, "--json", *arguments).ok()
        steps: list[dict[str, Any]] = json.loads(result.out)["steps"]
        return {_short(step["urn"]): step["op"] for step in steps if step["op"] not in ("same", "refresh")}

    def edit(self, old: str, new: str) -> None:
        """Change tenants.yaml; what is to be changed has to be there."""
        text = self.fleet.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in tenants.yaml"
        self.fleet.write_text(text.replace(old, new))

    def _state(self, environment: str) -> Path | None:
        return next((self.sandbox / "state" / ".pulumi" / "stacks").glob(f"*/{environment}.json"), None)

    def _run(self, command: list[str], timeout: int, environment: Mapping[str, str] | None = None) -> Result:
        if {"up", "preview"} & {*command} and command[1:3] != ["sandbox", "up"]:
            self.give()
        done = subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
        return Result(done.returncode, done.stdout, f"$ {' '.join(command)}\n{done.stdout}{done.stderr}")


def make_project(root: Path, roles: tuple[str, ...] = ROLES) -> Project:
    """The repository's own program and fleet."""
    root.mkdir(parents=True)
    for name in ("Pulumi.yaml", "Pulumi.dev.yaml", "Pulumi.prod.yaml", "tenants.yaml"):
        shutil.copy(REPOSITORY / name, root / name)
    _link(root, "__main__.py")
    shutil.copytree(REPOSITORY / "content", root / "content")
    return _retrying_soon(root, roles)


def make_fleet(root: Path, name: str, roles: tuple[str, ...] = ROLES) -> Project:
    """A fleet of the tests' own, with its content, run by the repository's program."""
    root.mkdir(parents=True)
    # All of its stacks run on clusters.
    settings = (REPOSITORY / "Pulumi.yaml").read_text()
    (root / "Pulumi.yaml").write_text(f"{settings}options: {{refresh: always}}\n")
    _link(root, "__main__.py")
    shutil.copytree(FLEETS / name, root, dirs_exist_ok=True)
    return _retrying_soon(root, roles)


def make_example(root: Path, name: str, roles: tuple[str, ...] = ROLES) -> Project:
    """A copy of an example, as deep below `root` as the example lies in the repository, so that its relative paths hold."""
    (root / "examples").mkdir(parents=True)
    _link(root, "__main__.py", "tenants.schema.json")
    copied = root / "examples" / name
    unwanted = shutil.ignore_patterns(".sandbox", "rendered", "__pycache__")
    shutil.copytree(REPOSITORY / "examples" / name, copied, symlinks=True, ignore=unwanted)
    return _retrying_soon(copied, roles)


def _link(root: Path, *names: str) -> None:
    """Have a project some of the repository's files, and an environment whose Python has imported the program already."""
    for name in names:
        (root / name).symlink_to(REPOSITORY / name)
    (root / ".venv").symlink_to(programs() / "venv")


@contextmanager
def sandboxed(project: Project) -> Iterator[Project]:
    """A project whose sandbox goes down in the end, if it has one."""
    try:
        yield project
    finally:
        if project.is_up:
            caretaker().take_down(project.sandbox)


@contextmanager
def begun(project: Project, environment: str) -> Iterator[Project]:
    """The same with its sandbox running an environment and a stack for it, before the first `up`."""
    with sandboxed(project):
        project.start(environment)
        project.make_stack(environment)
        yield project


@contextmanager
def deployed(project: Project, environment: str) -> Iterator[Project]:
    """The same after the first `up`, everything ready."""
    with sandboxed(project):
        project.start(environment)
        project.deploy(environment)
        yield project


@contextmanager
def example(root: Path, name: str) -> Iterator[Project]:
    """An example in a directory of its own; whatever sandbox it has at the end goes down."""
    with sandboxed(make_example(root, name)) as made:
        yield made


def _retrying_soon(root: Path, roles: tuple[str, ...]) -> Project:
    """The project in a directory, in which what fails is retried soon."""
    if roles:
        rights.take_from_administrator(root)
    fleet = root / "tenants.yaml"
    # Tests break apps and mend them: they do not wait as long as a fleet's apps do.
    fleet.write_text(fleet.read_text().replace("retryInterval: 2m", "retryInterval: 5s"))
    return Project(root, roles)


def _short(urn: str) -> str:
    """urn:pulumi:dev::tenantry::a$b$kubernetes:core/v1:Namespace::rocky -> Namespace rocky"""
    *_, kinds, name = urn.split("::")
    return f"{kinds.rpartition(':')[2]} {name}"
