#!/usr/bin/env python3
# tests/schedule/calendar.py: what other software reads in our calendars.
#
# python3-icalendar reads the text, dateutil expands its rules, and the time zone is what the text
# says, not what this machine knows: the occurrences must be those of our own engine, on both sides
# of every change of the clocks.
#
# SPDX-License-Identifier: MIT
"""calendar.py PROGRAM: compares PROGRAM (calendar.c) with icalendar and dateutil and speaks TAP."""
import sys

sys.path.pop(0)  # this folder: the standard library has a calendar of its own

import bisect
import datetime
import io
import itertools
import subprocess
import zoneinfo

import icalendar
from dateutil import rrule, tz

EPOCH = datetime.datetime(1970, 1, 1)
SECOND = datetime.timedelta(seconds=1)
DAY, YEAR = datetime.timedelta(days=1), datetime.timedelta(days=365)
NOW = datetime.datetime(2027, 1, 15)
ZONES = ("Europe/Paris America/New_York Australia/Lord_Howe Africa/Casablanca Asia/Kathmandu "
         "Europe/Dublin America/Santiago Asia/Jerusalem Antarctica/Troll Africa/Cairo UTC").split()


def seconds(moment):
    return (moment - EPOCH) // SECOND


# ---- Our answer ----


class Case:
    """One recurrence, as calendar.c reads it."""

    def __init__(self, start, zone, rule="", exdates="", rdates="", gap="shift", fold="first", n=60):
        self.fields = [start, zone, rule, exdates, rdates, gap, fold, str(seconds(NOW)), str(n)]

    def line(self):
        return "\t".join(self.fields)


