"""Builds and finds the programs that Tenantry needs and that cannot be installed as Python packages.

`catalog` lists them, `build` builds them, `locate` says where they lie. The package stands alone: it knows nothing of fleets.
"""

import sys

# Here, because every `python -m tools.<module>` passes here first, and the modules themselves may use what 3.11 offers.
if sys.version_info < (3, 11):  # noqa: UP036  too old an interpreter is the case it is for
    sys.stderr.write(
        "error: Python 3.11 or newer is needed, found %d.%d at %s\n"  # noqa: UP031  has to run on any Python
        "  fix: use .venv/bin/python, or install a newer one (https://www.python.org/downloads/)\n"
        % (sys.version_info[0], sys.version_info[1], sys.executable)
    )
    raise SystemExit(2)
