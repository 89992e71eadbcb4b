#!/usr/bin/env python3
# tests/schedule/differential.py: thousands of random rules, expanded by us and by python-dateutil.
#
# Each family of rules is one TAP test. The seed is fixed, so a failure comes again. Where dateutil
# reads a rule in another way than we do (see `known_difference`), the rule is left out; so is one
# that dateutil, which walks, does not answer within PATIENCE seconds of its own time.
#
# SPDX-License-Identifier: MIT
"""differential.py PROGRAM: compares PROGRAM (occurrences.c) with dateutil and speaks TAP."""
import sys

sys.path.pop(0)  # this folder: it has a calendar.py that dateutil would take for the library's

import datetime
import itertools
import random
import signal
import subprocess
import warnings
import zoneinfo

from dateutil import rrule as du

warnings.simplefilter("ignore")
SEED, N, PATIENCE = 5545, 7, .01
DAYS = "MO TU WE TH FR SA SU".split()
ZONES = ("Europe/Berlin America/New_York Australia/Lord_Howe Africa/Casablanca Asia/Kathmandu "
         "Pacific/Apia Europe/Dublin America/Sao_Paulo Asia/Tehran Antarctica/Troll").split()
SUB_DAILY = ("HOURLY", "MINUTELY", "SECONDLY")


class Case:
    """One rule with its start; `parts` are the rule's, in order."""

    def __init__(self, start, parts, zone="", after=None):
        self.start, self.parts, self.zone, self.after = start, dict(parts), zone, after

    def rule(self):
        return ";".join(f"{name}={value}" for name, value in self.parts.items())

    def line(self):
        after = self.after.isoformat() if self.after else ""
        return "\t".join((self.start.isoformat(), self.zone, self.rule(), after, str(N)))

    def numbers(self, name):
        return [int(n) for n in self.parts.get(name, "").split(",") if n]


def known_difference(case):
    """Why dateutil may rightly give another answer, or None."""
    parts = case.parts
    days = parts.get("BYDAY", "").split(",")
    numbered = [d for d in days if len(d) > 2]
    if "BYWEEKNO" in parts and "BYDAY" not in parts:
        return "a week without a weekday: dateutil takes all seven, we take the start's"
    if any(week in (1, 52, 53) or week < 0 for week in case.numbers("BYWEEKNO")):
        return "weeks that reach into another year"
    if numbered and len(numbered) < len(days):
        return "BYDAY=MO,1TU: dateutil wants a day to be both, we take either"
    if parts["FREQ"] == "WEEKLY" and "BYSETPOS" in parts \
            and DAYS[case.start.weekday()] != parts.get("WKST", "MO"):
        return "BYSETPOS in a first week that the start cuts: dateutil counts what is left of it"
    return None


# ---- Random rules ----


def pick(rng, low, high, most, signed=False):
    chosen = rng.sample(range(low, high + 1), rng.randint(1, min(most, high - low + 1)))
    return ",".join(str(n if not signed or rng.random() < .6 else -n) for n in chosen)


def random_start(rng):
    day = datetime.date(rng.randint(1970, 2060), 1, 1) + datetime.timedelta(rng.randrange(366))
    clock = rng.choice([(9, 0, 0), (0, 0, 0), (23, 59, 59), (2, 30, 0),
                        (rng.randrange(24), rng.randrange(60), rng.randrange(60))])
    return datetime.datetime.combine(day, datetime.time(*clock))


def random_date_parts(rng, freq, parts):
    if rng.random() < .3:
        parts["BYMONTH"] = pick(rng, 1, 12, 4)
    if freq != "WEEKLY" and rng.random() < .3:
        parts["BYMONTHDAY"] = pick(rng, 1, 31, 4, True)
    if freq == "YEARLY" and rng.random() < .15:
        parts["BYWEEKNO"] = pick(rng, 1, 53, 4, True)
    if freq not in ("DAILY", "WEEKLY", "MONTHLY") and rng.random() < .15:
        parts["BYYEARDAY"] = pick(rng, 1, 366, 20, True)
    if rng.random() < .4:
        days = rng.sample(DAYS, rng.randint(1, 4))
        if freq in ("MONTHLY", "YEARLY") and "BYWEEKNO" not in parts and rng.random() < .5:
            # Larger numbers within a month crash dateutil.
            far = "10 53 -20 -53".split() if freq == "YEARLY" and "BYMONTH" not in parts else []
            days = [rng.choice("1 2 3 4 5 -1 -2 -5".split() + far) + day for day in days]
        parts["BYDAY"] = ",".join(days)


