"""Windows: when changes may begin."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from tenantry.messages.redact import shorten
from tenantry.model.scalars import refusal
from tenantry.model.strict import Model, OneOf

WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = "|".join(WEEK)
_DAYS = re.compile(rf"({_DAY})(-({_DAY}))?")
_HOURS = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)")
_DATES = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(/[0-9]{4}-[0-9]{2}-[0-9]{2})?")
_A_DATE = "write a day such as '2026-12-24', or the first and the last one: '2026-12-20/2027-01-06'"


def _days(value: str) -> str:
    if not _DAYS.fullmatch(value):
        text = f"'{shorten(value)}' is not a day of the week, nor several"
        raise refusal("bad-days", text, fix="write a day such as 'mon', or the first and the last one: 'mon-thu'")
    return value


def _hours(value: str) -> str:
    if not _HOURS.fullmatch(value) or len(set(value.split("-"))) == 1:
        text = f"'{shorten(value)}' is not a time of the day"
        raise refusal("bad-hours", text, fix="write the begin and the end, such as '09:00-16:00'")
    return value


def _dates(value: str) -> str:
    if not _DATES.fullmatch(value):
        raise refusal("bad-dates", f"'{shorten(value)}' is neither a day nor a span of days", fix=_A_DATE)
    try:
        first, last = span_of(value)
    except ValueError:
        raise refusal("bad-dates", f"'{value}' has a day that no calendar has", fix=_A_DATE) from None
    if last < first:
        raise refusal("bad-dates", f"'{value}' ends before it begins", fix=_A_DATE)
    return value


def span_of(dates: str) -> tuple[date, date]:
    """The first and the last day. Raises: ValueError: a day is in no calendar."""
    first, _, last = dates.partition("/")
    return date.fromisoformat(first), date.fromisoformat(last or first)


def _time_zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (KeyError, ValueError, OSError):  # not found, outside of the database, a directory
        fix = "write the name of a zone such as 'Europe/Berlin', or 'UTC'"
        raise refusal("bad-time-zone", f"there is no time zone '{shorten(value)}'", fix=fix) from None
    return value


def _schema(pattern: re.Pattern[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": f"^({pattern.pattern})$"})


Days = Annotated[str, AfterValidator(_days), _schema(_DAYS)]
"""A day of the week, or the first and the last one of several, such as `mon-thu`."""
Hours = Annotated[str, AfterValidator(_hours), _schema(_HOURS)]
"""Two times of the day, such as `09:00-16:00`."""
Dates = Annotated[str, AfterValidator(_dates), _schema(_DATES)]
"""A day, or the first and the last one of several, such as `2026-12-20/2027-01-06`."""


class Times(Model):
    """Times: those that all of the given keys name."""

    days: Annotated[list[Days], Field(min_length=1)] | None = None
    """Days of the week: `mon`, or the first and the last one, such as `mon-thu`. Default: each day."""
    hours: Hours | None = None
    """The begin and the end, such as `"09:00-16:00"`. From `"22:00-04:00"` the hours after midnight belong to the day before.
    Default: the whole day."""
    dates: Dates | None = None
    """A day, or the first and the last one, such as `2026-12-20/2027-01-06`. Default: each date."""

    @model_validator(mode="after")
    def _any(self) -> Times:
        if not (self.days or self.hours or self.dates):
            raise refusal("empty", "names no time", fix="add 'days:', 'hours:' or 'dates:'", of_entry=True)
        return self


class Window(OneOf):
    """When changes may begin, for environments, groups and clusters that name it in `windows`.

    Of several, one with `allow` has to be open, if there is any, and none with `deny` may shut.
    """

    one_of = ("allow", "deny")

    allow: Times | None = None
    """Changes begin at these times only."""
    deny: Times | None = None
    """No change begins at these times."""
    timeZone: Annotated[str, AfterValidator(_time_zone)] = "UTC"
    """The time zone of the times, such as `Europe/Berlin`."""
