"""Inputs designed to take time or memory, and what each takes in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.hostile.case import FLEET, FRAME, Case
from tests.hostile.outcome import Outcome

_APP = "      a{0}: {{kustomize: {{source: {1}, path: ./}}, dependsOn: [{2}]}}\n"
_HEAD = FLEET[: FLEET.index("      web:")]
_MEGABYTE = 1_000_000

_RAW: dict[str, Callable[[], str]] = {
    "a-text-of-10-mb": lambda: f"{FRAME}include: [{'x' * 10 * _MEGABYTE}]\n",
    "a-version-of-10-mb": lambda: f"apiVersion: {'x' * 10 * _MEGABYTE}\n",
    "a-key-of-10-mb": lambda: f'{FRAME}? "{"x" * 10 * _MEGABYTE}"\n: 1\n',
    "a-tag-of-10-mb": lambda: f"a: !{'x' * 10 * _MEGABYTE} 1\n",
    "an-integer-of-10-mb": lambda: f"a: {'1' * 10 * _MEGABYTE}\n",
    "a-decimal-of-10-mb": lambda: f"a: 1.{'1' * 10 * _MEGABYTE}\n",
    "a-hexadecimal-of-10-mb": lambda: f"a: 0x{'f' * 10 * _MEGABYTE}\n",
    "an-octal-of-10-mb": lambda: f"a: 0{'1' * 10 * _MEGABYTE}\n",
    "comments-of-20-mb": lambda: "#" * 20 * _MEGABYTE,
    "empty-lines-of-5-mb": lambda: "\n" * 5 * _MEGABYTE + "a: [",
    "a-file-that-is-too-large": lambda: "#" * 33 * 1024 * 1024,
    "100000-unknown-keys": lambda: FRAME + "".join(f"key{number}: 1\n" for number in range(100_000)),
    "100000-times-the-same-key": lambda: "a: 1\n" * 100_000,
    "100000-anchors": lambda: "".join(f"a{number}: &a{number} 1\n" for number in range(100_000)),
    "300000-nulls-in-a-list": lambda: f"a: [{','.join(['~'] * 300_000)}]\n",
    "a-million-aliases": lambda: f"a: &a [1, 2, 3]\nb: [{'*a,' * _MEGABYTE}]\n",
    "a-billion-laughs": lambda: (
        "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
    ),
    "a-million-open-brackets": lambda: "a: " + "[" * _MEGABYTE,
    "a-million-dashes": lambda: "- " * _MEGABYTE + "a",
    "50000-tenants-that-are-none": lambda: f"{FRAME}tenants:\n" + "".join(f"  t{n}: 1\n" for n in range(50_000)),
    "50000-labels-that-are-none": lambda: (
        f"{FRAME}defaults:\n  labels:\n" + "".join(f"    'b ad{n}': x\n" for n in range(50_000))
    ),
    "100000-unknown-clusters": lambda: (
        f"{FRAME}defaults: {{clusters: {{names: [{','.join(f'c{n}' for n in range(100_000))}]}}}}\n"
    ),
    "3000-clusters-of-unknown-environments": lambda: (
        FRAME.replace("{hub: {environments: [dev]}}", "\n  hub: {environments: [dev]}")
        + "".join(f"  c{n}: {{environments: [nope{n}]}}\n" for n in range(3000))
    ),
    "a-chain-of-3000-environments": lambda: (
        "apiVersion: tenantry/v1\nenvironments:\n  e0: {management: hub}\n"
        + "".join(f"  e{n}: {{extends: e{n - 1}}}\n" for n in range(1, 3000))
        + "clusters: {hub: {environments: [e0]}}\n"
    ),
    "a-circle-of-2000-environments": lambda: (
        "apiVersion: tenantry/v1\nenvironments:\n"
        + "".join(f"  e{n}: {{management: hub, after: e{(n + 1) % 2000}}}\n" for n in range(2000))
        + "clusters: {hub: {environments: [e0]}}\n"
    ),
    "a-circle-of-2000-apps": lambda: (
        _HEAD + "".join(_APP.format(n, "manifests", f"a{(n + 1) % 2000}") for n in range(2000))
    ),
    "2000-apps-of-unknown-sources": lambda: _HEAD + "".join(_APP.format(n, f"q{n}", "") for n in range(2000)),
    "300000-unknown-placeholders": lambda: FLEET.replace("./web", f"'{''.join(f'{{v{n}}}' for n in range(300_000))}'"),
    "half-of-a-private-key-200000-times": lambda: f"{FRAME}x: '{'-----BEGIN PRIVATE KEY-----' * 200_000}'\n",
    "half-of-a-token-500000-times": lambda: f"{FRAME}x: '{'eyJabcdefgh' * 500_000}'\n",
    "half-of-a-url-500000-times": lambda: f"{FRAME}x: '{'://::' * 500_000}'\n",
}

CASES = tuple(_RAW)
"""The names of the cases; together their texts take hundreds of megabytes."""


def case(name: str) -> Case:
    return Case(name, _RAW[name]().encode())


_CHILD = """\
import re, sys, time
from pathlib import Path
from tenantry.cli.app import run
code = run(["--file", sys.argv[1], "validate"])
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())
Path(sys.argv[2]).write_text(f"{peak[1]} {time.process_time()}")
sys.exit(code)
"""


_PATIENCE = 600
"""Seconds of the clock until a process counts as one that hangs; how much it may work is bounded otherwise."""


class Measured(NamedTuple):
    """megabytes: the most that was resident at a time."""

    outcome: Outcome
    megabytes: int


def measured(file: Path) -> Measured:
    """What `tenantry validate` says of a file, and takes, interpreter included; seconds are the processor's.

    Raises: TimeoutExpired: it hangs.
    """
    figures = file.with_name("figures")
    ended = subprocess.run(
        [sys.executable, "-c", _CHILD, str(file), str(figures)],
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE,
    )
    kilobytes, seconds = figures.read_text().split()
    return Measured(Outcome(ended.returncode, ended.stdout + ended.stderr, float(seconds)), int(kilobytes) // 1024)
