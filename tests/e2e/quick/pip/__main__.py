"""Stands before pip on the path of tests' programs: before each run Pulumi has it list all packages, which takes half a second.

The list is that of pip itself, made again when packages were added or removed; anything else pip does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path


def main(arguments: list[str]) -> int:
    pip = [sys.executable, "-m", "pip", *arguments]
    others = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each and each != str(HERE)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(others)}
    if arguments[:1] != ["list"]:
        return subprocess.run(pip, env=environment, check=False).returncode
    packages = Path(sysconfig.get_paths()["purelib"])
    kept = Path(sys.prefix) / f".listed-{packages.stat().st_mtime_ns}-{'_'.join(arguments)}"
    if not kept.exists():
        listed = subprocess.run(pip, env=environment, stdout=subprocess.PIPE, check=True).stdout
        made = kept.with_name(f"{kept.name}-{os.getpid()}")
        made.write_bytes(listed)
        made.replace(kept)  # several processes may list at a time
    sys.stdout.buffer.write(kept.read_bytes())
    return 0


HERE = Path(__file__).parents[1]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