def random_clock_parts(rng, parts):
    for name, high in (("BYHOUR", 23), ("BYMINUTE", 59), ("BYSECOND", 59)):
        if rng.random() < .25:
            parts[name] = pick(rng, 0, high, 5)


def random_parts(rng, freqs):
    freq = rng.choice(freqs)
    parts = {"FREQ": freq}
    if rng.random() < .5:
        parts["INTERVAL"] = str(rng.choice([1, 2, 3, 4, 5, 6, 7, 10, 12, 15, 20, 30, 45, 60, 90]))
    random_date_parts(rng, freq, parts)
    random_clock_parts(rng, parts)
    if len(set(parts) & {"BYDAY", "BYHOUR", "BYMINUTE", "BYSECOND", "BYMONTHDAY"}) > 0 \
            and rng.random() < .2:
        parts["BYSETPOS"] = pick(rng, 1, 4, 3, True)
    if rng.random() < .2:
        parts["WKST"] = rng.choice(DAYS)
    if rng.random() < .2:
        parts["COUNT"] = str(rng.randint(1, 12))
    return parts


# ---- The other answer ----


def horizon(case):
    """How far dateutil is asked to look: it walks, so less far for shorter steps."""
    years = 1 if case.parts["FREQ"] in SUB_DAILY else 12
    return (case.after or case.start) + datetime.timedelta(days=366 * years)


class TooSlow(Exception):
    """dateutil would walk on for seconds."""


def give_up(*_):
    raise TooSlow


def dateutil_walls(case, n):
    """The first n wall times up to the horizon."""
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        return walk_walls(case, n)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def walk_walls(case, n):
    try:
        rule = du.rrulestr(case.rule(), dtstart=case.start).replace(until=horizon(case))
        return list(itertools.islice(rule if case.after is None else rule.xafter(case.after), n))
    except ValueError as error:
        if "Invalid combination" in str(error) or "Invalid rrule" in str(error):
            return []  # dateutil noticed that it never matches
        raise


def as_text(moment):
    text = moment.isoformat()
    # Offsets of old days have seconds; expand.c writes hours and minutes.
    return text if len(text) <= 25 else text[:25]


def zoned(case, walls):
    """Wall times as instants: a gap has the offset before it, a fold is the first; each once."""
    zone, utc = zoneinfo.ZoneInfo(case.zone), datetime.timezone.utc
    instants = sorted({wall.replace(tzinfo=zone).astimezone(utc) for wall in walls})
    return [as_text(instant.astimezone(zone)) for instant in instants]


def matches(case, wall):
    """Does a wall time pass the BY parts of an elapsed rule?"""
    parts = case.parts
    checks = (("BYHOUR", wall.hour), ("BYMINUTE", wall.minute), ("BYMONTH", wall.month),
              ("BYMONTHDAY", wall.day))
    return all(name not in parts or value in case.numbers(name) for name, value in checks) \
        and ("BYDAY" not in parts or DAYS[wall.weekday()] in parts["BYDAY"].split(","))


def elapsed(case, n):
    """Steps of real time from the start, tested on the wall."""
    zone, utc = zoneinfo.ZoneInfo(case.zone), datetime.timezone.utc
    unit = {"HOURLY": 3600, "MINUTELY": 60}[case.parts["FREQ"]]
    step = datetime.timedelta(seconds=unit * int(case.parts.get("INTERVAL", 1)))
    at, found = case.start.replace(tzinfo=zone).astimezone(utc), []
    for _ in range(6000):
        wall = at.astimezone(zone)
        if matches(case, wall):
            found.append(as_text(wall))
        if len(found) == n:
            break
        at += step
    return found


# ---- Families ----


