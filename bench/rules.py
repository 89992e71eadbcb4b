# bench/rules.py: the rules and sentences that bench/schedules.py asks about.
#
# SPDX-License-Identifier: MIT
"""Common rules, hard ones, and random ones that nobody would write."""
import os
import random

CORPORA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "english", "corpora")
SEED = 5545
DAYS = "MO TU WE TH FR SA SU".split()
ZONES = ("", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tehran")
AFTERS = ("1990-01-01T00:00:00", "2027-02-03T04:05:06", "2300-07-01T12:00:00", "9990-12-31T23:59:59")

# What people schedule.
COMMON = ("FREQ=DAILY;BYHOUR=9;BYMINUTE=0", "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0", "FREQ=HOURLY",
          "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=8,17;BYMINUTE=30", "FREQ=MONTHLY;BYMONTHDAY=1",
          "FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=18", "FREQ=MONTHLY;BYDAY=1MO", "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=16",
          "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR;BYHOUR=15",
          "FREQ=DAILY;INTERVAL=3", "FREQ=MINUTELY;INTERVAL=15", "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=15",
          "FREQ=MINUTELY;INTERVAL=5;BYHOUR=9,10,11,12,13,14,15,16;BYDAY=MO,TU,WE,TH,FR",
          "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "FREQ=SECONDLY;INTERVAL=30")

# What a library that walks never comes back from: met once in centuries, or never.
HARD = ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;INTERVAL=7;BYDAY=MO", "FREQ=SECONDLY;INTERVAL=86399;BYHOUR=5;"
        "BYMINUTE=0;BYSECOND=0", "FREQ=SECONDLY;INTERVAL=86400;BYHOUR=3", "FREQ=MINUTELY;INTERVAL=1441;BYHOUR=0;BYMINUTE=0",
        "FREQ=HOURLY;INTERVAL=49;BYHOUR=3;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU", "FREQ=YEARLY;INTERVAL=399;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=YEARLY;INTERVAL=397;BYWEEKNO=53;BYDAY=SU;BYMONTH=1;BYMONTHDAY=3", "FREQ=MONTHLY;INTERVAL=4799;BYMONTHDAY=31",
        "FREQ=WEEKLY;INTERVAL=20869;BYDAY=MO;BYMONTH=2", "FREQ=DAILY;INTERVAL=146096;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=DAILY;INTERVAL=5;BYMONTH=2;BYMONTHDAY=29;BYDAY=TH", "FREQ=MONTHLY;BYDAY=MO;BYMONTHDAY=13;BYSETPOS=2",
        "FREQ=SECONDLY;INTERVAL=100003;BYMONTH=2;BYMONTHDAY=29;BYHOUR=0;BYMINUTE=0;BYSECOND=7",
        "FREQ=SECONDLY;INTERVAL=7919;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "FREQ=SECONDLY;INTERVAL=2147483647;BYDAY=MO;BYHOUR=5",
        "FREQ=MINUTELY;INTERVAL=1000003;BYMONTHDAY=31;BYMONTH=12", "FREQ=SECONDLY;INTERVAL=43201;BYMONTH=2;BYMONTHDAY=29;"
        "BYHOUR=1,2,3,4,5;BYMINUTE=7;BYSECOND=11", "FREQ=SECONDLY;INTERVAL=3607;BYHOUR=23;BYMINUTE=59;BYSECOND=59;BYMONTH=2;"
        "BYMONTHDAY=29;BYDAY=SA")


def line(rule, start="2025-01-01T09:30:00", zone="", after="2027-02-03T04:05:06"):
    return "\t".join((start, zone, rule, after))


def pick(rng, low, high, most):
    return ",".join(str(n) for n in sorted(rng.sample(range(low, high + 1), rng.randint(1, most))))


def random_rule(rng):
    freq = rng.choice("SECONDLY MINUTELY HOURLY DAILY WEEKLY MONTHLY YEARLY".split())
    parts = [f"FREQ={freq}", f"INTERVAL={rng.choice((1, 2, 7, 28, 97, 399, rng.randint(1, 5000), rng.randint(1, 200000)))}"]
    for name, low, high, often in (("BYMONTH", 1, 12, .4), ("BYMONTHDAY", 1, 31, .4), ("BYHOUR", 0, 23, .4),
                                   ("BYMINUTE", 0, 59, .4), ("BYSECOND", 0, 59, .4)):
        if rng.random() < often and not (freq == "WEEKLY" and name == "BYMONTHDAY"):
            parts.append(f"{name}={pick(rng, low, high, 3)}")
    if rng.random() < .4:
        parts.append("BYDAY=" + ",".join(rng.sample(DAYS, rng.randint(1, 3))))
    if len(parts) > 2 and rng.random() < .2:
        parts.append(f"BYSETPOS={rng.choice((1, -1, 2, -3, 366))}")
    return ";".join(parts)


def random_lines(count):
    rng = random.Random(SEED)
    return [line(random_rule(rng), f"{rng.randint(1980, 2060)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}T"
                 f"0{rng.randint(0, 9)}:{rng.randint(10, 59)}:{rng.randint(10, 59)}", rng.choice(ZONES), rng.choice(AFTERS))
            for _ in range(count)]


def hard_lines():
    return [line(rule, zone=zone, after=after) for rule in HARD for zone in ZONES for after in AFTERS]


def sentences():
    """now, zone, text of each row of the corpora."""
    for name in ("nl_schedules.tsv", "english_own.tsv"):
        with open(os.path.join(CORPORA, name), encoding="utf-8") as table:
            for row in list(table)[1:]:
                fields = row.rstrip("\n").split("\t")
                if len(fields) > 3 and not row.startswith("#"):
                    yield "\t".join(fields[1:4])
