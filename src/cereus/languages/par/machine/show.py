"""Machines and differences as text and DOT."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cereus.explain.dot import FONTS, escaped, graph
from cereus.languages.par.machine.alphabet import describe, occurrences
from cereus.languages.par.tree import Completion
from cereus.syntax.literals import quote_name

if TYPE_CHECKING:
    from cereus.languages.par.bisimilarity import Difference, Observation, Verdict
    from cereus.languages.par.machine.machine import Machine

LONGEST_LABEL = 60


def machine_text(machine: Machine) -> str:
    """One line per state and kind of step; steps that change nothing are left out (Fig. 1)."""
    lines = [", ".join(f"{count} {what}" for what, count in machine.sizes.items())]
    for state in range(machine.states):
        silent = "  (silent)" if machine.silent[state] else ""
        lines.append(f"{state_name(state)}  {shortened(machine.labels[state])}{silent}")
        for events, shown, after in steps(machine, state):
            lines.append(f"    {', '.join(events)}{shown} → {state_name(after)}")
    return "\n".join(lines)


def machine_dot(machine: Machine) -> str:
    """The machine as a DOT graph, drawn as in Fig. 1. Completions are words, as in results: not
    every font has their signs."""
    lines = [FONTS, "rankdir=LR;", "node [shape=circle];", "start [shape=point];", "start -> q0;"]
    for state in range(machine.states):
        style = ", style=dashed" if machine.silent[state] else ""
        tip = escaped(machine.labels[state])
        lines.append(f'{state_name(state)} [tooltip="{tip}"{style}];')
        for events, shown, after in steps(machine, state, in_words):
            label = ",\\n".join(map(escaped, events)) + escaped(shown)
            lines.append(f'{state_name(state)} -> {state_name(after)} [label="{label}"];')
    return graph("machine", lines)


def state_name(state: int) -> str:
    return f"q{state}"


def steps(
    machine: Machine, state: int, written: Callable[[Completion], str] = lambda each: each.symbol
) -> list[tuple[tuple[str, ...], str, int]]:
    """The steps of a state that change something: at which events, what is shown, and the next
    state."""
    alike: dict[tuple[str, int], list[str]] = defaultdict(list)
    for event, symbol in occurrences(machine.atoms):
        output, completion, after = machine.step(state, symbol)
        if after != state or output or completion:
            alike[observation_text(output, completion, written), after].append(
                describe(event, machine.atoms)
            )
    return [
        (tuple(events), f" / {shown}" if shown else "", after)
        for (shown, after), events in alike.items()
    ]


def in_words(completion: Completion) -> str:
    return completion.name.lower()


def observation_text(
    output: frozenset[str],
    completion: Completion,
    written: Callable[[Completion], str] = lambda each: each.symbol,
) -> str:
    """`A, B ⊤`: the outputs, and the completion unless it is incomplete."""
    names = ", ".join(quote_name(name) for name in sorted(output))
    return f"{names} {written(completion) if completion else ''}".strip()


def shortened(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"


def difference_text(difference: Difference) -> str:
    """The distinguishing input, one event per line, with what both sides show."""
    events = (describe(event, difference.atoms) for event in difference.events)
    shown = (map(shown_text, side) for side in (difference.left, difference.right))
    return columns([("event", "first", "second"), *zip(events, *shown, strict=True)])


def shown_text(observation: Observation) -> str:
    return observation_text(*observation) or "–"


def columns(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def verdict_text(verdict: Verdict) -> str:
    if verdict.difference is None:
        return "bisimilar: same outputs and same completion on every input"
    if verdict.output_difference is None:
        return (
            "output equivalent, not bisimilar: same outputs on every input, "
            f"but they complete differently\n{difference_text(verdict.difference)}"
        )
    return f"different: their outputs differ\n{difference_text(verdict.output_difference)}"
