"""The automaton as the kernel sees it: numbered states and classes, tables filled on demand.

This is the subset construction of Prop. 5.5 (I/O-determinisation), one entry at a time: only the
pairs of state set and letter that the stream really brings are ever computed, so a pattern whose
full determinisation would be exponential still runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from cereus.automata.memory.chosen import (
    EARLIEST,
    LARGEST,
    LARGEST_OF_ALL,
    LATEST,
    LATEST_FROM_THERE,
)
from cereus.automata.memory.easier import GREATER
from cereus.automata.memory.terms import OPERATIONS, Absent, LookedUp, Term
from cereus.automata.memory.values import ValuedLetter
from cereus.automata.model import NOTHING, Automaton, Label, Slot, Slots, States
from cereus.automata.subset import (
    JointMove,
    index_columns,
    index_orders,
    joint_moves,
    may_end_alike,
    runs_in,
    slots_of,
)
from cereus.engine.kernel import layout
from cereus.errors import LimitError, SnapshotError
from cereus.expr.types import Kind
from cereus.state import checked
from cereus.state.damage import damaged

MAX_STATES = 100_000
MOST_CLASSES = 256
"""`only_marks` does not examine the moves of more classes of events than this."""
MOST_RUNS = 1_000
"""The most runs and values that one state may remember, unless a limit says otherwise. One event
takes many milliseconds then, and more as the stream goes on: a run that ends at 1,000 has taken
some seconds, and one that ends at 2,000 minutes."""
MOST_BITS = 31
"""The number of slots that fit into a word with one bit each."""


CHECKS = {
    "<": layout.CHECK_LESS,
    "<=": layout.CHECK_LESS_OR_EQUAL,
    ">": layout.CHECK_GREATER,
    ">=": layout.CHECK_GREATER_OR_EQUAL,
    "=": layout.CHECK_EQUAL,
    "!=": layout.CHECK_NOT_EQUAL,
    "differs": layout.CHECK_DIFFERS,
    "holds": layout.CHECK_HOLDS,
    "fails": layout.CHECK_FAILS,
    "absent": layout.CHECK_ABSENT,
    "present": layout.CHECK_PRESENT,
    "not in": layout.CHECK_NOT_IN,
    "every": layout.CHECK_EVERY,
}
ORDERS = {"<=": 0, "<": 1, ">=": 2, ">": 3}
"""How the kernel finds configurations whose slot is below a value, or above it."""
UPDATES = {
    "keep": layout.UPDATE_KEEP,
    "set": layout.UPDATE_SET,
    "min": layout.UPDATE_MIN,
    "max": layout.UPDATE_MAX,
    "count": layout.UPDATE_COUNT,
    "tally": layout.UPDATE_TALLY,
    "sum int": layout.UPDATE_SUM_INT,
    "sum float": layout.UPDATE_SUM_FLOAT,
    "min int": layout.UPDATE_MIN_INT,
    "max int": layout.UPDATE_MAX_INT,
    "min float": layout.UPDATE_MIN_FLOAT,
    "max float": layout.UPDATE_MAX_FLOAT,
    "carry int": layout.UPDATE_CARRY_INT,
    "least int": layout.UPDATE_LEAST_INT,
    "greatest int": layout.UPDATE_GREATEST_INT,
    "least float": layout.UPDATE_LEAST_FLOAT,
    "greatest float": layout.UPDATE_GREATEST_FLOAT,
    "start": layout.UPDATE_START,
    "ordinal": layout.UPDATE_ORDINAL,
    "scope": layout.UPDATE_SCOPE,
    "insert": layout.UPDATE_INSERT,
    "compute": layout.UPDATE_COMPUTE,
}
CHOOSES = {
    EARLIEST: layout.CHOOSE_EARLIEST,
    LATEST: layout.CHOOSE_LATEST,
    LARGEST: layout.CHOOSE_LARGEST,
    LARGEST_OF_ALL: layout.CHOOSE_LARGEST_OF_ALL,
    LATEST_FROM_THERE: layout.CHOOSE_LATEST_FROM_THERE,
}
OPERATION = {name: number for number, name in enumerate(OPERATIONS)}
"""The kernel's numbers for checks, updates and the operations of terms."""
CLOSED: States = frozenset({"closed"})
"""The state of runs that were complete when their window had passed (`Automaton.closes`)."""


