# tests/tools/test_embed_sql.py: what statements share is expanded, and what is unknown is an error (tools/embed_sql.py).
#
# SPDX-License-Identifier: MIT
"""test_embed_sql.py: speaks TAP."""
import os
import re
import subprocess
import sys
import tempfile

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/embed_sql.py")

TABLE = """\
FIELD(ORDER,         ID,    id,     id,     FORM_ID)
FIELD(ORDER,         NAME,  type,   type,   FORM_TEXT)
FIELD(RARE_ORDER,    ID,    parent, parent, FORM_ID)
FIELD(FRESH,         STATE, state,  state,  FORM_WORD)
FIELD(STANDING,      I64,   token,  token,  FORM_NONE)
FIELD(RARE_STANDING, TEXT,  reason, reason, FORM_TEXT)
FIELD(END,           JSON,  result, result, FORM_VALUE)
FIELD(WANTED,        NAME,  type,   type,   "taskType")
FIELD(WANTED,        ID,    parent, parent, "parentId")
"""
HEADER = """\
enum task_state { TASK_QUEUED, TASK_RUNNING = 3, TASK_DONE };   /* enum other { LIES } */
enum task_outcome {
    OUTCOME_NONE,
    OUTCOME_LOST,
};
#define TASK_LOG_MAX (64 * KIB) /* kept */
"""

# claim: (dialect, the SQL, what the statement becomes). White space does not count.
EXPANDED = {
    "the columns of a part": ("postgres", "SELECT @order", "SELECT id, type, parent"),
    "columns with a prefix": ("postgres", "SELECT @order(b.)", "SELECT b.id, b.type, b.parent"),
    "ids and names have columns of their own in SQLite":
        ("sqlite", "SELECT @order(b.)", "SELECT b.k, b.lo, b.type_id, b.parent_hi, b.parent_lo"),
    "columns as parameters of SQLite": ("sqlite", "VALUES (:k, @standing(:))", "VALUES (:k, :state, :token, :reason)"),
    "another expression for one of the columns":
        ("sqlite", "SELECT @end(d., result = iif(a, b, d.result))", "SELECT iif(a, b, d.result)"),
    "columns that are set": ("sqlite", "SET @set_standing(:)", "SET state = :state, token = :token, reason = :reason"),
    "columns that are set, but for one":
        ("sqlite", "SET @set_standing(:, token = 1)", "SET state = :state, token = 1, reason = :reason"),
    "what a new task has: its fresh columns and nothing else": ("postgres", "SELECT @fresh, @blank", "SELECT state, 0, NULL"),
    "what a filter asks for": ("postgres", "WHERE @wanted(b.)",
                               "WHERE ($1::text IS NULL OR b.type = $1) AND ($2::uuid IS NULL OR b.parent = $2)"),
    "arrays, numbered by the embedder":
        ("postgres", "SELECT @rows(id uuid, @fresh) WHERE id = ANY ($id) LIMIT $most",
         "SELECT unnest($1::uuid[]) AS id, unnest($2::integer[]) AS state WHERE id = ANY ($1) LIMIT $3"),
    "arrays in a FROM, with their number":
        ("postgres", "SELECT * FROM @table(c: id uuid, text bytea, n)",
         "SELECT * FROM unnest($1::uuid[], $2::bytea[]) WITH ORDINALITY AS c (id, text, n)"),
    "parameters in the order that is said": ("postgres", "-- takes: b, a\nSELECT $a::bigint, $b, $a", "SELECT $2::bigint, $1, $2"),
    "the numbers of enums": ("sqlite", "SELECT :RUNNING, :DONE, :OUTCOME_LOST, :k", "SELECT 3, 4, 1, :k"),
    "limits": ("postgres", "SELECT $a::bigint - :LOG_MAX", "SELECT $1::bigint - 65536"),
    "nothing inside a text": ("sqlite", "SELECT '@order :RUNNING $1 it''s'", "SELECT '@order :RUNNING $1 it''s'"),
    "a fragment with an argument":
        ("sqlite", "-- fragment: among(place)\n-- One of them.\nplace.k IN (:RUNNING, f(place.k))\n-- name: x\nSELECT 1 WHERE @among(t)",
         "SELECT 1 WHERE t.k IN (3, f(t.k))"),
    "comments are left out": ("sqlite", "-- what it is\nSELECT 1\n  -- why\n  FROM t", "SELECT 1 FROM t"),
}

