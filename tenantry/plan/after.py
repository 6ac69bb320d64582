"""The gate of an environment: its changes wait until the environment before it runs them.

Called by: the plan. What the environment before has to show is in `cluster.proof`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tenantry.fleet.fleet import Fleet
from tenantry.model.scalars import seconds_of


@dataclass(frozen=True, slots=True)
class After:
    """environment: the one before. refuses: whether a change that it does not run is refused; otherwise there is a warning.

    soak: how long it has to have been ready, as written; "": ready is enough.
    """

    environment: str
    refuses: bool = True
    soak: str = ""

    @property
    def seconds(self) -> float:
        return seconds_of(self.soak)

    @property
    def gate(self) -> str:
        """The key `gate`, as the file has it."""
        return "refuse" if self.refuses else "warn"

    def is_weaker_than(self, other: After) -> bool:
        """Whether it lets changes through that the other gate holds back."""
        return self.refuses < other.refuses or self.seconds < other.seconds

    def __str__(self) -> str:
        """As a value in a difference: `dev (refuse, soak 1h)`."""
        soak = f", soak {self.soak}" if self.soak else ""
        return f"{self.environment} ({'refuse' if self.refuses else 'warn'}{soak})"


def after_of(fleet: Fleet, environment: str) -> After | None:
    """The gate of an environment; None: it has none."""
    declared = fleet.environments[environment].after
    if declared is None or declared.gate is None:
        return None
    return After(declared.environment, declared.gate == "refuse", declared.soak or "")


def in_words(after: After) -> str:
    """Such as: changes of apps wait until dev runs them and has been ready for 1h."""
    ready = f"has been ready for {after.soak}" if after.soak else "is ready"
    runs = f"until {after.environment} runs them and {ready}"
    return f"changes of apps wait {runs}" if after.refuses else f"changes of apps get a warning {runs}"
