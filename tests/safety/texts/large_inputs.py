"""Hostile inputs beside the texts of queries: parameters, pipeline files, rules, funnels and
statements, each as something that is read, checked and explained."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cereus
from cereus.language.registry import language
from cereus.spark.pipeline import Pipeline
from tests.safety.surfaces import EVENTS, LANGUAGES, SCHEMA, STREAM
from tests.safety.texts.families import MEGABYTE, WITH_CONDITION, nest, row

Work = Callable[[], object]


# ---------------------------------------------------------------- parameters

VALUES: dict[str, Any] = {
    "100,000 integers": list(range(100_000)),
    "100,000 texts": [f"t{n}" for n in range(100_000)],
    "100,000 fractions": [n / 7 for n in range(100_000)],
    "a set of 100,000": set(range(100_000)),
    "100,000 of two kinds": [n if n % 2 else f"t{n}" for n in range(100_000)],
    "an integer of 4,000 digits": 10**4_000,
    "a text of a megabyte": "x" * MEGABYTE,
    "lists in lists": [[1, 2]] * 1_000,
}
"""What stands after IN. All languages have their conditions from one place, so the many values are
given to the first, and texts once more to the one that is read in another way."""


def given(dialect: str, value: Any) -> Work:
    """A query with a value that is not in its text, compiled and explained."""
    column = "s" if isinstance(value, str) or "t0" in _some(value) else "x"
    test = f"{column} = :v" if isinstance(value, str | int) else f"{column} IN :v"
    return lambda: used(WITH_CONDITION[dialect](test), dialect, {"v": value})


def _some(value: Any) -> list[Any]:
    return list(value)[:2] if isinstance(value, list) else []


def used(text: str, dialect: str, params: dict[str, Any]) -> None:
    query = cereus.compile(text, dialect=dialect, params=params, schema=SCHEMA, stream=STREAM)
    query.explain()


def many_given(dialect: str) -> Work:
    text = WITH_CONDITION[dialect](row("x = :v#", " OR ")(3_000))
    return lambda: used(text, dialect, {f"v{n}": n for n in range(3_000)})


PARAMETERS: dict[str, Work] = {
    **{
        f"{dialect}, {name}": given(dialect, value)
        for dialect in LANGUAGES
        for name, value in VALUES.items()
        if dialect == "ceql" or (dialect, name) == ("match_recognize", "100,000 texts")
    },
    **{f"{dialect}, 3,000 parameters": many_given(dialect) for dialect in LANGUAGES},
    "a million parameters that the text does not have": lambda: used(
        "SELECT * WHERE A", "ceql", {f"v{n}": n for n in range(MEGABYTE)}
    ),
}

# ---------------------------------------------------------------- pipelines

HEAD = """mode = "batch"
[sources.orders]
format = "parquet"
path = "orders"
[streams.market]
source = "orders"
time = "ts"
"""


def pipeline(text: str) -> Work:
    """A pipeline file, read and checked."""

    def load() -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "pipeline.toml"
            file.write_text(text, "utf-8")
            Pipeline.load(file)

    return load


def query(name: str, text: str, source: str = "market") -> str:
    return f'[queries.{name}]\nfrom = "{source}"\ntext = """{text}"""\n'


PIPELINES: dict[str, Work] = {
    "a megabyte of one key": pipeline("x" * MEGABYTE + " = 1"),
    "a megabyte of dots": pipeline("a." * (MEGABYTE // 2) + "a = 1"),
    "a megabyte of brackets": pipeline("a = " + "[" * (MEGABYTE // 2) + "]" * (MEGABYTE // 2)),
    "a megabyte of open brackets": pipeline("a = " + "[" * MEGABYTE),
    "a megabyte of braces": pipeline(
        "a = " + "{a=" * (MEGABYTE // 4) + "1" + "}" * (MEGABYTE // 4)
    ),
    "a megabyte of numbers": pipeline("a = " + "9" * MEGABYTE),
    "a megabyte of a list": pipeline("a = [" + "1," * (MEGABYTE // 2) + "]"),
    "a megabyte of a list in lines": pipeline("a = [" + "1,\n" * (MEGABYTE // 3) + "]"),
    "a megabyte of a text": pipeline('a = "' + "x" * MEGABYTE + '"'),
    "a megabyte of lines of a text": pipeline('a = """' + "x\n" * (MEGABYTE // 2) + '"""'),
    "a megabyte of an open text": pipeline('a = """' + "x\n" * (MEGABYTE // 2)),
    "a megabyte of escapes": pipeline('a = "' + "\\u0041" * (MEGABYTE // 6) + '"'),
    "a megabyte of comments": pipeline("# x\n" * (MEGABYTE // 4)),
    "a megabyte of empty lines": pipeline("\n" * MEGABYTE),
    "a megabyte of keys": pipeline(row("k# = #", "\n")(MEGABYTE)),
    "a megabyte of tables": pipeline(row("[t#]", "\n")(MEGABYTE)),
    "a megabyte of tables in tables": pipeline(row("[a.b.c.t#]", "\n")(MEGABYTE)),
    "a megabyte of arrays of tables": pipeline("[[queries]]\n" * (MEGABYTE // 12)),
    "a megabyte of dates": pipeline("a = 2024-01-01T00:00:00." + "0" * MEGABYTE),
    "a megabyte of blanks": pipeline("a =" + " " * MEGABYTE + "1"),
    "a megabyte of quotes": pipeline("a = " + "'" * MEGABYTE),
    "a megabyte of a query": pipeline(
        HEAD + query("q", "SELECT * WHERE " + row("T#", " OR ")(MEGABYTE))
    ),
    "a thousand queries": pipeline(
        HEAD + "".join(query(f"q{n}", "SELECT * WHERE A ; B") for n in range(1_000))
    ),
    "a chain of a thousand queries": pipeline(
        HEAD
        + query("q0", "SELECT * WHERE A ; B")
        + "".join(query(f"q{n}", "SELECT * WHERE A ; B", f"q{n - 1}") for n in range(1, 1_000))
    ),
    "a circle of a thousand queries": pipeline(
        HEAD
        + "".join(query(f"q{n}", "SELECT * WHERE A", f"q{(n + 1) % 1_000}") for n in range(1_000))
    ),
    "ten thousand sinks of nothing": pipeline(
        HEAD + "".join(f'[sinks.s{n}]\nfrom = "none{n}"\n' for n in range(10_000))
    ),
    "a wrong query on a long line": pipeline(
        HEAD + query("q", "SELECT * WHERE " + "A ; " * 5_000 + "; B")
    ),
}

# ---------------------------------------------------------------- rules, funnels, statements


def rules(texts: list[dict[str, Any]]) -> Work:
    def run() -> None:
        recognizer = cereus.RuleRecognizer(stream=STREAM, schema=SCHEMA, rules=texts)
        recognizer.push(EVENTS)
        recognizer.snapshot()

    return run


def deep(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def rule(number: int, text: str, **others: Any) -> dict[str, Any]:
    return {"name": f"r{number}", "text": text, **others}


RULES: dict[str, Work] = {
    "1,000 of one shape": rules(
        [rule(n, f"SELECT * WHERE A ; B FILTER A[x > {n}] WITHIN 9 seconds") for n in range(1_000)]
    ),
    "100 of other shapes": rules(
        [rule(n, f"SELECT * WHERE {' ; '.join('AB'[n >> k & 1] for k in range(9))}")
         for n in range(100)]
    ),
    "one of a megabyte": rules([rule(0, "SELECT * WHERE " + row("T#", " ; ")(MEGABYTE))]),
    "a name of a megabyte": rules([{"name": "n" * MEGABYTE, "text": "SELECT * WHERE A"}]),
    "a list of 100,000 values": rules(
        [rule(0, "SELECT * WHERE A AS a FILTER a[x IN :v]",
              parameters={"v": list(range(100_000))})]
    ),
    "lists in lists, 5,000 deep": rules(
        [rule(0, "SELECT * WHERE A", parameters={"v": deep(5_000)})]
    ),
}  # fmt: skip


def funnel(steps: Any, **others: Any) -> Work:
    return lambda: cereus.funnel(EVENTS, steps, key="k", time="ts", **others).steps


FUNNELS: dict[str, Work] = {
    "12 steps": funnel([f"T{n}" for n in range(12)]),
    "1,000 steps": funnel([f"T{n}" for n in range(1_000)]),
    "50,000 steps": funnel([f"T{n}" for n in range(50_000)]),
    "a step of a megabyte": funnel(["A", f"B[{row('x > #', ' AND ')(MEGABYTE)}]"]),
    "a step of brackets": funnel(["A", "B" + "[" * MEGABYTE]),
    "a step of blanks": funnel(["A", "B" + " " * MEGABYTE + "!"]),
    "a step of quotes": funnel(["A", '"' * MEGABYTE]),
    "a deep condition": funnel(["A", f"B[{nest('(', 'x > 1', ')')(6_000)}]"]),
    "IN of 100,000 values": funnel(["A", "B[x IN :v]"], params={"v": list(range(100_000))}),
    "a length of a megabyte": funnel(["A", "B"], within="1 day " * (MEGABYTE // 6)),
    "a length of blanks": funnel(["A", "B"], within="1 " + " " * MEGABYTE + "!"),
}


def statement(text: str) -> Work:
    """The clauses of a statement, cut out and replaced; what is left is DuckDB's."""
    return lambda: language("match_recognize").rewritten(text, lambda table, clause: ("t", ["x"]))


CLAUSE = "MATCH_RECOGNIZE (ORDER BY ts PATTERN (a) DEFINE a AS x > 1)"
STATEMENTS: dict[str, Work] = {
    "1,000 clauses": statement(
        "SELECT * FROM " + ", ".join(f"t {CLAUSE} AS m{n}" for n in range(1_000))
    ),
    "brackets": statement("SELECT " + "(" * MEGABYTE),
    "brackets, closed": statement(
        "SELECT " + nest("(", "1", ")")(MEGABYTE // 2) + f" FROM t {CLAUSE}"
    ),
    "dollars": statement("SELECT " + "$$" * (MEGABYTE // 2) + "$"),
    "comments": statement("SELECT 1 " + "/* x */" * (MEGABYTE // 7) + f" FROM t {CLAUSE}"),
    "open comments": statement("SELECT 1 " + "/* x " * (MEGABYTE // 5)),
    "tables in brackets": statement(
        f"SELECT * FROM {nest('(SELECT * FROM ', 't', ')')(1_000)} {CLAUSE}"
    ),
    "clauses in clauses": statement(
        f"SELECT * FROM {nest('(SELECT * FROM ', 't', f' {CLAUSE})')(300)} {CLAUSE}"
    ),
    "the word alone": statement("SELECT * FROM t " + "MATCH_RECOGNIZE " * (MEGABYTE // 16)),
    "open clauses": statement("SELECT * FROM t " + "MATCH_RECOGNIZE ( " * (MEGABYTE // 18)),
}

INPUTS: dict[str, dict[str, Work]] = {
    "parameters": PARAMETERS,
    "pipelines": PIPELINES,
    "rules": RULES,
    "funnels": FUNNELS,
    "statements": STATEMENTS,
}