CONFUSED = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError,
            RecursionError)  # fmt: skip
"""The errors that an automaton raises when it is given something that is not one of its states."""


class TransitionTable:
    """Which moves a state makes on a class of events, as arrays that the kernel reads.

    `head[c, s]` is STAY, UNKNOWN, or where the moves of state s on class c stand in `edges`;
    `programs` has what they check and which values they take along, `constants` what its terms
    refer to (`layout` has the columns of all three). `gap_to[s]` is the move on an irrelevant
    event, and `gap_copy[s]` its copy. `scope[s]` has the slots of the state that choose (-1: none),
    the last for a part with no other inside, `outer[s]` that of the outermost, and `chooser[s]` the
    number of each with how it chooses; `easier[s]` has the slots, as bits, of which smaller values
    do, and greater ones, whatever others do, and the kinds of these values; `lasting[s]` says
    whether partial matches of an open scope outlive the window there, and `entering[s]` whether
    they are rivals that have not begun (`automata.memory.rivals`). `moving[c]` lists the
    states that do not, as far as is known, STAY on class c; `n_moving[c]` says how many (UNCOUNTED:
    no list is kept). Nothing leaves a state that is `final`.

    `ambiguous` turns true when two moves from one state mark an event in the same way and both
    may be possible, and so may one end of both: then one match may be found twice.
    """

    def __init__(
        self,
        automaton: Automaton,
        label_code: Callable[[Label], int],
        *,
        letters: list[int] | None = None,
        alphabet: Callable[[], Sequence[int] | None] = lambda: None,
        max_states: int = MAX_STATES,
        max_steps: int | None = None,
    ) -> None:
        self.automaton = automaton
        self.label_code = label_code
        self.max_states = max_states
        self.max_steps = max_steps
        self.letters: list[int] = [] if letters is None else letters
        self.alphabet = alphabet
        self.subsets: list[States] = []
        self._numbers: dict[States, int] = {}
        self.head: npt.NDArray[np.int32] = np.full((8, 4), layout.UNKNOWN, np.int32)
        self.moving: npt.NDArray[np.int32] = np.zeros((8, 4), np.int32)
        self.n_moving: npt.NDArray[np.int32] = np.zeros(8, np.int32)
        self.edges: npt.NDArray[np.int32] = np.zeros(64, np.int32)
        self.accepting: npt.NDArray[np.uint8] = np.zeros(4, np.uint8)
        self.closing: npt.NDArray[np.uint8] = np.zeros(4, np.uint8)
        self.final: npt.NDArray[np.uint8] = np.zeros(4, np.uint8)
        self.gap_to: npt.NDArray[np.int32] = np.full(4, layout.UNKNOWN, np.int32)
        self.gap_copy: npt.NDArray[np.int32] = np.full(4, -1, np.int32)
        self.slot_counts: npt.NDArray[np.int32] = np.zeros(4, np.int32)
        self.hashed_slots: npt.NDArray[np.int32] = np.zeros(4, np.int32)
        self.scope: npt.NDArray[np.int32] = np.full((4, layout.SCOPES), layout.NONE, np.int32)
        self.outer: npt.NDArray[np.int32] = np.full(4, layout.NONE, np.int32)
        self.chooser: npt.NDArray[np.int32] = np.full((4, layout.SCOPES), layout.NONE, np.int32)
        self.easier: npt.NDArray[np.int32] = np.zeros((4, layout.EASIER_WORDS), np.int32)
        self.lasting: npt.NDArray[np.uint8] = np.zeros(4, np.uint8)
        self.entering: npt.NDArray[np.uint8] = np.zeros(4, np.uint8)
        self.programs: npt.NDArray[np.int32] = np.zeros(0, np.int32)
        self.constants: npt.NDArray[np.int64] = np.zeros(1, np.int64)
        self.functions: list[LookedUp] = []
        self.function_words: npt.NDArray[np.int32] = np.zeros((0, 2), np.int32)
        self.layouts: list[tuple[Slot, ...]] = []
        self.with_sets: dict[int, list[int]] = {}
        """The states with sets in slots, and which slots these are."""
        self.ambiguous = False
        self._looked_at: dict[int, tuple[int, bool, bool]] = {}
        self._programs: dict[tuple[int, ...], int] = {}
        self.longest_program = 0
        self._whatever_values: dict[tuple[int, int], list[int]] = {}
        self._edges_used = 0
        self.most_slots: int | None = None
        """The number of slots of the plan, where states were read from a snapshot."""
        self.initial = self.number(frozenset(automaton.initial()))

    @property
    def n_states(self) -> int:
        return len(self.subsets)

    def preload(self, subsets: list[States]) -> None:
        """Number state sets as another table has numbered them."""
        for subset in subsets:
            self.number(subset)

    def restore(self, subsets: list[States], most_slots: int) -> None:
        """Like `preload`, for state sets from a snapshot, which may be anything.

        Only the automaton can tell whether something is one of its states: whatever goes wrong with
        one, here or later, is a SnapshotError.
        """
        self.most_slots = most_slots
        try:
            numbers = [self.number(checked.of_type(s, frozenset, "a state")) for s in subsets]
        except (*CONFUSED, LimitError):
            raise _no_state() from None
        in_order = numbers == list(range(self.n_states))
        checked.refuse_unless(in_order, "its states are not those of this query")

    def know(self, letters: list[int]) -> None:
        """Let class c stand for letters[c]; classes known before keep their numbers."""
        self.letters[:] = letters
        classes = len(letters)
        known, states = self.head.shape
        if classes > known:
            more = max(classes, 2 * known) - known
            self.head = np.concatenate(
                [self.head, np.full((more, states), layout.UNKNOWN, np.int32)]
            )
            every = np.tile(np.arange(states, dtype=np.int32), (more, 1))
            self.moving = np.concatenate([self.moving, every])
            self.n_moving = np.append(self.n_moving, np.full(more, self.n_states, np.int32))

    def forget_classes(self, letters: list[int]) -> None:
        """Number the classes anew; the states stay."""
        self.letters[:] = letters
        self.head = np.full((max(8, len(letters)), self.head.shape[1]), layout.UNKNOWN, np.int32)
        self.moving = np.empty_like(self.head)
        self.n_moving = np.full(self.head.shape[0], layout.UNCOUNTED, np.int32)
        self._edges_used = 0

    def expand(self, state: int, letter_class: int) -> None:
        """Fill in the moves of a state on a class."""
        try:
            self._expand(state, letter_class)
        except CONFUSED as error:
            raise (error if self.most_slots is None else _no_state()) from None

    def _expand(self, state: int, letter_class: int) -> None:
        words = self._words(state, self.letters[letter_class])
        if words:
            self.head[letter_class, state] = self._append(words)
        else:
            self.head[letter_class, state] = layout.STAY
            self._stays_put(state, letter_class)

    def _words(self, state: int, letter: int) -> list[int]:
        """The moves of a state on a letter, as they stand in `edges`; empty where it stays. If no
        move depends on the values of a letter, the moves are those of all letters with the same
        tests."""
        if not isinstance(letter, ValuedLetter):
            return self._words_of(state, letter)
        known = self._whatever_values.get((state, int(letter)))
        if known is not None:
            return known
        self._check_steps(self.subsets[state])
        letter.is_read = False
        words = self._words_of(state, letter)
        if not letter.is_read:
            self._whatever_values[state, int(letter)] = words
        return words

    def _check_steps(self, subset: States) -> None:
        """Refuse a state that remembers too many runs: all of them read the event."""
        most = MOST_RUNS if self.max_steps is None else self.max_steps
        if runs_in(subset) > most:
            raise LimitError(
                f"an event is compared with more than {most:,} runs and values that a state "
                "remembers",
                hint="let fewer events be remembered, by a condition on each of them, or raise "
                "Limits(steps_per_event=…)",
            )

    def _words_of(self, state: int, letter: int) -> list[int]:
        moves = self._moves(self.subsets[state], letter)
        staying = JointMove(layout.UNMARKED, (), (), self.subsets[state])
        others = [move for move in moves if move != staying]
        stays = len(others) < len(moves)
        if stays and not others:
            return []
        self.ambiguous |= any(
            not _unstamped(a).excludes(_unstamped(b))
            and self._meet(self.number(a.states), self.number(b.states))
            and self._may_be_one(a.states, b.states)
            for a, b in combinations(moves, 2)
        )
        written = [value for move in others for value in self._written(state, move)]
        column = self._index(state, others) if stays else -1
        order = self._order(state, others) if stays and column < 0 else (-1, -1)
        return [len(others), column, self._stays(state, stays, others), *order, *written]

    def _stays(self, state: int, stays: bool, others: list[JointMove[int]]) -> int:
        """Whether runs may stay, and which properties all other moves share."""
        if stays and self.outer[state] >= 0 and self._all_leave(others):
            return layout.STAYS_OR_LEAVES
        return layout.STAYS_OR_ENDS if stays and self._all_end(others) else int(stays)

    def _all_leave(self, moves: list[JointMove[int]]) -> bool:
        """Whether all moves mark the event and lead to states without slots."""
        without = all(not self.slot_counts[self.number(move.states)] for move in moves)
        return without and all(move.label != layout.UNMARKED for move in moves)

    def _all_end(self, moves: list[JointMove[int]]) -> bool:
        """Whether all moves lead only to complete matches that nothing can be added to."""
        numbers = [self.number(move.states) for move in moves]
        return all(self.accepting[number] and self.final[number] for number in numbers)

    def _meet(self, one: int, other: int) -> bool:
        """Whether partial matches in two states may be reported at the same event. They may not if
        those of one state are over with this event and the other state does not accept."""
        return not any(
            self.final[a] and not self.accepting[b] for a, b in ((one, other), (other, one))
        )

    def _may_be_one(self, one: States, other: States) -> bool:
        """Whether partial matches in two states that have marked the same events may become one
        match. `alphabet` has all letters that may ever come."""
        if self._only_compete(one) or self._only_compete(other):
            return False

        def moves(subset: States, letter: int) -> list[tuple[int, States]]:
            moves = self._moves(subset, letter)
            reported = (m for m in moves if not self._only_compete(m.states))
            return [(_unstamped(m).label, m.states) for m in reported]

        return may_end_alike(one, other, self.alphabet(), moves, self._is_reported)

    def _only_compete(self, subset: States) -> bool:
        return subset != CLOSED and all(map(self.automaton.only_competes, subset))

    def _is_reported(self, subset: States) -> bool:
        ends = (self.automaton.accepts(state) or self.automaton.closes(state) for state in subset)
        return subset == CLOSED or any(ends)

    def moves(self, at: int) -> npt.NDArray[np.int32]:
        """The moves at `at` in `edges`, without the one that stays; a row of MOVE_WORDS each."""
        words = layout.MOVE_WORDS * self.edges[at + layout.EDGES_COUNT]
        return self.edges[at + layout.EDGES_MOVES :][:words].reshape(-1, layout.MOVE_WORDS)

    def only_marks(self, most_states: int) -> bool:
        """Whether events only mark: a run that can go on can also wait, whatever comes. Examines
        the moves on all known classes, unless there are too many states."""
        if self.max_states < 16 * most_states or len(self.letters) > MOST_CLASSES:
            return False  # looking ahead must not use up the states that runs need, nor much time
        state = 0
        while state < self.n_states <= most_states and self._waits_or_ends(state):
            state += 1
        return state == self.n_states

    def _waits_or_ends(self, state: int) -> bool:
        """Whether a run in the state can wait whatever comes, or can do nothing whatever comes."""
        known, waits, ends = self._looked_at.get(state, (0, True, True))
        for letter_class in range(known, len(self.letters)):
            if self.head[letter_class, state] == layout.UNKNOWN:
                self.expand(state, letter_class)
            at = int(self.head[letter_class, state])
            if at == layout.STAY:
                ends = False
                continue
            stays = bool(self.edges[at + layout.EDGES_STAYS])
            labels = self.moves(at)[:, layout.MOVE_LABEL]
            waits = waits and stays and layout.UNMARKED not in labels
            ends = ends and not stays and not len(labels)
        self._looked_at[state] = len(self.letters), waits, ends
        return waits or ends

    def _stays_put(self, state: int, letter_class: int) -> None:
        """Note that a state does not react to a class."""
        count = self.n_moving[letter_class]
        if count < layout.UNCOUNTED:
            moving = self.moving[letter_class, :count]
            moving[moving == state] = moving[-1]
            self.n_moving[letter_class] = count - 1

    def expand_gap(self, state: int) -> int:
        """Fill in the move of a state on an event that satisfies no atom."""
        try:
            return self._expand_gap(state)
        except CONFUSED as error:
            raise (error if self.most_slots is None else _no_state()) from None

    def _expand_gap(self, state: int) -> int:
        moves = self._moves(self.subsets[state], 0)
        if not moves:
            self.gap_to[state] = layout.NONE
            return layout.NONE
        (move,) = moves  # nothing is read at a gap, so all its effects are one move
        _, target, _, copy = self._written(state, move)
        self.gap_to[state], self.gap_copy[state] = target, copy
        return target

    def _moves(self, subset: States, letter: int) -> list[JointMove[int]]:
        """Δ(R, P, L): moves that do the same are one move to a set of states."""
        if subset == CLOSED:
            return []
        return sorted(joint_moves(self.automaton, subset, letter, self._code), key=_in_order)

    def _code(self, label: Label) -> int:
        return layout.UNMARKED if label == NOTHING else self.label_code(label)

    def _written(self, state: int, move: JointMove[int]) -> tuple[int, int, int, int]:
        """A move in the words that the kernel reads."""
        to = self.number(move.states)
        slots = self.layouts[state]
        checks: list[int] = []
        for op, slot, column, other, term in move.checks:
            if isinstance(term, Absent):
                column = self._absent(term, slots)
            elif term is not None:
                column = self._term(term, slots)
            at = layout.NONE if slot is None else slots.index(slot)
            checks += (CHECKS[op], at, column, other)
        new = {update.slot: update for update in move.updates}
        copies: list[int] = []
        for slot in self.layouts[to]:
            old = slots.index(slot) if slot in slots else layout.NONE
            if old < 0 and (slot not in new or new[slot].how in ("min", "max")):
                raise _no_state()  # a slot was never set
            if slot in new:
                _, how, column, term = new[slot]
                column = column if term is None else self._term(term, slots)
                copies += (UPDATES[how], old, column)
            else:
                copies += (layout.UPDATE_KEEP, old, -1)
        return (
            move.label,
            to,
            self._program([len(move.checks), *checks]) if checks else layout.NONE,
            self._program([len(self.layouts[to]), *copies]) if copies else layout.NONE,
        )

    def _term(self, term: Term, slots: tuple[Slot, ...]) -> int:
        words = self._postfix(term, slots)
        return self._program([len(words) // layout.STEP_WORDS, *words])

    def _absent(self, what: Absent, slots: tuple[Slot, ...]) -> int:
        kind, after, before, term = what
        places = [layout.NONE if each is None else slots.index(each) for each in (after, before)]
        return self._program(
            [kind, *places, layout.NONE if term is None else self._term(term, slots)]
        )

    def _postfix(self, term: Term, slots: tuple[Slot, ...]) -> list[int]:
        """A term as (operation, argument) pairs for a stack; loads and functions have arguments."""
        (*operands,) = term.operands
        if term.op == "column":
            return [layout.TERM_COLUMN, operands[0]]
        if term.op == "slot":
            return [layout.TERM_SLOT, slots.index(operands[0])]
        if term.op == "member":
            return [layout.TERM_MEMBER, 0]
        if term.op == "past":
            return [layout.TERM_PAST, layout.PAST_VALUES + operands[0]]
        if term.op == "constant":
            return [layout.TERM_CONSTANT, self._constant(operands[0])]
        number = self._function(operands.pop(0)) if term.op == "function" else 0
        words = [word for operand in operands for word in self._postfix(operand, slots)]
        return [*words, OPERATION[term.op], number]

    def _function(self, function: LookedUp) -> int:
        """The number of a function."""
        if function not in self.functions:
            floats = sum(1 << n for n, kind in enumerate(function.kinds) if kind is Kind.FLOAT)
            words = np.array([[len(function.kinds), floats]], np.int32)
            self.function_words = np.concatenate([self.function_words, words])
            self.functions.append(function)
        return self.functions.index(function)

    def _constant(self, value: float | None) -> int:
        """The number of a constant: an integer, the bits of a float, or NULL."""
        bits = layout.NULL if value is None else value
        if isinstance(value, float):
            bits = int(np.float64(value + 0.0).view(np.int64))  # + 0.0: the bits of -0.0 are NULL
        matching = np.flatnonzero(self.constants == bits)
        if len(matching):
            return int(matching[0])
        self.constants = np.append(self.constants, np.int64(bits))
        return len(self.constants) - 1

    def _index(self, state: int, others: list[JointMove[int]]) -> int:
        """The column whose value the first slot must equal for any move except staying, or -1."""
        if not self.layouts[state]:
            return -1
        checks = (move.checks for move in others)
        return min(index_columns(self.layouts[state][0], checks), default=-1)

    def _order(self, state: int, others: list[JointMove[int]]) -> tuple[int, int]:
        """The order that puts first the configurations that can make a move other than staying, and
        the column that bounds them; (-1, -1) if there is none."""
        slots = self.layouts[state]
        if not slots:
            return (-1, -1)
        orders = (
            (4 * slots.index(slot) + ORDERS[op], column)
            for op, slot, column in index_orders(move.checks for move in others)
        )
        return min(orders, default=(-1, -1))

    def _program(self, words: list[int]) -> int:
        key = tuple(words)
        if key not in self._programs:
            self._programs[key] = len(self.programs)
            self.longest_program = max(self.longest_program, len(words))
            self.programs = np.concatenate([self.programs, np.array(words, np.int32)])
        return self._programs[key]

    def _append(self, words: list[int]) -> int:
        at = self._edges_used
        needed = at + len(words)
        if needed > len(self.edges):
            self.edges = np.concatenate([self.edges, np.zeros(needed + len(self.edges), np.int32)])
        self.edges[at:needed] = words
        self._edges_used = needed
        return at

    def closed_state(self) -> int:
        """The number of the state of runs that were complete when their window had passed."""
        return self.number(CLOSED)

    def number(self, subset: States) -> int:
        """The number of a set of states; one that is new gets its rows in the arrays."""
        number = self._numbers.get(subset)
        if number is None:
            number = len(self.subsets)
            if number >= self.max_states:
                raise LimitError(
                    f"the pattern has needed more than {self.max_states:,} automaton states",
                    hint="simplify nested strategies, ALL or UNLESS, or raise Limits(states=…)",
                )
            self._numbers[subset] = number
            self.subsets.append(subset)
            self._make_room(number)
            counted = np.flatnonzero(self.n_moving < layout.UNCOUNTED)
            self.moving[counted, self.n_moving[counted]] = number
            self.n_moving[counted] += 1
            if subset == CLOSED:
                self.layouts.append(())
                self.accepting[number] = 1
                return number
            slots = slots_of(self.automaton, subset)
            self._check_layout(subset, slots)
            self.layouts.append(tuple(sorted(slots)))
            self.slot_counts[number] = len(slots)
            by_first = bool(slots) and not self.layouts[number][0].by_order
            self.hashed_slots[number] = 1 if by_first else len(slots)
            sets = [place for place, slot in enumerate(self.layouts[number]) if slot.is_set]
            if sets:
                self.with_sets[number] = sets
            self.accepting[number] = any(map(self.automaton.accepts, subset))
            self.closing[number] = any(map(self.automaton.closes, subset))
            goes_on = self.closing[number] or any(map(self.automaton.goes_on, subset))
            self.final[number] = not goes_on
            self._note_scopes(number)
        return number

    def _note_scopes(self, number: int) -> None:
        """Note the parts of a state that choose. A part has a greater number than those inside
        it."""
        choosing = [place for place, slot in enumerate(self.layouts[number]) if slot.chooses]
        for place in choosing:
            slot = self.layouts[number][place]
            depth = layout.SCOPES - 1 - slot.inside
            self.scope[number, depth] = place
            chooser = layout.CHOOSE_STAMPS * slot.number + slot.stamp
            self.chooser[number, depth] = layout.CHOOSE_WAYS * chooser + CHOOSES[slot.chooses]
        self.outer[number] = max(choosing, default=layout.NONE)
        alone = any(not self.layouts[number][place].rivals for place in choosing)
        rivals = [*map(self.automaton.only_competes, self.subsets[number])]
        self.lasting[number] = alone or any(rivals)
        self.entering[number] = all(rivals) and not choosing and not self.final[number]
        if len(self.layouts[number]) < MOST_BITS:
            for place, slot in enumerate(self.layouts[number]):
                if slot.easier:
                    greater = slot.easier == GREATER
                    way = layout.EASIER_GREATER if greater else layout.EASIER_SMALLER
                    self.easier[number, way] |= 1 << place
                    self.easier[number, layout.EASIER_TOTAL] |= slot.is_total << place
                    self.easier[number, layout.EASIER_FLOAT] |= slot.is_float << place
                    self.easier[number, layout.EASIER_LONG_SUM] |= slot.may_not_fit << place

    def _check_layout(self, subset: States, slots: Slots) -> None:
        """Check that the states of a set have the same slots, and that there is room for these."""
        if self.most_slots is not None:
            alike = all(self.automaton.slots(state) == slots for state in subset)
            checked.refuse_unless(alike and len(slots) <= self.most_slots, "a state has no slots")

    def sets_in(
        self, states: npt.NDArray[Any], values: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """The numbers of the sets that configurations of these states hold, with these values in
        their slots."""
        numbers = [values[:0, :0].ravel()]
        for state, places in self.with_sets.items():
            numbers.append(values[states == state][:, places].ravel())
        return np.unique(np.concatenate(numbers))

    def _make_room(self, number: int) -> None:
        classes, old = self.head.shape
        if number < old:
            return
        more = np.full((classes, old), layout.UNKNOWN, np.int32)
        self.head = np.concatenate([self.head, more], axis=1)
        self.moving = np.concatenate([self.moving, more], axis=1)
        self.accepting = np.concatenate([self.accepting, np.zeros(old, np.uint8)])
        self.closing = np.concatenate([self.closing, np.zeros(old, np.uint8)])
        self.final = np.concatenate([self.final, np.zeros(old, np.uint8)])
        self.gap_to = np.concatenate([self.gap_to, np.full(old, layout.UNKNOWN, np.int32)])
        self.gap_copy = np.concatenate([self.gap_copy, np.full(old, -1, np.int32)])
        self.slot_counts = np.concatenate([self.slot_counts, np.zeros(old, np.int32)])
        self.hashed_slots = np.concatenate([self.hashed_slots, np.zeros(old, np.int32)])
        none = np.full((old, layout.SCOPES), layout.NONE, np.int32)
        self.scope = np.concatenate([self.scope, none])
        self.outer = np.concatenate([self.outer, np.full(old, layout.NONE, np.int32)])
        self.chooser = np.concatenate([self.chooser, none])
        more_easier = np.zeros((old, layout.EASIER_WORDS), np.int32)
        self.easier = np.concatenate([self.easier, more_easier])
        self.lasting = np.concatenate([self.lasting, np.zeros(old, np.uint8)])
        self.entering = np.concatenate([self.entering, np.zeros(old, np.uint8)])


def _unstamped(move: JointMove[int]) -> JointMove[int]:
    """The move with what is seen of the event when it is reported."""
    return move._replace(label=move.label & layout.LABEL_MASK)


def _no_state() -> SnapshotError:
    return damaged(
        "its states are not those of this query; another version of Cereus that runs the query in "
        "another way may have made it"
    )


def _in_order(move: JointMove[int]) -> tuple[Any, ...]:
    """The sort key of a move, so that every process numbers moves alike. A check without a slot
    comes first."""
    checks = [
        (c.op, c.slot is not None, c.slot or (), c.column, c.other, repr(c.term))
        for c in move.checks
    ]
    return move.label, checks, move.updates
