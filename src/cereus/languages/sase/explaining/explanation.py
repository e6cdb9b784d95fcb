"""Explains how SASE+ queries that feed one another will be run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cereus.clauses.tree import TimeWindow
from cereus.explain.explain import explain
from cereus.language.compiled import sections
from cereus.languages.sase.explaining.description import SaseDescription
from cereus.languages.sase.planning.program import Block, ProgramPlan, Stage


def explanation(plan: ProgramPlan) -> str:
    """How a text will be run: each of its queries, and how they feed one another."""
    of_program = sections(
        {
            "streams": map(_flow, plan.stages) if plan.composed else (),
            "output": _output(plan),
            "order": _order(plan),
        }
    )
    blocks = [(stage, block) for stage in plan.stages for block in stage.blocks]
    if len(blocks) == 1:
        return f"{explain(blocks[0][1].plan, SaseDescription())}\n\n{of_program}"
    parts = (
        f"── {_title(*each)} ──\n\n{explain(each[1].plan, SaseDescription())}" for each in blocks
    )
    return "\n\n".join([of_program, *parts])


def _title(stage: Stage, block: Block) -> str:
    if len(stage.blocks) == 1:
        return stage.title
    return f"{stage.title}, block {stage.blocks.index(block) + 1}"


def _flow(stage: Stage) -> str:
    read = [block.query.source or "the input" for block in stage.blocks]
    return f"{' + '.join(dict.fromkeys(read))} → {stage.title}"


def _output(plan: ProgramPlan) -> Iterator[str]:
    stage = plan.result
    if plan.stream.keys:
        yield f"each value of {', '.join(plan.stream.keys)} on its own"
    kinds: tuple[Any, ...] = stage.blocks[0].kinds or ("",) * len(stage.names)
    for name, kind in zip(stage.names, kinds, strict=True):
        yield f"{name}  {kind}".rstrip()
    if not stage.names:
        yield "the positions of the events" + (" of each variable" if stage.variables else "")


def _order(plan: ProgramPlan) -> Iterator[str]:
    if any(block.emits_late for block in plan.result.blocks):
        yield "matches that wait for their window are emitted when it has passed, never earlier"
    if not plan.composed:
        return
    yield (
        "events between queries are held back until none can come before them, as "
        + ("advance() and the end say" if plan.stream.keys else "the times that are read tell")
    )
    yield from delays(plan)


def delays(plan: ProgramPlan) -> Iterator[str]:
    """Queries whose events reach the next one only at the end of the input."""
    for stage in plan.stages[:-1]:
        if any(map(_waits_for_the_end, stage.blocks)):
            yield (
                f"what {stage.title} emits reaches the next query at the end of the input only: "
                "its matches are emitted late, and no window in time says how late"
            )


def _waits_for_the_end(block: Block) -> bool:
    return block.emits_late and not isinstance(block.query.window, TimeWindow)
