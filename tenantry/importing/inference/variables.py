"""Variables of environments and clusters, for what differs in a part of the file that has no overrides."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from tenantry.importing.inference.overlay import Place, Variable


class Variables:
    """What was declared so far, by environment and by cluster."""

    def __init__(self) -> None:
        self.environments: dict[str, dict[str, str]] = defaultdict(dict)
        self.clusters: dict[str, dict[str, str]] = defaultdict(dict)
        self._names: set[str] = set()

    def named(self, *parts: str) -> Variable:
        """What declares variables for a part of the file; parts: of their names."""
        stem = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(parts)).strip("_")
        stem = stem if stem[:1].isalpha() else f"v_{stem}"
        return lambda values: self._declare(stem, values)

    def _declare(self, stem: str, values: Mapping[Place, str]) -> str | None:
        if any(each in text for text in values.values() for each in "{}"):
            return None
        for group, key in ((self.environments, "environment"), (self.clusters, "cluster")):
            found: dict[str, set[str]] = defaultdict(set)
            for place, text in values.items():
                found[getattr(place, key)].add(text)
            if all(len(each) == 1 for each in found.values()):
                name = self._free(stem)
                for owner, texts in found.items():
                    group[owner][name] = texts.pop()
                return f"{{{name}}}"
        return None

    def _free(self, stem: str) -> str:
        name, count = stem, 1
        while name in self._names:
            count += 1
            name = f"{stem}_{count}"
        self._names.add(name)
        return name
