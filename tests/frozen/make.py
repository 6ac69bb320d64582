"""Writes the corpus: `python -m tests.frozen.make [PART...]`. It is made once, from what is to be kept."""

from __future__ import annotations

import sys
import time

from tests.frozen.gather import INPUTS
from tests.frozen.outcomes import OUTCOMES
from tests.frozen.store import CORPUS, save, text_of


def main() -> None:
    for part, gather in INPUTS.items():
        if sys.argv[1:] and part not in sys.argv[1:]:
            continue
        cases = dict(gather())
        start = time.process_time()
        outcomes = {name: text_of(OUTCOMES[part](case)) for name, case in cases.items()}
        took = time.process_time() - start
        save(part, "inputs", {name: text_of(case) for name, case in cases.items()})
        save(part, "outcomes", outcomes)
        sizes = [(CORPUS / f"{part}.{kind}.xz").stat().st_size for kind in ("inputs", "outcomes")]
        print(f"{part}: {len(cases)} cases, {took:.1f} s, {sizes} bytes", flush=True)


if __name__ == "__main__":
    main()
