"""The automaton of a query as a picture: DOT text, and SVG where graphviz is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from cereus.automata.model import NOTHING, Label
from cereus.errors import CereusError
from cereus.explain.analysis import Outlook
from cereus.explain.explain import moves
from cereus.explain.skeleton import conditions_between
from cereus.explain.wording import label_text, test_text
from cereus.languages.algebra.query import AlgebraQuery
from cereus.languages.algebra.show import FONT, detection_dot, escaped
from cereus.languages.ceql.print import predicate_text
from cereus.languages.par.query import ParQuery
from cereus.languages.sase.query import SaseQuery
from cereus.languages.sase.show import program_dot
from cereus.plan.plan import Plan
from cereus.query import Query

MOST_STATES = 40
STYLE = (
    "rankdir=LR;",
    f'graph [fontname="{FONT}", fontsize=11, labelloc=b, labeljust=l];',
    f'node [shape=circle, fontname="{FONT}", fontsize=11, width=0.45, fixedsize=true];',
    f'edge [fontname="{FONT}", fontsize=10, arrowsize=0.7];',
    "start [shape=point, width=0.08];",
)


@dataclass(frozen=True)
class Diagram:
    """A graph in DOT. Notebooks show it as a picture where graphviz's `dot` is installed."""

    dot: str

    def svg(self) -> str:
        """The picture; needs graphviz."""
        program = shutil.which("dot")
        if program is None:
            raise CereusError(
                "graphviz is not installed, so there is no `dot` to draw with",
                hint="install graphviz, or take the DOT text",
            )
        drawn = subprocess.run(
            [program, "-Tsvg"], input=self.dot, capture_output=True, text=True, check=False
        )
        if drawn.returncode:
            raise CereusError(f"graphviz could not draw this: {drawn.stderr.strip()}")
        return drawn.stdout

    def _repr_svg_(self) -> str | None:
        return self.svg() if shutil.which("dot") else None

    def __str__(self) -> str:
        return self.dot


def diagram(query: Query) -> Diagram:
    """The I/O-deterministic automaton that runs a query, over the letters that can occur.

    Conditions between events stand below it: the states that they split depend on the values.
    Of a PAR program it is the machine, of an event expression its parts with what they remember,
    of a SASE+ text the NFA^b of each query and the streams between them.
    """
    if isinstance(query.compiled, SaseQuery):
        return Diagram(program_dot(query.compiled.plan()))
    if isinstance(query.compiled, AlgebraQuery):
        return Diagram(detection_dot(query.compiled))
    if isinstance(query.compiled, ParQuery):
        return Diagram(query.compiled.machine.dot())
    return Diagram(automaton_dot(query.plan()))


def automaton_dot(plan: Plan) -> str:
    outlook = Outlook(plan)
    lines = [*STYLE, f'label="{_legend(outlook)}";', *_states(outlook)]
    return "\n".join(["digraph automaton {", *(f"  {line}" for line in lines), "}"])


def _legend(outlook: Outlook) -> str:
    lines = [f"t{bit}: {test_text(test)}" for bit, test in enumerate(outlook.plan.tests)]
    lines += [f"and {predicate_text(each)}" for each in conditions_between(outlook.whole)]
    return "".join(f"{escaped(line)}\\l" for line in lines)


def _states(outlook: Outlook) -> Iterator[str]:
    explored = outlook.run
    wanted = range(explored.states) if not explored.complete else sorted(explored.useful)
    shown = {state: f"s{place}" for place, state in enumerate(wanted) if place < MOST_STATES}
    if len(shown) < explored.states and (not explored.complete or len(wanted) > MOST_STATES):
        yield 'more [label="…", style=dashed];'
    for state, name in shown.items():
        if state in explored.accepting:
            yield f"{name} [shape=doublecircle];"
        if state in explored.initial:
            yield f"start -> {name};"
        for letters, edge in moves(outlook, explored, state):
            label, target = edge.label, edge.target
            loop = label == NOTHING and target == state
            said = letters if loop else f"{letters}\\n{escaped(_action(label))}"
            style = ', style=dashed, color="gray50", fontcolor="gray50"' if not label else ""
            yield f'{name} -> {shown.get(target, "more")} [label="{said}"{style}];'


def _action(label: Label) -> str:
    return f"/ {label_text(label).removeprefix('marks ')}" if label != NOTHING else "/ skip"
