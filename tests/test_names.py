"""Names are in plain words, and a class name is used once."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

CEREUS = Path(__file__).parents[1] / "src" / "cereus"
RIDDLES = frozenset({"told", "said", "unsaid", "asked", "held", "own", "whole", "found"})
"""They do not tell what a thing is: matches, batches, columns, a message, buffered events."""
PLAIN = (
    "automata",
    "clauses",
    "cli",
    "engine",
    "explain",
    "expr",
    "funnels",
    "language",
    "languages/algebra",
    "languages/ceql",
    "languages/match_recognize",
    "languages/par",
    "languages/sase",
    "languages/sremo",
    "lsp",
    "plan",
    "play",
    "reference",
    "show",
    "sources",
    "spark",
    "state",
    "syntax",
    "translate",
    "why",
)
"""Folders in which no name is a riddle; so are the modules beside them."""
ALLOWED = frozenset({("expr/tree.py", "whole")})
"""A field of a tree: fingerprints of queries contain it."""
PUBLIC = frozenset({"Law"})
"""Every room with laws has them in its API: `cereus.par.Law` and `cereus.algebra.Law`."""
AS_IN_A_TREE = {
    "Query": ["query.py"],
    "Pattern": ["languages/ceql/builder.py"],
    "Step": ["language/anatomy.py"],
    "Classifier": ["engine/ingest/shared_letters.py"],
    "Excluded": ["why/expected.py"],
    "Measure": ["why/measure.py"],
    "Taken": ["funnels/summary.py"],
}
"""Classes that are called like a node of a tree, which they never meet; the first three are
public."""
MENTIONED = re.compile(rf"\b_*({'|'.join(sorted(RIDDLES))})\b|_(told|said|asked)\b", re.IGNORECASE)
"""What a text has that names something by a riddle; only such texts are parsed."""
CLASS = re.compile(r"^ *class ([A-Za-z]\w*)[(:]", re.MULTILINE)


@cache
def modules() -> tuple[tuple[str, str], ...]:
    return tuple(
        (path.relative_to(CEREUS).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(CEREUS.rglob("*.py"))
    )


def named(node: ast.AST) -> str | None:
    """The name that a node gives to something."""
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.arg(arg=name):
            return name
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            return name
        case ast.alias(asname=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=name):
            return name
    return None


def is_plain(module: str) -> bool:
    inside = module.startswith(tuple(f"{folder}/" for folder in PLAIN))
    return inside or "/" not in module


def is_riddle(name: str) -> bool:
    """`letters_said` is as little plain as `said`."""
    return name in RIDDLES or name.endswith(("_told", "_said", "_asked"))


def riddles(module: str, text: str) -> Iterator[str]:
    if MENTIONED.search(text) is None:
        return
    for node in ast.walk(ast.parse(text)):
        name = named(node)
        if (
            name is not None
            and is_riddle(name.lstrip("_").lower())
            and (module, name) not in ALLOWED
        ):
            yield f"{module}:{getattr(node, 'lineno', 0)} {name}"


def test_names_say_what_things_are() -> None:
    assert [
        each for module, text in modules() if is_plain(module) for each in riddles(module, text)
    ] == []


@pytest.mark.parametrize(
    "text",
    [
        "found = 1",
        "def told(): ...",
        "def f(own): ...",
        "x.held = 1",
        "def _was_asked(): ...",
        "from cereus.engine import executor as own",
        "match x:\n    case [whole]:\n        pass",
    ],
)
def test_riddles_are_seen(text: str) -> None:
    assert list(riddles("cli/run.py", text))


def test_class_names_are_used_once() -> None:
    """But for trees, which have the names of their papers, the reference, and private classes."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    trees: defaultdict[str, list[str]] = defaultdict(list)
    for module, text in modules():
        if not module.startswith("reference/"):
            for name in CLASS.findall(text):
                (trees if module.endswith("/tree.py") else places)[name].append(module)
    assert {name: of for name, of in places.items() if len(of) > 1 and name not in PUBLIC} == {}
    assert {name: of for name, of in places.items() if name in trees} == AS_IN_A_TREE
