"""Windowed unrolling, output-agnostic determinisation, complement (Lemma 46, Thm 41, Cor. 43).

Unrolling bounds the *length of strings* by w, whereas Def. 39 bounds the distance of the first and
the last mark. Both are the same for strings that begin and end with a mark, which are those of the
proof of Theorem 41.
"""

from __future__ import annotations

from dataclasses import replace

from cereus.errors import LimitError, RefusedError
from cereus.expr import tree as ex
from cereus.languages.sremo.srt.closure import renamed
from cereus.languages.sremo.srt.epsilon import NO_WRITES, eliminate_epsilon
from cereus.languages.sremo.srt.negation import Literals, clash, fails, literals
from cereus.languages.sremo.srt.transducer import Transducer, Transition
from cereus.languages.sremo.tree import TRUE

MOST_STATES = 20_000
"""The most states of an unrolled transducer: it is a tree of walks, so w steps may take many."""
MOST_MINTERMS = 4096
"""The most minterms of one state: n conditions have up to 2 to the power of n."""


def unroll(transducer: Transducer, w: int) -> Transducer:
    """Algorithms 4–6: the runs of length up to w, as a tree. Every write has a register of its own,
    and a condition reads the last copy that was written on the way to it; if there is none, the
    register itself, with its contents before the run."""
    plain = eliminate_epsilon(transducer)
    known = plain.read | plain.written
    copies: list[int] = [plain.start]
    latest: list[dict[str, str]] = [{}]
    moves: list[Transition] = []
    frontier = [0]
    for _ in range(w):
        reached: list[int] = []
        for state in frontier:
            for move in plain.by_source[copies[state]]:
                target = len(copies)
                if target >= MOST_STATES:
                    raise LimitError(
                        f"unrolling to length {w} needs more than {MOST_STATES:,} states",
                        hint="take a smaller window",
                    )
                fresh = {register: _copy(register, target, known) for register in move.writes}
                copies.append(move.target)
                latest.append(latest[state] | fresh)
                assert move.condition is not None
                condition = renamed(move.condition, latest[state])  # FindLastAppearance
                writes = frozenset(fresh.values())
                moves.append(Transition(state, condition, move.marks, writes, target))
                reached.append(target)
        frontier = reached
    final = frozenset(q for q, copied in enumerate(copies) if copied in plain.final)
    return Transducer(len(copies), 0, final, NO_WRITES, tuple(moves)).with_used_registers()


def _copy(register: str, state: int, known: frozenset[str]) -> str:
    """A name for the copy of a register that is written on the way to a state."""
    name = f"{register}_{state}"
    return _copy(f"{register}_", state, known) if name in known else name


def determinize(transducer: Transducer, w: int | None = None) -> Transducer:
    """Algorithm 7: one run per string, and the language of `transducer` on strings of length up
    to w. Outputs are left aside.

    Without w, on all strings: possible where no register is both written and read, so that no
    condition depends on the run (as for symbolic automata).
    """
    return _determinized(transducer, w, complete=False)


def _determinized(transducer: Transducer, w: int | None, *, complete: bool) -> Transducer:
    """The determinised transducer; with `complete`, it has a state for the strings that no run
    reads."""
    tree = _unwritten(transducer) if w is None else unroll(transducer, w)
    numbers: dict[frozenset[int], int] = {frozenset({tree.start}): 0}
    todo = list(numbers)
    moves: list[Transition] = []
    for states in todo:  # grows while it is read
        going = [move for q in sorted(states) for move in tree.by_source[q]]
        for signs in minterms([m.condition for m in going if m.condition is not None]):
            taken = [move for move in going if signs.get(move.condition, False)]  # type: ignore[arg-type]
            if not taken and not complete:
                continue
            target = frozenset(move.target for move in taken)
            if target not in numbers:
                numbers[target] = len(numbers)
                todo.append(target)
            writes = NO_WRITES.union(*(move.writes for move in taken))
            condition = minterm(signs)
            moves.append(Transition(numbers[states], condition, False, writes, numbers[target]))
            if len(moves) > MOST_STATES:
                raise LimitError(
                    f"the deterministic transducer has more than {MOST_STATES:,} transitions",
                    hint="take a smaller window, or fewer conditions",
                )
    final = frozenset(n for states, n in numbers.items() if states & tree.final)
    return Transducer(len(numbers), 0, final, tree.registers, tuple(moves))


def _unwritten(transducer: Transducer) -> Transducer:
    """The transducer without ε, and without registers that are written but not read."""
    if transducer.remembers:
        raise RefusedError(
            f"{', '.join(sorted(transducer.written & transducer.read))} is written and read again: "
            "that can be made deterministic only in a window (Theorem 38)",
            hint="say how long strings get: determinize(transducer, w)",
        )
    plain = eliminate_epsilon(transducer)
    moves = tuple(move._replace(writes=NO_WRITES) for move in plain.transitions)
    return replace(plain, transitions=moves).with_used_registers()


def minterms(conditions: list[ex.Expression]) -> list[dict[ex.Expression, bool]]:
    """All combinations of signs, except those that contradict themselves by their form."""
    combinations: list[tuple[dict[ex.Expression, bool], Literals]] = [({}, frozenset())]
    for condition in dict.fromkeys(conditions):
        atoms = literals(condition)
        longer: list[tuple[dict[ex.Expression, bool], Literals]] = []
        for signs, known in combinations:
            if not clash(atoms, known):
                longer.append(({**signs, condition: True}, known | atoms))
            if condition != TRUE and not atoms <= known:
                failing = frozenset((atom, not sign) for atom, sign in atoms)
                also = failing if len(atoms) == 1 else frozenset()
                longer.append(({**signs, condition: False}, known | also))
        combinations = longer
        if len(combinations) > MOST_MINTERMS:
            raise LimitError(
                f"a state asks {len(set(conditions))} conditions: too many combinations",
                hint="take a smaller window, or fewer conditions",
            )
    return [signs for signs, _ in combinations]


def minterm(signs: dict[ex.Expression, bool]) -> ex.Expression:
    """A minterm, without the parts that follow from the rest."""
    holding = [condition for condition, sign in signs.items() if sign]
    known = frozenset().union(*map(literals, holding))
    failing = [c for c, sign in signs.items() if not sign and not clash(literals(c), known)]
    parts = (*(c for c in holding if c != TRUE), *map(fails, failing))
    return ex.conjunction(parts) or TRUE


def complement(transducer: Transducer, w: int | None = None) -> Transducer:
    """Algorithm 8: accepts the strings of length up to w that `transducer` does not accept (and
    every longer one). Without w, all strings that it does not accept, where that is possible. Marks
    nothing."""
    known = _determinized(transducer, w, complete=True)
    return replace(known, final=frozenset(range(known.states)) - known.final)
