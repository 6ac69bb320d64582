"""Runs the workflows of this repository and of a new fleet as GitHub does: each `run:` with its shell, environment and condition.

Only what is GitHub's own is left out: actions of other repositories, of which `Pipeline.used` keeps the inputs. A workflow that
lets a secret reach more than one step, or runs what is not pinned by hash, is not run: `weaknesses` names why.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from tests.expressions import as_text, filled, holds
from tests.forge import Forge

REPOSITORY = Path(__file__).resolve().parents[1]
OF_A_FLEET = REPOSITORY / "templates" / "pulumi" / ".github" / "workflows"
"""The workflows of a new fleet."""
FILES = (".ci", ".github", "action.yml")
"""What a fleet's repository needs for its pipelines."""

_SECRET = re.compile(r"\bsecrets\.\w|\bsecrets\[")
_PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
_INSTALLS = re.compile(
    r"\b(?:pip3?|pipx|uv(?: tool| pip)?|npm|go|gem|cargo) +install\b|\b(?:uvx|npx)\b|\b(?:curl|wget)\b"
)
_SETUP = '"$SETUP"'
SHELLS = {None: ["bash", "-e"], "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}


@dataclass(frozen=True, slots=True)
class Ran:
    """A step of a job that ran; text: both of its streams."""

    job: str
    step: str
    code: int
    text: str


@dataclass
class Pipeline:
    """A repository in which workflows run.

    environment: the variables of the machine; event: what happened, as GitHub describes it; used: the inputs of the actions
    of other repositories, by the name of the action.
    """

    root: Path
    forge: Forge
    environment: Mapping[str, str]
    event: Mapping[str, Any]
    variables: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    ran: list[Ran] = field(default_factory=list)
    used: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    summary: str = ""
    _numbers: Iterator[int] = field(default_factory=count)

    def call(self, name: str, inputs: Mapping[str, Any]) -> bool:
        """Run a reusable workflow. Returns: whether all its jobs succeeded."""
        workflow = load(self.root / ".github" / "workflows" / f"{name}.yml")
        assert list(weaknesses(workflow)) == []
        declared = workflow["on"]["workflow_call"]["inputs"]
        assert set(inputs) <= set(declared)
        return self._jobs(workflow, {key: inputs.get(key, each["default"]) for key, each in declared.items()}, {})

    def react(self, file: Path, settings: Mapping[str, str], inputs: Mapping[str, Any] | None = None) -> bool:
        """Run a workflow for the event. settings: in place of those of its `env`. Returns: whether all its jobs succeeded."""
        workflow = load(file)
        assert list(weaknesses(workflow)) == []
        declared = workflow.get("env", {})
        assert set(settings) <= set(declared)
        return self._jobs(workflow, inputs or {}, {**declared, **settings})

    def _jobs(self, workflow: Mapping[str, Any], inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
        needs: dict[str, Any] = {}
        for job, content in workflow["jobs"].items():
            contexts = {"inputs": inputs, "needs": needs, "env": settings}
            needed = [content["needs"]] if isinstance(content.get("needs"), str) else content.get("needs", [])
            ready = all(needs[each]["result"] == "success" for each in needed)
            if not ready or not holds(content.get("if", "true"), self._known(contexts), ok=True):
                needs[job] = {"result": "skipped", "outputs": {}}
            else:
                needs[job] = self._job(job, content, contexts)
        return all(each["result"] != "failure" for each in needs.values())

    def act(self, inputs: Mapping[str, Any]) -> bool:
        """Run the composite action alone, as a job of another workflow does. Returns: whether it succeeded."""
        step = {"uses": "./", "with": {**inputs, "base": "origin/main"}}
        path = [{"name": "install", "run": 'echo "$GITHUB_WORKSPACE/.venv/bin" >> "$GITHUB_PATH"'}]
        return bool(self._instance("act", {"steps": [*path, step]}, {})["result"] == "success")

    def _job(self, name: str, content: Mapping[str, Any], contexts: dict[str, Any]) -> dict[str, Any]:
        strategy = content.get("strategy", {})
        matrix = {key: self._fill(each, contexts) for key, each in strategy.get("matrix", {}).items()}
        if not matrix:
            return self._instance(name, content, contexts)
        ((key, values),) = matrix.items()
        result = {"result": "success", "outputs": {}}
        for value in values:
            if (
                self._instance(f"{name} ({value})", content, {**contexts, "matrix": {key: value}})["result"]
                == "failure"
            ):
                result["result"] = "failure"
                if strategy["fail-fast"]:
                    break
        return result

    def _instance(self, name: str, content: Mapping[str, Any], contexts: dict[str, Any]) -> dict[str, Any]:
        """A job on a machine of its own."""
        machine = _Machine(self.root.with_name(f"{self.root.name}-machine-{next(self._numbers)}"), self.root)
        contexts = {**contexts, "runner": {"temp": str(machine.home)}}
        declared = {**contexts.get("env", {}), **content.get("env", {})}
        machine.environment = {
            **self.environment,
            "GITHUB_BASE_REF": str(self.event.get("base_ref", "")),
            **self._variables(declared, contexts),
        }
        outcome = self._steps(name, content["steps"], contexts, machine)
        outputs = {key: self._fill(each, outcome.contexts) for key, each in content.get("outputs", {}).items()}
        self.summary += machine.read("summary")
        shutil.rmtree(machine.home)
        return {"result": "success" if outcome.ok else "failure", "outputs": outputs}

    def _steps(
        self, job: str, steps: list[Mapping[str, Any]], contexts: Mapping[str, Any], machine: _Machine, action: str = ""
    ) -> _Outcome:
        done: dict[str, Any] = {}
        outcome = _Outcome({**contexts, "steps": done})
        for step in steps:
            if not holds(step.get("if", "success()"), self._known(outcome.contexts), ok=outcome.ok):
                continue
            given = {key: self._fill(each, outcome.contexts) for key, each in step.get("with", {}).items()}
            outputs: dict[str, str] = {}
            if "run" in step:
                code, outputs = self._run(job, step, outcome.contexts, machine, action)
                outcome.ok = outcome.ok and code == 0
            elif step["uses"] == "./":
                inner = self._action(job, given, machine)
                outputs, outcome.ok = inner.contexts["outputs"], outcome.ok and inner.ok
            else:
                self.used.setdefault(step["uses"].partition("@")[0], []).append(given)
                if file := given.get("path"):
                    given["text"] = Path(file).read_text()
            done[step.get("id", "")] = {"outputs": outputs}
        return outcome

    def _action(self, job: str, given: Mapping[str, Any], machine: _Machine) -> _Outcome:
        """The composite action of the repository itself."""
        action = load(self.root / "action.yml")
        assert list(weaknesses(action)) == []
        inputs = {
            key: given.get(key, self._fill(each.get("default", ""), {})) for key, each in action["inputs"].items()
        }
        contexts = {"inputs": inputs, "runner": {"temp": str(machine.home)}}
        outcome = self._steps(job, action["runs"]["steps"], contexts, machine, str(self.root))
        outputs = {key: self._fill(each["value"], outcome.contexts) for key, each in action["outputs"].items()}
        outcome.contexts["outputs"] = outputs
        return outcome

    def _run(
        self, job: str, step: Mapping[str, Any], contexts: Mapping[str, Any], machine: _Machine, action: str
    ) -> tuple[int, dict[str, str]]:
        own = self._variables(step.get("env", {}), contexts)
        directory = self.root / as_text(self._fill(step.get("working-directory", "."), contexts))
        script = machine.home / "script"
        script.write_text(step["run"])
        machine.begin()
        done = subprocess.run(
            [*SHELLS[step.get("shell")], str(script)],
            cwd=directory,
            env={**machine.variables(self.forge.url, action), **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        self.ran.append(Ran(job, step.get("name", step["run"]), done.returncode, done.stdout))
        outputs = machine.finish()
        secret = {own[key] for key, value in step.get("env", {}).items() if _SECRET.search(str(value))} - {""}
        handed_on = secret.intersection((*machine.environment.values(), *outputs.values()))
        assert not handed_on, f"step '{step.get('name')}' hands a secret on to other steps"
        return done.returncode, outputs

    def _fill(self, value: Any, contexts: Mapping[str, Any]) -> Any:
        return filled(value, self._known(contexts))

    def _known(self, contexts: Mapping[str, Any]) -> dict[str, Any]:
        """All contexts of an expression."""
        own = {"repository": "ops/fleet", "ref": "refs/heads/main", "ref_name": "main", "api_url": self.forge.url}
        github = {**self.event, "token": "the-token", **own}
        return {**contexts, "github": github, "vars": self.variables, "secrets": self.secrets}

    def _variables(self, declared: Mapping[str, Any], contexts: Mapping[str, Any]) -> dict[str, str]:
        return {key: as_text(self._fill(each, contexts)) for key, each in declared.items()}

    def steps(self, job: str) -> list[tuple[str, int]]:
        """The steps of a job that ran, with their exit codes."""
        return [(each.step, each.code) for each in self.ran if each.job == job]

    def record(self) -> str:
        """Everything that ran, as the forge would show it."""
        return "\n".join(f"== {each.job}: {each.step}\n{each.text}== exit code {each.code}" for each in self.ran)


@dataclass
class _Outcome:
    contexts: dict[str, Any]
    ok: bool = True


class _Machine:
    """The files through which the steps of a job talk to GitHub."""

    def __init__(self, home: Path, workspace: Path) -> None:
        self.home, self._workspace = home, workspace
        home.mkdir()
        for name in ("env", "path", "output", "summary"):
            (home / name).touch()
        self.environment: dict[str, str] = {}

    def read(self, name: str) -> str:
        return (self.home / name).read_text()

    def begin(self) -> None:
        (self.home / "output").write_text("")

    def finish(self) -> dict[str, str]:
        """Take over what a step has set. Returns: its outputs."""
        self.environment |= dict(line.split("=", 1) for line in self.read("env").splitlines())
        (self.home / "env").write_text("")
        return dict(line.split("=", 1) for line in self.read("output").splitlines())

    def variables(self, api: str, action: str) -> dict[str, str]:
        path = os.pathsep.join([*reversed(self.read("path").splitlines()), self.environment["PATH"]])
        return {
            **self.environment,
            "PATH": path,
            "RUNNER_TEMP": str(self.home),
            "GITHUB_WORKSPACE": str(self._workspace),
            "GITHUB_ACTION_PATH": action,
            "GITHUB_API_URL": api,
            "GITHUB_REPOSITORY": "ops/fleet",
            "GITHUB_REF_NAME": "main",
            "GITHUB_WORKFLOW_REF": "ops/fleet/.github/workflows/fleet.yml@refs/heads/main",
            **{f"GITHUB_{name.upper()}": str(self.home / name) for name in ("env", "path", "output")},
            "GITHUB_STEP_SUMMARY": str(self.home / "summary"),
        }


def weaknesses(content: Mapping[str, Any]) -> Iterator[str]:
    """What a workflow, or an action, does with secrets and with the programs of others that it should not do."""
    if _SECRET.search(str(content.get("env", {}))):
        yield "a secret is in the environment of all jobs"
    if "runs" in content:
        yield from _of_steps("the action", content["runs"]["steps"])
    for name, job in content.get("jobs", {}).items():
        outside = {key: value for key, value in job.items() if key != "steps"}
        if _SECRET.search(str(outside)):
            yield f"job {name}: a secret is in the environment of all its steps"
        if "uses" in job and not job["uses"].startswith("./"):
            yield f"job {name}: {job['uses']} is not pinned by commit"
        yield from _of_steps(f"job {name}", job.get("steps", ()))


def _of_steps(where: str, steps: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    had_secrets = False
    for step in steps:
        what, used, script = f"{where}, step {step.get('name', '?')}", step.get("uses", "./"), step.get("run", "")
        has_secrets = bool(_SECRET.search(str(step)))
        had_secrets |= has_secrets
        if used != "./" and not _PINNED.fullmatch(used):
            yield f"{what}: {used} is not pinned by commit"
        if _SECRET.search(script):
            yield f"{what}: a secret is part of a script"
        if has_secrets and ("uses" in step or _SETUP in script):
            yield f"{what}: a secret reaches a program of others"
        if had_secrets and ("uses" in step or _SETUP in script):
            yield f"{what}: a program of others comes after a secret was there"
        yield from (f"{what}: {line.strip()}" for line in script.splitlines() if _is_unhashed(line))


def _is_unhashed(line: str) -> bool:
    return bool(_INSTALLS.search(line)) and "--require-hashes" not in line


def load(file: Path) -> Any:
    """A workflow. YAML 1.1 reads its key `on` as true."""
    content = yaml.safe_load(file.read_text())
    return {("on" if key is True else key): value for key, value in content.items()}
