"""A SASE+ text as a picture: the NFA^b of each query block (§3.1, Fig. 3), and the streams between
queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cereus.clauses.print import window_text
from cereus.explain.dot import FONT, escaped, graph, legend
from cereus.languages.sase import tree as sase
from cereus.languages.sase.places import ClausePlace, placed
from cereus.languages.sase.planning.program import ProgramPlan
from cereus.languages.sase.print import expression_text, pattern_text

STYLE = (
    "rankdir=LR;",
    "compound=true;",
    f'graph [fontname="{FONT}", fontsize=11, labeljust=l];',
    f'node [shape=circle, fontname="{FONT}", fontsize=11, width=0.6, fixedsize=true];',
    f'edge [fontname="{FONT}", fontsize=10, arrowsize=0.7];',
)
GRAY = 'style=dashed, color="gray50", fontcolor="gray50"'
IGNORED = {
    sase.Strategy.PARTITION: "ignore: of another partition",
    sase.Strategy.NEXT: "ignore: what it cannot select",
    sase.Strategy.ANY: "ignore: anything",
}
"""What each strategy lets a run ignore (Table 1); strict contiguity lets it ignore nothing."""
FIRST, MORE, LAST = (
    (ClausePlace.FIRST, ClausePlace.EACH),
    (ClausePlace.EACH, ClausePlace.LATER),
    (ClausePlace.LAST,),
)


def program_dot(plan: ProgramPlan) -> str:
    lines = [*STYLE, *_streams(plan)]
    for number, stage in enumerate(plan.stages):
        for place, block in enumerate(stage.blocks):
            several = len(stage.blocks) > 1
            title = f"{stage.title}, block {place + 1}" if several else stage.title
            lines += [
                f"subgraph cluster_{_name(number, place)} {{",
                *(f"  {line}" for line in _Block(block.query, _name(number, place)).lines(title)),
                "}",
            ]
    return graph("program", lines)


def _name(stage: int, block: int) -> str:
    return f"q{stage}b{block}"


def _streams(plan: ProgramPlan) -> Iterator[str]:
    """Edges from query to query, and from the input."""
    yield 'input [shape=plaintext, fixedsize=false, label="input"];'
    for number, stage in enumerate(plan.stages):
        for place, block in enumerate(stage.blocks):
            target = _name(number, place)
            source = block.query.source or ""
            ends = [("input", "")]
            if block.source is not None:
                sources = range(len(plan.stages[block.source].blocks))
                names = [_name(block.source, each) for each in sources]
                ends = [(f"{name}_end", f", ltail=cluster_{name}") for name in names]
            for tail, cut in ends:
                label = f'label="{escaped(source)}"'
                yield f"{tail} -> {target}_0 [style=bold, {label}{cut}, lhead=cluster_{target}];"


class _Block:
    def __init__(self, query: sase.Query, name: str) -> None:
        self.query, self.name = query, name
        self.clauses = placed(query)
        self.states = [
            (component, more)
            for component in query.components
            for more in (False, True)[: 1 + isinstance(component, sase.Kleene)]
        ]

    def lines(self, title: str) -> Iterator[str]:
        yield f'label="{legend((title, *self._legend()))}";'
        for number, (component, more) in enumerate(self.states):
            yield f'{self._state(number)} [label="{_state_text(component, more)}"];'
            yield from self._edges(number, component, more)
        yield f'{self.name}_end [shape=doublecircle, label="F"];'

    def _legend(self) -> Iterator[str]:
        """The conditions on complete matches."""
        for path in self.query.equivalences:
            yield f"[{'.'.join(path)}]"
        if self.query.window is not None:
            yield f"WITHIN {window_text(self.query.window)}"
        for part, where in ((self.query.parts[0], "before"), (self.query.parts[-1], "after")):
            if isinstance(part, sase.Negated):
                yield f"{where} it {' '.join(self._none_of(part))}"
        if self.query.having is not None:
            yield f"HAVING {expression_text(self.query.having)}"

    def _state(self, number: int) -> str:
        return f"{self.name}_{'end' if number == len(self.states) else number}"

    def _edges(self, number: int, component: sase.Component, more: bool) -> Iterator[str]:
        here, following = self._state(number), self._state(number + 1)
        if more:
            yield self._edge(here, here, "take", self._described(component, MORE))
            yield self._edge(here, following, "proceed", self._proceeds(component), GRAY)
        else:
            yield self._edge(here, following, "begin", self._described(component, FIRST))
        absent = [] if more else self._absent(component)
        strategy = self.query.strategy(component.variable)
        if absent and strategy is not sase.Strategy.ANY:
            strategy = sase.Strategy.NEXT  # contiguity applies to the negated component
        if strategy in IGNORED and number > 0:
            yield self._edge(here, here, IGNORED[strategy], absent, GRAY)

    def _described(self, component: sase.Component, places: tuple[ClausePlace, ...]) -> list[str]:
        types = component.types
        first = types[0] if len(types) == 1 else f"ANY({', '.join(types)})"
        return [first, *self._conditions(component.variable, places)]

    def _conditions(self, variable: str, places: Iterable[ClausePlace]) -> list[str]:
        return [
            expression_text(each.clause.condition)
            for each in self.clauses
            if each.variable == variable and each.place in places
        ]

    def _proceeds(self, component: sase.Component) -> list[str]:
        """The condition on the last event, or else the condition that ends a Kleene plus (§3.2)."""
        conditions = self._conditions(component.variable, LAST)
        if not conditions:
            final = component is self.query.components[-1]
            conditions = ["it can go on no more" if final else "the next begins, or no more comes"]
        return [*conditions, *(["! stops here"] if self.query.stops(component.variable) else [])]

    def _absent(self, component: sase.Component) -> list[str]:
        """The negated components right before a component, which must not come meanwhile."""
        parts = self.query.parts
        place = [part.variable for part in parts].index(component.variable)
        negated: list[str] = []
        while place > 0 and isinstance(part := parts[place - 1], sase.Negated):
            negated += self._none_of(part)
            place -= 1
        return negated

    def _none_of(self, part: sase.Negated) -> list[str]:
        conditions = self._conditions(part.variable, tuple(ClausePlace))
        return [f"no {pattern_text(part.component)}", *(f"with {each}" for each in conditions)]

    @staticmethod
    def _edge(tail: str, head: str, what: str, conditions: list[str], style: str = "") -> str:
        label = "\\n".join(map(escaped, [what, *conditions]))
        return f'{tail} -> {head} [label="{label}"{", " + style if style else ""}];'


def _state_text(component: sase.Component, more: bool) -> str:
    if not isinstance(component, sase.Kleene):
        return component.variable
    return f"{component.variable}[{'i' if more else '1'}]"
