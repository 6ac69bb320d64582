"""From a file to a checked fleet and its plans. One run reports all problems of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tenantry.fleet.blocks import check_blocks
from tenantry.fleet.fleet import Fleet, diagnose, neighbours
from tenantry.fleet.rules import check_rules, check_warnings
from tenantry.fleet.shape import check_shape
from tenantry.fleet.templates import Once, is_follow_up, with_filled_selectors, with_templates
from tenantry.grants.frames import NO_VALUE, filled
from tenantry.messages.data import texts_and_keys
from tenantry.messages.errors import MAX_PROBLEMS, InvalidFleet, NotConfined, Problem, first_of, sorted_once
from tenantry.messages.redact import kind_of
from tenantry.messages.text import joined
from tenantry.plan.plan import Plan, collisions, plan
from tenantry.source.include import read_all
from tenantry.source.parse import Reader, bytes_of
from tenantry.source.parsed_file import ParsedFile


def load_fleet(file: Path, reader: Reader = bytes_of) -> Fleet:
    """Read and check a fleet with its included files, except for problems that only the plan of an environment shows.

    reader: what gives the bytes of each file.
    Raises: InvalidFleet: all problems of the files; Refused: the file cannot be read.
    """
    return fleet_of(filled(read_all(file, reader)))


def fleet_of(source: ParsedFile) -> Fleet:
    """Check a parsed file. Raises: InvalidFleet: includes the problems that planning finds, so that one run reports all."""
    source = with_templates(source)
    secrets = tuple(diagnose(source, first_of(Once(source)(_pasted_secrets(source.data)))))
    chosen, unknown = with_filled_selectors(source)
    fleet, problems = _checked(chosen, tuple(Once(source)(unknown)), known=bool(secrets))
    if not (secrets or problems) and fleet:
        return fleet
    # A secret in the file must be removed first, so its other problems are not reported.
    places = {secret.location for secret in secrets}
    raise InvalidFleet([*secrets, *(problem for problem in problems if problem.location not in places)])


_REVOKE = "remove it, and revoke it; declare 'credentials', whose values are set in the stack's secret config"


def _pasted_secrets(data: dict[str, Any]) -> Iterator[Problem]:
    """A finding for every key or value of a file's data that certainly holds a secret: anyone who can read the repository or the
    plan could use it. `messages.redact` keeps possible secrets out of messages.
    """
    # Nearly every file holds none, and one look at all of its text is much quicker than one at each part.
    places = tuple(texts_and_keys(data))
    if kind_of("\n".join(text for _, text, _ in places)) is not None:
        for path, text, at_key in places:
            if kind := kind_of(text):
                message = f"this looks like {kind}, which anyone who reads the file or the plan could use"
                yield Problem(path, "secret-in-file", message, fix=_REVOKE, at_key=at_key)


def _checked(source: ParsedFile, unknown: Sequence[Problem], *, known: bool) -> tuple[Fleet | None, list[Problem]]:
    """The fleet, or None if its structure is wrong, and its problems. If there are any, they include those of planning.

    Args: unknown: placeholders of selectors; known: whether there are other problems already.
    """
    once = Once(source)
    checked = check_shape(source.data, first_of(once(check_blocks(source.data))), once)
    nulls = {problem.path for problem in source.problems if problem.code == NO_VALUE}
    findings = [finding for finding in checked.findings if not (is_follow_up(source, finding) or finding.path in nulls)]
    # Where a piece of the file cannot be read, what names its templates is no further problem.
    of_names = () if source.lacks_pieces else (*unknown, *source.template_findings)
    problems = [*source.problems, *diagnose(source, (*of_names, *findings))]
    if checked.document is None or unknown or source.lacks_pieces or source.template_findings:
        return None, problems
    fleet = Fleet(checked.document, source, checked.left_out)
    findings_of_rules = first_of(once(check_rules(fleet)))
    problems += fleet.diagnose(findings_of_rules)
    # If clusters or environments are wrong, a plan would only report the same problems again.
    if (known or problems) and not any(
        finding.path[0] in ("environments", "clusters") for finding in findings_of_rules
    ):
        problems += _plan_all(replace(fleet, known_problems=True))[1]
    return fleet, problems


def _confined(fleet: Fleet, planned: Plan) -> Plan:
    """The plan, if no tenant with a team's file leaves its frame in it. Raises: NotConfined."""
    if (frame := fleet.once(("frame",), (), lambda: _frame_of(fleet))) is None:
        return planned
    from tenantry.grants.confined.escapes import escapes  # most fleets have no files of teams, and need none of it

    tenants = dict.fromkeys(placement.tenant for placement in planned.placements)
    adopting = [tenant for tenant in tenants if fleet.document.tenants[tenant].adopt]
    if reasons := tuple(escapes(frame, planned.environment, planned.objects, adopting, sorted(planned.off))):
        raise NotConfined(planned.environment, reasons)
    return planned


def _frame_of(fleet: Fleet) -> Fleet | None:
    """The fleet as the main file alone declares it; None: no team has a file."""
    if fleet.source.frame is None:
        return None
    source = with_filled_selectors(fleet.source.frame)[0]
    checked = check_shape(source.data, first_of(check_blocks(source.data)))
    assert checked.document, "the main file is sound, and its frame is not"
    return Fleet(checked.document, source, checked.left_out)


def warnings_of(fleet: Fleet) -> tuple[Problem, ...]:
    """The warnings about a valid fleet, sorted by place and limited in number."""
    return sorted_once(fleet.diagnose(first_of(check_warnings(fleet))))[:MAX_PROBLEMS]


def plan_one(fleet: Fleet, environment: str) -> Plan:
    """The plan of one environment, after checking that it shares no object with other environments.

    Raises: InvalidFleet: the problems of all of them; Refused: the environment does not exist.
    """
    planned = _confined(fleet, plan(fleet, environment))
    beside = neighbours(fleet, environment)
    if findings := tuple(collisions(fleet, (planned, *(plan(fleet, environment) for environment in beside)))):
        raise fleet.invalid(findings)
    return planned


def plan_all(fleet: Fleet) -> dict[str, Plan]:
    """The plan of every environment, in their order. Raises: InvalidFleet: the problems of all of them."""
    plans, problems = _plan_all(fleet)
    if problems:
        raise InvalidFleet(problems)
    return {environment: _confined(fleet, planned) for environment, planned in plans.items()}


def _plan_all(fleet: Fleet) -> tuple[dict[str, Plan], list[Problem]]:
    plans: dict[str, Plan] = {}
    problems: list[Problem] = []
    for environment in fleet.in_order():
        try:
            plans[environment] = plan(fleet, environment)
        except InvalidFleet as invalid:
            problems += invalid.diagnostics
    problems += fleet.diagnose(collisions(fleet, plans.values()))
    return plans, list(joined(problems))