# claim: (dialect, the table, the SQL, what the error says)
REFUSED = {
    "an unknown list is refused where it stands": ("sqlite", TABLE, "-- x\nSELECT 1,\n @orders", r"x\.sql:3: .*@orders"),
    "an unknown number is refused where it stands": ("sqlite", TABLE, "-- x\nSELECT :QUEUE", r"x\.sql:2: .*:QUEUE"),
    "a list has no such column": ("sqlite", TABLE, "SELECT @end(d., res = 1)", r"x\.sql:1: .*no column res"),
    "a number by hand is refused": ("postgres", TABLE, "SELECT $1", r"x\.sql:1: .*has a name"),
    "a parameter that is not taken is refused": ("postgres", TABLE, "-- takes: a\nSELECT $b", r"x\.sql:1: .*no b"),
    "two statements of one name are refused":
        ("sqlite", TABLE, "-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;", r"x\.sql:4: a is also in"),
    "a statement without a name among others is refused":
        ("sqlite", TABLE, "SELECT 1;\n-- name: a\nSELECT 2;", r"x\.sql:1: .*before the first"),
    "a kind that nobody knows is refused": ("sqlite", "FIELD(ORDER, WORD, a, a)\n", "SELECT 1", r"x\.def:1: unknown kind WORD"),
    "a row of an earlier part is refused":
        ("sqlite", "FIELD(END, I64, a, a)\nFIELD(ORDER, I64, b, b)\n", "SELECT 1", r"x\.def:2: ORDER comes before END"),
    "a fragment wants its arguments":
        ("sqlite", TABLE, "-- fragment: f(a)\na\n-- name: x\nSELECT @f", r"x\.sql:4: .*takes 1 arguments, not 0"),
}


def embed(folder, dialect, table, sql, name="x"):
    """(status, what it complained about, the C it wrote)"""
    files = {"x.def": table, "x.h": HEADER, f"{name}.sql": sql}
    for file, text in files.items():
        with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
            out.write(text)
    run = subprocess.run([sys.executable, TOOL, dialect, "out.h", "out.c", *files], cwd=folder, capture_output=True, text=True)
    if run.returncode != 0:
        return run.returncode, run.stderr, ""
    with open(os.path.join(folder, "out.c"), encoding="utf-8") as source:
        return 0, "", source.read()


def statement_of(source):
    return " ".join(re.sub(r'\\n"|"', " ", "".join(re.findall(r'^    ("[^"].*\\n")', source, flags=re.M))).split())


def check_migration(folder):
    """Numbers have names in a migration, columns do not, and its comments stay."""
    _, _, source = embed(folder, "sqlite", TABLE, "-- 001_a.sql\nCREATE TABLE t (a CHECK (a = :DONE));", "001_a")
    refused, said, _ = embed(folder, "sqlite", TABLE, "CREATE TABLE t (@order);", "001_a")
    return "-- 001_a.sql" in source and "a = 4" in source and refused != 0 and "001_a.sql:1: a migration is history" in said


def main():
    number, failed = 0, 0
    print(f"1..{len(EXPANDED) + len(REFUSED) + 1}")

    def tell(claim, ok, why):
        nonlocal number, failed
        number, failed = number + 1, failed + (not ok)
        print("ok" if ok else f"# {why}\nnot ok", f"{number} - {claim}")

    for claim, (dialect, sql, wanted) in EXPANDED.items():
        with tempfile.TemporaryDirectory() as folder:
            _, said, source = embed(folder, dialect, TABLE, sql)
            got = statement_of(source)
            tell(claim, got == wanted, f"{got or said.strip()}, not {wanted}")
    for claim, (dialect, table, sql, wanted) in REFUSED.items():
        with tempfile.TemporaryDirectory() as folder:
            status, said, _ = embed(folder, dialect, table, sql)
            tell(claim, status != 0 and re.search(wanted, said), f"{status}: {said.strip()}, not {wanted}")
    with tempfile.TemporaryDirectory() as folder:
        tell("a migration is history", check_migration(folder), "it is not")
    return 1 if failed else 0


sys.exit(main())