def ask(program, cases):
    """For each case the text, and our own occurrences."""
    lines = "".join(case.line() + "\n" for case in cases)
    done = subprocess.run([program], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    for answer in done.stdout.split(b"\n\n")[:-1]:
        text, _, times = answer.partition(b"\r\n=")
        yield text + b"\r\n", [int(t) for t in times.split(b",") if t]


# ---- Their answer ----


class Zone:
    """The offsets that a VTIMEZONE tells."""

    def __init__(self, component):
        turns = [turn for part in component.subcomponents for turn in self.turns_of(part)]
        turns.sort()
        self.at = [at for at, _, _ in turns]
        self.before = [before for _, before, _ in turns]
        self.after = [after for _, _, after in turns]

    @staticmethod
    def turns_of(part):
        before, after = part["TZOFFSETFROM"].td, part["TZOFFSETTO"].td
        start, walls = part["DTSTART"].dt, [part["DTSTART"].dt]
        if "RRULE" in part:
            rule = rrule.rrulestr(part["RRULE"].to_ical().decode(), dtstart=start)
            walls += list(rule.between(start, datetime.datetime(2060, 1, 1)))
        for dates in listed(part, "RDATE"):
            walls += [date.dt for date in dates.dts]
        return {(wall - before, before, after) for wall in walls}

    def offset(self, utc):
        i = bisect.bisect(self.at, utc) - 1
        return self.after[i] if i >= 0 else self.before[0]

    def utc(self, wall):
        """RFC 5545, 3.3.5: the first of two, and the offset before a gap."""
        first = bisect.bisect(self.at, wall - DAY)
        near = range(max(first - 1, 0), bisect.bisect(self.at, wall + DAY))
        offsets = {self.offset(wall - DAY)} | {self.after[i] for i in near}
        found = [wall - offset for offset in offsets if self.offset(wall - offset) == offset]
        if found:
            return min(found)
        i = next(i for i in near if self.at[i] + self.before[i] <= wall < self.at[i] + self.after[i])
        return wall - self.before[i]


def listed(component, name):
    value = component.get(name, [])
    return value if isinstance(value, list) else [value]


def instants(component, name, zones):
    """The instants of a property, and the naive walls that have one."""
    for prop in listed(component, name):
        moments = [moment.dt for moment in prop.dts] if hasattr(prop, "dts") else [prop.dt]
        for moment in moments:
            zone = prop.params.get("TZID")
            wall = moment.replace(tzinfo=None)
            yield zones[zone].utc(wall) if zone else wall


def read(text):
    """The zones, and the event or None."""
    calendar = icalendar.Calendar.from_ical(text)
    zones = {str(part["TZID"]): Zone(part) for part in calendar.walk("VTIMEZONE")}
    events = calendar.walk("VEVENT")
    return zones, events[0] if events else None


def expand(text, upto):
    """All occurrences up to a moment, in seconds."""
    zones, event = read(text)
    if event is None:
        return []
    zone = event["DTSTART"].params.get("TZID")
    start = event["DTSTART"].dt.replace(tzinfo=None)
    to_utc = zones[zone].utc if zone else lambda wall: wall
    found, until = {to_utc(start)}, upto
    if "RRULE" in event:
        parts = dict(event["RRULE"])
        if "UNTIL" in parts:
            until = min(upto, parts.pop("UNTIL")[0].replace(tzinfo=None))
        rule = rrule.rrulestr(icalendar.vRecur(parts).to_ical().decode(), dtstart=start)
        last = until + 2 * DAY
        walls = itertools.takewhile(lambda wall: wall <= last, rule)
        found |= {utc for utc in map(to_utc, walls) if utc <= until}
    found -= set(instants(event, "EXDATE", zones))
    found |= set(instants(event, "RDATE", zones)) - set(instants(event, "EXDATE", zones))
    return sorted(seconds(utc) for utc in found if utc <= upto)


# ---- Families ----


def in_a_gap(rule):
    """A start that does not exist, of rules with one time a day. With more of them a reader may
    take 03:00 for later than 02:30, where we know that 02:30 is 03:30 that day."""
    return () if "BYHOUR" in rule else ("2027-03-28T02:30:00",)


def nightly():
    """Times of the night on days around changes of the clocks, and long rules across them."""
    rules = ("FREQ=DAILY;BYHOUR=0,1,2,3;BYMINUTE=0,30", "FREQ=WEEKLY;BYDAY=SU",
             "FREQ=MONTHLY;BYDAY=-1SU", "FREQ=DAILY;COUNT=20", "FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU",
             "FREQ=DAILY;UNTIL=20270402T003000Z", "FREQ=MONTHLY;BYMONTHDAY=-1",
             "FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU", "FREQ=DAILY;UNTIL=20270401")
    starts = ("2026-10-20T02:30:00", "2027-03-01T02:30:00", "2027-10-31T01:45:00",
              "2027-11-07T01:30:00")
    for zone, rule in itertools.product(ZONES, rules):
        for start in starts + in_a_gap(rule):
            yield Case(start, zone, rule)


def choices():
    """Gaps and folds read otherwise than the RFC does."""
    rules = ("FREQ=DAILY;BYHOUR=0,1,2,3;BYMINUTE=0,30", "FREQ=DAILY", "FREQ=DAILY;COUNT=30",
             "FREQ=WEEKLY;BYDAY=SU")
    for zone, rule, gap, fold in itertools.product(ZONES, rules, ("shift", "skip"),
                                                   ("first", "last", "both")):
        for start in ("2027-03-10T02:30:00", "2027-10-25T01:30:00") + in_a_gap(rule):
            yield Case(start, zone, rule, gap=gap, fold=fold)


def elapsed():
    for zone, rule in itertools.product(ZONES, ("FREQ=HOURLY", "FREQ=MINUTELY;INTERVAL=20",
                                                "FREQ=HOURLY;INTERVAL=5;COUNT=30")):
        for start in ("2027-03-27T22:10:00", "2027-10-30T22:10:00", "2027-03-13T22:10:00"):
            yield Case(start, zone, rule)


def dates():
    for zone in ZONES:
        yield Case("2027-03-01T09:00:00", zone)
        yield Case("2027-10-31T01:30:00Z", zone)
        yield Case("2027-03-28T02:30:00", zone)
        yield Case("2027-03-01T09:00:00", zone, "FREQ=DAILY;COUNT=40",
                   "2027-03-01T09:00:00,2027-03-29T09:00:00,2027-03-14T13:00:00Z",
                   "2027-02-01T08:00:00,2027-03-28T02:30:00,2027-10-31T01:30:00Z")
        # The start does not match the rule; nothing but an RDATE is left of it; it never occurs.
        yield Case("2027-03-03T09:00:00", zone, "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TU")
        yield Case("2027-03-03T09:00:00", zone, "FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=1,4;INTERVAL=3")
        yield Case("2027-03-03T09:00:00", zone, "FREQ=DAILY;UNTIL=20270301T000000Z", "",
                   "2027-04-01T09:00:00")
        yield Case("2027-03-03T09:00:00", zone, "FREQ=DAILY;BYMONTHDAY=30;BYMONTH=2")


def wrong_times(program, family):
    cases = list(family())
    for case, (text, ours) in zip(cases, ask(program, cases)):
        ours = [at for at in ours if at < seconds(NOW + 10 * YEAR)]  # the zone is true so long
        theirs = expand(text, EPOCH + SECOND * (ours[-1] if ours else seconds(NOW + 5 * YEAR)))
        if theirs != ours:
            yield f"{case.line()}\n#   ours   {ours}\n#   theirs {theirs}"


def moments(zone):
    """Every few days, and both sides of each turn."""
    at = NOW - YEAR
    while at < NOW + 10 * YEAR:
        yield at
        at += datetime.timedelta(days=5, hours=7)
    for turn in zone.at:
        if NOW - YEAR <= turn < NOW + 10 * YEAR:
            yield from (turn - SECOND, turn)


def true_offset(zone, utc):
    return utc.replace(tzinfo=datetime.timezone.utc).astimezone(zone).utcoffset()


def wrong_offsets(name, text):
    zones, _ = read(text)
    true = zoneinfo.ZoneInfo(name)
    if name not in zones:  # in UTC, and rightly so
        return [] if true_offset(true, NOW) == datetime.timedelta() else [f"{name}: no zone"]
    return [f"{name} at {utc}" for utc in moments(zones[name])
            if zones[name].offset(utc) != true_offset(true, utc)][:1]


def wrong_zones(program, _):
    """Each zone that there is, as its text tells it from a year ago until ten years from now."""
    names = sorted(zoneinfo.available_timezones() - {"localtime", "Factory", "posixrules"})
    cases = [Case(NOW.isoformat(), name, "FREQ=DAILY", n=1) for name in names]
    for name, (text, _) in zip(names, ask(program, cases)):
        yield from wrong_offsets(name, text)


def wrong_readings(program, _):
    """dateutil and icalendar make time zones of their own of what they read."""
    cases = [Case("2027-03-01T09:00:00", name, "FREQ=DAILY", n=1) for name in ZONES]
    for name, (text, _) in zip(ZONES, ask(program, cases)):
        for part in icalendar.Calendar.from_ical(text).walk("VTIMEZONE"):
            theirs = (part.to_tz(), tz.tzical(io.StringIO(text.decode())).get(name))
            for utc in (NOW, NOW + YEAR / 2, NOW + 5 * YEAR, NOW + 9.5 * YEAR):
                true = true_offset(zoneinfo.ZoneInfo(name), utc)
                got = [true_offset(zone, utc) for zone in theirs]
                if got != [true, true]:
                    yield f"{name} at {utc}: {got}, not {true}"


CHECKS = [("nightly", wrong_times, nightly), ("choices", wrong_times, choices),
          ("elapsed", wrong_times, elapsed), ("dates", wrong_times, dates),
          ("all_zones", wrong_zones, None), ("made_zones", wrong_readings, None)]


def main():
    print(f"1..{len(CHECKS)}")
    for number, (name, check, family) in enumerate(CHECKS, 1):
        wrong = list(check(sys.argv[1], family))
        for complaint in wrong[:5]:
            print(f"# {complaint}")
        print(f"{'not ' if wrong else ''}ok {number} - {name}")


main()
