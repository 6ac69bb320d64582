"""Stand-ins for kustomize and helm, for tests without tools: each prints files, and notes how it was called."""

from __future__ import annotations

from pathlib import Path

KUSTOMIZE = """\
#!/bin/sh
PATH=/usr/bin:/bin  # it gets none, so that it can run nothing else
for directory; do :; done
echo "kustomize $*" >> "{log}"
if [ -e "$directory/broken" ]; then cat "$directory/broken" >&2; exit 1; fi
cat "$directory"/*.txt
"""
HELM = """\
#!/bin/sh
PATH=/usr/bin:/bin
for chart; do :; done
echo "helm $* PASSPHRASE=$PULUMI_CONFIG_PASSPHRASE" >> "{log}"
for each; do case $each in --values=*) values=${{each#--values=}} ;; esac; done
cat "$chart/templates/all.txt"
echo "data:"; sed 's/^/  /' "$values"
"""


def install(directory: Path) -> Path:
    """Put both into a directory for PATH; returns the file that they write their calls into."""
    directory.mkdir(exist_ok=True)
    log = directory / "calls"
    log.touch()
    for name, script in (("kustomize", KUSTOMIZE), ("helm", HELM)):
        program = directory / name
        program.write_text(script.format(log=log))
        program.chmod(0o755)
    return log
