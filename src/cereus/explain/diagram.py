"""The automaton of a plan as a picture, in DOT."""

from __future__ import annotations

from collections.abc import Iterator

from cereus.automata.model import NOTHING, Label
from cereus.explain.analysis import PlanAnalysis
from cereus.explain.description import Description
from cereus.explain.dot import FONT, escaped, graph, legend
from cereus.explain.explain import moves
from cereus.explain.wording import label_text, several, test_text
from cereus.plan.plan import Plan

MOST_STATES = 40
STYLE = (
    "rankdir=LR;",
    f'graph [fontname="{FONT}", fontsize=11, labelloc=b, labeljust=l];',
    f'node [shape=circle, fontname="{FONT}", fontsize=11, width=0.45, fixedsize=true];',
    f'edge [fontname="{FONT}", fontsize=10, arrowsize=0.7];',
    "start [shape=point, width=0.08];",
)


def automaton_dot(plan: Plan, description: Description) -> str:
    """The I/O-deterministic automaton that runs a plan, over the letters that can occur.

    Conditions between events stand below it: the states that they split depend on the values.
    """
    analysis = PlanAnalysis(plan, description)
    lines = [f"t{bit}: {test_text(test)}" for bit, test in enumerate(analysis.plan.tests)]
    lines += [f"and {condition}" for condition in description.conditions(plan)]
    return graph("automaton", [*STYLE, f'label="{legend(lines)}";', *_states(analysis)])


def _states(analysis: PlanAnalysis) -> Iterator[str]:
    explored = analysis.run
    wanted = range(explored.states) if not explored.complete else sorted(explored.useful)
    shown = {state: f"s{place}" for place, state in enumerate(wanted) if place < MOST_STATES}
    described = {state: moves(analysis, explored, state) for state in shown}
    left_out = len(shown) < explored.states and (not explored.complete or len(wanted) > MOST_STATES)
    if left_out or any(more for _, more in described.values()):
        yield 'more [label="…", style=dashed];'
    for state, name in shown.items():
        if state in explored.accepting:
            yield f"{name} [shape=doublecircle];"
        if state in explored.initial:
            yield f"start -> {name};"
        moving, more = described[state]
        if more:
            yield f'{name} -> more [label="{several(more, "more move")}", style=dashed];'
        for letters, edge in moving:
            label, target = edge.label, edge.target
            loop = label == NOTHING and target == state
            text = letters if loop else f"{letters}\\n{escaped(_action(label))}"
            style = ', style=dashed, color="gray50", fontcolor="gray50"' if not label else ""
            yield f'{name} -> {shown.get(target, "more")} [label="{text}"{style}];'


def _action(label: Label) -> str:
    return f"/ {label_text(label).removeprefix('marks ')}" if label != NOTHING else "/ skip"