def floating(rng, freqs, count):
    for _ in range(count):
        case = Case(random_start(rng), random_parts(rng, freqs))
        if rng.random() < .3 and "COUNT" not in case.parts:
            case.after = case.start + datetime.timedelta(days=rng.randrange(300),
                                                         seconds=rng.randrange(86400))
        yield case, lambda case=case: [as_text(wall) for wall in dateutil_walls(case, N)]


def calendar_floating(rng):
    yield from floating(rng, ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"], 1300)


def elapsed_floating(rng):
    yield from floating(rng, list(SUB_DAILY), 300)


def calendar_zoned(rng):
    """Many times a night, so that gaps and folds are met."""
    for _ in range(300):
        parts = random_parts(rng, ["DAILY", "WEEKLY", "MONTHLY"])
        parts.pop("COUNT", None)  # dateutil counts wall times, we count instants
        parts["BYHOUR"] = pick(rng, 0, 4, 3)
        year = rng.choice([1986, 2011, 2018, 2022, 2025, 2026, 2037, 2045])
        start = datetime.datetime(year, rng.randint(1, 12), rng.randint(1, 28), 2, 30)
        case = Case(start, parts, rng.choice(ZONES))
        # A shifted time may pass the last of the list: take a few more, keep what is certain.
        yield case, lambda case=case: zoned(case, dateutil_walls(case, N + 60))[:N]


def elapsed_zoned(rng):
    for _ in range(200):
        parts = {"FREQ": rng.choice(["HOURLY", "MINUTELY"]),
                 "INTERVAL": str(rng.choice([1, 2, 3, 5, 7, 15, 20, 24, 45, 60, 90]))}
        for name, low, high in (("BYHOUR", 0, 23), ("BYMONTHDAY", 1, 31), ("BYMONTH", 1, 12)):
            if rng.random() < .3:
                parts[name] = pick(rng, low, high, 8)
        if parts["FREQ"] == "MINUTELY" and rng.random() < .3:
            parts["BYMINUTE"] = pick(rng, 0, 59, 20)
        if rng.random() < .3:
            parts["BYDAY"] = ",".join(rng.sample(DAYS, 3))
        start = datetime.datetime(rng.choice([2011, 2025]), rng.choice([3, 4, 10, 12]),
                                  rng.randint(24, 30), rng.randrange(24), rng.randrange(60))
        case = Case(start, parts, rng.choice(ZONES))
        yield case, lambda case=case: elapsed(case, N)


FAMILIES = [calendar_floating, elapsed_floating, calendar_zoned, elapsed_zoned]


def same(case, got, want):
    """`want` may stop at the horizon; then `got` may go on, but only behind it."""
    got = got.split(",") if got else []
    if len(want) < N and not (case.zone and case.parts["FREQ"] in SUB_DAILY):
        end = horizon(case).isoformat()
        got = [moment for moment in got if moment[:19] <= end]
    return got[:len(want)] == want and (len(got) == len(want) or bool(case.zone))


def run(program, family, number):
    rng = random.Random(SEED + number)
    cases, left_out, too_slow = [], 0, 0
    for case, other in family(rng):
        try:
            if known_difference(case):
                left_out += 1
            else:
                cases.append((case, other()))
        except TooSlow:
            too_slow += 1
    lines = "\n".join(case.line() for case, _ in cases) + "\n"
    answers = subprocess.run([program], input=lines, stdout=subprocess.PIPE, text=True,
                             check=True).stdout.split("\n")
    wrong = [(case, got, want) for (case, want), got in zip(cases, answers)
             if not same(case, got, want)]
    print(f"# {family.__name__}: {len(cases)} rules compared, {left_out} known differences, "
          f"{too_slow} too slow for dateutil")
    for case, got, want in wrong[:5]:
        print(f"# {case.line()}\n#   want {','.join(want)}\n#   got  {got}")
    print(f"{'not ' if wrong else ''}ok {number} - {family.__name__}")


def main():
    signal.signal(signal.SIGVTALRM, give_up)
    print(f"1..{len(FAMILIES)}")
    for number, family in enumerate(FAMILIES, 1):
        run(sys.argv[1], family, number)


main()
