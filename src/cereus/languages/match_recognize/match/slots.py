"""Conditions that know the match so far → slots, updates and code for `slots_kernel`.

A subexpression that reads one place only is a column: it is computed ahead for every row, and once
more for "no such row", and the kernel looks it up where the place is. What combines places or
aggregates becomes code. What neither can do raises `NotForSlots`; such clauses are searched by
`search`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.expr import tree as ex
from cereus.expr.arrow import operators
from cereus.expr.arrow.evaluate import value_of
from cereus.expr.arrow.vector import PER_SECOND, Vector, constant, from_arrow
from cereus.expr.types import Kind
from cereus.languages.match_recognize import values
from cereus.languages.match_recognize.binding import LABEL, NUMBER, Bound, Leaf
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.letters import RowColumns
from cereus.languages.match_recognize.match.matching import Moves
from cereus.languages.match_recognize.match.needs import Part, names_in, parts
from cereus.languages.match_recognize.match.program import DONE, RowAutomaton
from cereus.languages.match_recognize.match.sorting import SortedRows

WHOLE = (Kind.INTEGER, Kind.TIMESTAMP, Kind.INTERVAL, Kind.BOOLEAN, Kind.NULL)
COMPARISONS = {
    "=": (codes.EQUAL, False, False),
    "!=": (codes.EQUAL, False, True),
    "<": (codes.LESS, False, False),
    "<=": (codes.LESS_EQUAL, False, False),
    ">": (codes.LESS, True, False),
    ">=": (codes.LESS_EQUAL, True, False),
}
"""The operation, whether its sides change places, and whether its result is negated."""
ARITHMETIC = {
    "+": codes.ADD,
    "-": codes.SUBTRACT,
    "*": codes.MULTIPLY,
    "%": codes.REMAINDER,
}
FLOAT_ARITHMETIC = {
    "+": codes.ADD_FLOAT,
    "-": codes.SUBTRACT_FLOAT,
    "*": codes.MULTIPLY_FLOAT,
    "/": codes.DIVIDE_FLOAT,
    "%": codes.REMAINDER_FLOAT,
}

IN_SLOTS = frozenset(("count", "count_if", "sum", "avg", "min", "max", "bool_and", "bool_or"))
"""Aggregates that a count and one number remember."""


class NotForSlots(Exception):
    """A condition that the kernel has no slots or no code for."""


@dataclass(frozen=True)
class Base:
    """Where a value is read: the n-th row from the front or back of a variable's rows (None: of
    all rows), or, if `label`, the variable that this row is mapped to."""

    members: frozenset[str] | None = None
    first: bool = False
    offset: int = 0
    label: bool = False


HERE = Base()


@dataclass
class SlotTables:
    """What the kernel reads of a clause, whatever its rows are."""

    labels: npt.NDArray[np.int32]
    move_starts: npt.NDArray[np.int32]
    moves: npt.NDArray[np.int32]
    begin_starts: npt.NDArray[np.int32]
    begins: npt.NDArray[np.int32]
    last: npt.NDArray[np.uint8]
    constant_ints: npt.NDArray[np.int64]
    constant_floats: npt.NDArray[np.float64]
    update_starts: npt.NDArray[np.int32]
    updates: npt.NDArray[np.int32]
    code_starts: npt.NDArray[np.int32]
    code: npt.NDArray[np.int32]
    live: npt.NDArray[np.uint8]
    live_floats: npt.NDArray[np.uint8]
    initial: npt.NDArray[np.int64]


@dataclass
class RowTables:
    """What the kernel reads of the rows. The last entry of a column is for "no such row"."""

    letters: npt.NDArray[np.uint16]
    sets: npt.NDArray[np.int32]
    alive: npt.NDArray[np.uint8]
    ints: npt.NDArray[np.int64]
    floats: npt.NDArray[np.float64]
    valid: npt.NDArray[np.uint8]
    times: npt.NDArray[np.int64]
    length: int
    registers: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(codes.MOST_REGISTERS, np.int64)
    )
    float_registers: npt.NDArray[np.float64] = field(
        default_factory=lambda: np.zeros(codes.MOST_REGISTERS, np.float64)
    )
    known: npt.NDArray[np.uint8] = field(
        default_factory=lambda: np.zeros(codes.MOST_REGISTERS, np.uint8)
    )


@dataclass(frozen=True)
class Group:
    """Slots that belong together: `size` whole ones from `at`, `floats` real ones from
    `float_at`; `variables` are those that update it."""

    at: int
    size: int
    float_at: int = 0
    floats: int = 0


@dataclass(frozen=True)
class Loaded:
    """A value in a register while code is made."""

    register: int
    kind: Kind
    unit: str = ""

    @property
    def real(self) -> bool:
        return self.kind is Kind.FLOAT


class Lowering:
    """Makes the tables of a clause over its rows."""

    def __init__(self, bound: Bound, automaton: RowAutomaton, rows: SortedRows) -> None:
        self.bound, self.automaton, self.rows = bound, automaton, rows
        self.variables = bound.clause.variables()
        self.columns = RowColumns(rows)
        self.width = max(len(rows), len(self.variables)) + 1
        self.ints: list[npt.NDArray[np.int64]] = []
        self.floats: list[npt.NDArray[np.float64]] = []
        self.valid: list[npt.NDArray[np.uint8]] = []
        self.known_columns: dict[Any, tuple[int, Kind, str]] = {}
        self.constants: list[int] = []
        self.real_constants: list[float] = []
        self.initial: list[int] = []
        self.real_slots = 0
        self.groups: dict[Any, Group] = {}
        self.updates: dict[str, list[tuple[int, int, int, int]]] = {v: [] for v in self.variables}
        self.reads: dict[str, set[Group]] = {v: set() for v in self.variables}
        self.code: list[tuple[int, int, int, int]] = []
        self.next_register = 0
        self.variable = ""

    # ------------------------------------------------------------ the whole

    def tables(self) -> tuple[SlotTables, tuple[Any, Any, Any]]:
        """The tables, and the columns that rows are read from."""
        starts = [0]
        for variable in self.variables:
            self.condition(variable)
            starts.append(len(self.code))
        moves = Moves.of(self.automaton)
        places = {name: place for place, name in enumerate(self.variables)}
        labels = np.array([places[label] for label in self.automaton.labels], np.int32)
        updates = [self.updates[variable] for variable in self.variables]
        live, live_floats = self.liveness()
        tables = SlotTables(
            labels,
            moves.starts,
            moves.moves,
            moves.begin_starts,
            moves.begins,
            moves.last,
            np.array(self.constants or [0], np.int64),
            np.array(self.real_constants or [0.0], np.float64),
            np.cumsum([0, *map(len, updates)]).astype(np.int32),
            _rows([each for of in updates for each in of]),
            np.array(starts, np.int32),
            _rows(self.code),
            live,
            live_floats,
            np.array(self.initial or [0], np.int64),
        )
        return tables, self.row_columns()

    def row_columns(self) -> tuple[Any, Any, Any]:
        if not self.ints:
            shape = (1, self.width)
            return np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape, np.uint8)
        return np.stack(self.ints), np.stack(self.floats), np.stack(self.valid)

    def liveness(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """Which slots a run that waits in a state may still need: those that the condition of
        this state or of one behind it reads."""
        automaton = self.automaton
        needed: list[set[Group]] = [set(self.reads[label]) for label in automaton.labels]
        changed = True
        while changed:
            changed = False
            for q in range(len(automaton) - 1, -1, -1):
                size = len(needed[q])
                for target in automaton.moves[q]:
                    if target != DONE:
                        needed[q] |= needed[target]
                changed |= len(needed[q]) != size
        live = np.zeros((max(len(automaton), 1), max(len(self.initial), 1)), np.uint8)
        real = np.zeros((max(len(automaton), 1), max(self.real_slots, 1)), np.uint8)
        for q, groups in enumerate(needed):
            for group in groups:
                live[q, group.at : group.at + group.size] = 1
                real[q, group.float_at : group.float_at + group.floats] = 1
        return live, real

    # ------------------------------------------------------------ conditions

    def condition(self, variable: str) -> None:
        """Code that leaves the truth of the parts that are not of the row in register 0."""
        asked = [part for part in parts(self.bound, variable) if not part.of_row]
        self.variable, self.next_register = variable, 1
        truths = [self.load(part.expression, part) for part in asked]
        if not truths:
            return
        whole = truths[0]
        for each in truths[1:]:
            whole = self.emit(codes.AND, Kind.BOOLEAN, whole, each)
        self.code.append((codes.AND, 0, whole.register, whole.register))

    def register(self) -> int:
        if self.next_register >= codes.MOST_REGISTERS:
            raise NotForSlots
        self.next_register += 1
        return self.next_register - 1

    def emit(
        self, op: int, kind: Kind, a: Loaded, b: Loaded | None = None, unit: str = ""
    ) -> Loaded:
        to = self.register()
        self.code.append((op, to, a.register, (b or a).register))
        return Loaded(to, kind, unit)

    def load(self, node: ex.Expression, part: Part) -> Loaded:
        """Code for the value of an expression."""
        leaves = [part.leaves[name] for name in sorted(names_in(node))]
        if not leaves:
            return self.literal(value_of(node, {}))
        bases = {self.base(leaf) for leaf in leaves}
        if len(bases) == 1:
            (base,) = bases
            if isinstance(base, Base):
                return self.column(node, part, base)
        match node:
            case ex.Attribute((name,)):
                return self.leaf(part.leaves[name])
            case ex.And(operands):
                return self.joined(codes.AND, operands, part)
            case ex.Or(operands):
                return self.joined(codes.OR, operands, part)
            case ex.Not(operand):
                return self.emit(codes.NOT, Kind.BOOLEAN, self.load(operand, part))
            case ex.IsNull(operand):
                return self.emit(codes.IS_NULL, Kind.BOOLEAN, self.load(operand, part))
            case ex.Comparison(op, left, right):
                return self.compared(op, left, right, part)
            case ex.Between(operand, low, high):
                bounds = [(">=", low), ("<=", high)]
                tests = tuple(ex.Comparison(op, operand, b) for op, b in bounds if b is not None)
                return self.joined(codes.AND, tests, part)
            case ex.In(operand, items):
                tests = tuple(ex.Comparison("=", operand, item) for item in items)
                return self.joined(codes.OR, tests, part)
            case ex.Negate(operand):
                return self.load(ex.Arithmetic("-", ex.Literal(0), operand), part)
            case ex.Arithmetic(op, left, right):
                return self.calculated(op, self.load(left, part), self.load(right, part))
        raise NotForSlots

    def joined(self, op: int, operands: Sequence[ex.Expression], part: Part) -> Loaded:
        found = self.load(operands[0], part)
        for each in operands[1:]:
            found = self.emit(op, Kind.BOOLEAN, found, self.load(each, part))
        return found

    def literal(self, vector: Vector) -> Loaded:
        valid = vector.validity()
        known = int(valid is None or bool(valid))
        to = self.register()
        if vector.kind is Kind.FLOAT:
            self.real_constants.append(float(vector.values))
            self.code.append((codes.CONSTANT_FLOAT, to, len(self.real_constants) - 1, known))
        elif vector.kind in WHOLE:
            self.constants.append(int(vector.values))
            self.code.append((codes.CONSTANT_INT, to, len(self.constants) - 1, known))
        else:
            raise NotForSlots
        return Loaded(to, vector.kind, vector.unit)

    # ------------------------------------------------------------ operators

    def compared(self, op: str, left: ex.Expression, right: ex.Expression, part: Part) -> Loaded:
        a, b = self.sides(left, right, part)
        if Kind.NULL in (a.kind, b.kind):
            return self.literal(operators.compare("=", constant(None), constant(None)))
        operation, swapped, negated = COMPARISONS[op]
        if a.real or b.real:
            a, b = self.real(a), self.real(b)
            operation += codes.EQUAL_FLOAT - codes.EQUAL
        elif a.kind is not b.kind:
            raise NotForSlots
        else:
            a, b = self.same_unit(a, b)
        found = self.emit(operation, Kind.BOOLEAN, *((b, a) if swapped else (a, b)))
        return self.emit(codes.NOT, Kind.BOOLEAN, found) if negated else found

    def sides(self, left: ex.Expression, right: ex.Expression, part: Part) -> tuple[Loaded, Loaded]:
        """The two sides of a comparison; strings and decimals of two places by their ranks."""
        ranked = self.ranked(left, right, part)
        return ranked or (self.load(left, part), self.load(right, part))

    def real(self, value: Loaded) -> Loaded:
        if value.real:
            return value
        if value.kind is not Kind.INTEGER:
            raise NotForSlots
        return self.emit(codes.TO_FLOAT, Kind.FLOAT, value)

    def same_unit(self, a: Loaded, b: Loaded) -> tuple[Loaded, Loaded]:
        if a.unit == b.unit:
            return a, b
        unit = max((a.unit, b.unit), key=PER_SECOND.__getitem__)
        return self.in_unit(a, unit), self.in_unit(b, unit)

    def in_unit(self, value: Loaded, unit: str) -> Loaded:
        factor = PER_SECOND[unit] // PER_SECOND[value.unit]
        if factor == 1:
            return replace(value, unit=unit)
        by = self.literal(constant(factor))
        return self.emit(codes.MULTIPLY, value.kind, value, by, unit)

    def calculated(self, op: str, a: Loaded, b: Loaded) -> Loaded:
        times = (Kind.TIMESTAMP, Kind.INTERVAL)
        if a.kind in times or b.kind in times:
            if not (a.kind in times and b.kind in times and op in "+-"):
                raise NotForSlots
            unit = "ns" if "ns" in (a.unit, b.unit) else "us"
            a, b = self.in_unit(a, unit), self.in_unit(b, unit)
            kind = Kind.INTERVAL if a.kind is b.kind else Kind.TIMESTAMP
            return self.emit(ARITHMETIC[op], kind, a, b, unit)
        if a.kind is b.kind is Kind.INTEGER and op != "/":
            return self.emit(ARITHMETIC[op], Kind.INTEGER, a, b)
        return self.emit(FLOAT_ARITHMETIC[op], Kind.FLOAT, self.real(a), self.real(b))

    # ------------------------------------------------------------ places

    def base(self, leaf: Leaf) -> Base | Leaf:
        """The place that a leaf is read at; aggregates and match numbers stand for themselves."""
        if not isinstance(leaf, values.At):
            return leaf
        place = leaf.place
        members = self.bound.clause.members(place.variable)
        universal = place.variable is None or members >= set(self.automaton.labels)
        read = names_in(leaf.argument)
        if NUMBER in read:
            raise NotForSlots
        if LABEL in read:
            return self.label_base(leaf, members, universal, read)
        return Base(None if universal else members, place.first, place.offset)

    def label_base(
        self, leaf: values.At, members: frozenset[str], universal: bool, read: set[str]
    ) -> Base:
        place = leaf.place
        if read != {LABEL} or place.first or place.shift > 0 or (place.shift and not universal):
            raise NotForSlots
        of = frozenset(self.automaton.labels) if universal else members
        return Base(of, False, place.offset - place.shift, label=True)

    def column(self, node: ex.Expression, part: Part, base: Base) -> Loaded:
        """Code that reads a column at a place."""
        number, kind, unit = self.column_of(node, part, base)
        to = self.register()
        if base == HERE:
            self.code.append((codes.AT_ROW, to, number, 0))
        elif base.members is None:
            op = codes.AT_FIRST if base.first else codes.AT_LAST
            self.code.append((op, to, number, base.offset))
        else:
            group = self.positions(base)
            self.code.append((codes.AT_SLOT, to, number, group.at + base.offset))
        return Loaded(to, kind, unit)

    def positions(self, base: Base) -> Group:
        """The slots that hold the rows of a variable, or its labels; long enough for the
        largest offset that is read."""
        assert base.members is not None
        key = (base.members, base.first, base.label)
        if key not in self.groups:
            size = 1 + self.largest_offset(base)
            group = Group(len(self.initial), size)
            self.initial += [self.width - 1] * size
            self.groups[key] = group
            kind = codes.FIRST_ROWS if base.first else codes.SHIFT_ROW
            kind = codes.SHIFT_LABEL if base.label else kind
            self.on_update(base.members, (kind, group.at, size, 0))
        return self.read(self.groups[key])

    def largest_offset(self, base: Base) -> int:
        found = 0
        for variable in self.variables:
            for part in parts(self.bound, variable):
                for leaf in part.leaves.values():
                    other = self.base(leaf) if not part.of_row else None
                    if isinstance(other, Base) and replace(other, offset=0) == replace(
                        base, offset=0
                    ):
                        found = max(found, other.offset)
        if found > 64:
            raise NotForSlots
        return found

    def on_update(self, members: Iterable[str], update: tuple[int, int, int, int]) -> None:
        for member in members:
            if member in self.updates:
                self.updates[member].append(update)

    def read(self, group: Group) -> Group:
        self.reads[self.variable].add(group)
        return group

    # ------------------------------------------------------------ columns

    def column_of(self, node: ex.Expression, part: Part, base: Base) -> tuple[int, Kind, str]:
        key = repr((node, sorted(part.leaves.items()), base.label))
        if key not in self.known_columns:
            vector = self.vector(node, part, base)
            self.known_columns[key] = (*self.add(vector), vector.unit)
        return self.known_columns[key]

    def vector(self, node: ex.Expression, part: Part, base: Base) -> Vector:
        """The value of an expression on every row, and behind them for no row."""
        columns: dict[ex.Attribute, pa.Array | Vector] = {}
        nothing: dict[ex.Attribute, pa.Array | Vector] = {}
        for name in names_in(node):
            leaf = part.leaves[name]
            assert isinstance(leaf, values.At)
            data = self.data(leaf, base)
            columns[ex.Attribute((name,))] = data
            nothing[ex.Attribute((name,))] = _nothing(data)
        return _with_last(value_of(node, columns), value_of(node, nothing), self.width, base, self)

    def data(self, leaf: values.At, base: Base) -> pa.Array | Vector:
        if not base.label:
            return self.columns.leaf(leaf)
        labels = pa.array(self.variables, pa.string())
        return value_of(leaf.argument, {ex.Attribute((LABEL,)): labels})

    def add(self, vector: Vector) -> tuple[int, Kind]:
        if vector.kind not in (*WHOLE, Kind.FLOAT):
            raise NotForSlots
        valid = np.ones(self.width, np.uint8) if vector.valid is None else vector.valid
        self.valid.append(np.ascontiguousarray(valid, np.uint8))
        whole = vector.kind is not Kind.FLOAT
        numbers = vector.values
        if whole and getattr(numbers, "dtype", None) == np.uint64:
            raise NotForSlots
        self.ints.append(np.ascontiguousarray(numbers, np.int64) if whole else self.zeros())
        self.floats.append(
            np.zeros(self.width) if whole else np.ascontiguousarray(numbers, np.float64)
        )
        return len(self.valid) - 1, vector.kind

    def zeros(self) -> npt.NDArray[np.int64]:
        return np.zeros(self.width, np.int64)

    def ranked(
        self, left: ex.Expression, right: ex.Expression, part: Part
    ) -> tuple[Loaded, Loaded] | None:
        """Two sides that are strings or decimals, each of one place, as the ranks of their
        values among both."""
        sides = []
        for node in (left, right):
            leaves = [part.leaves[name] for name in sorted(names_in(node))]
            bases = {self.base(leaf) for leaf in leaves}
            if len(bases) > 1 or not all(isinstance(base, Base) for base in bases):
                return None
            base = next(iter(bases), HERE)
            assert isinstance(base, Base)
            sides.append((base, self.vector(node, part, base) if leaves else value_of(node, {})))
        kinds = {vector.kind for _, vector in sides}
        if not kinds & {Kind.STRING, Kind.DECIMAL} or kinds & {Kind.NULL, Kind.FLOAT}:
            return None
        ranks = _ranks([vector for _, vector in sides], self.width)
        found = []
        for (base, _), vector in zip(sides, ranks, strict=True):
            number, kind = self.add(vector)
            self.known_columns[object()] = (number, kind, "")
            found.append(self.at(number, base))
        return found[0], found[1]

    def at(self, number: int, base: Base) -> Loaded:
        """Code that reads a column that is there already."""
        to = self.register()
        if base == HERE:
            self.code.append((codes.AT_ROW, to, number, 0))
        elif base.members is None:
            op = codes.AT_FIRST if base.first else codes.AT_LAST
            self.code.append((op, to, number, base.offset))
        else:
            group = self.positions(base)
            self.code.append((codes.AT_SLOT, to, number, group.at + base.offset))
        return Loaded(to, Kind.INTEGER)

    # ------------------------------------------------------------ aggregates

    def leaf(self, leaf: Leaf) -> Loaded:
        if isinstance(leaf, values.Number):
            to = self.register()
            self.code.append((codes.MATCH_NUMBER, to, 0, 0))
            return Loaded(to, Kind.INTEGER)
        assert isinstance(leaf, values.Over)
        members = self.bound.clause.members(leaf.variable)
        if leaf.argument is None:
            return self.counted(leaf, members)
        if {LABEL, NUMBER} & names_in(leaf.argument):
            raise NotForSlots
        return self.aggregated(leaf, leaf.argument, members)

    def counted(self, leaf: values.Over, members: frozenset[str]) -> Loaded:
        to = self.register()
        if leaf.variable is None:
            self.code.append((codes.MATCH_LENGTH, to, 0, 0))
        else:
            group = self.group(("count", members), 1)
            if group is None:
                group = self.new_group(("count", members), 1, 0)
                self.on_update(members, (codes.COUNT_ROWS, group.at, 0, 0))
            self.code.append((codes.SLOT_INT, to, 0, group.at))
        return Loaded(to, Kind.INTEGER)

    def group(self, key: Any, size: int) -> Group | None:
        return self.read(self.groups[key]) if key in self.groups else None

    def new_group(self, key: Any, size: int, floats: int) -> Group:
        group = Group(len(self.initial), size, self.real_slots, floats)
        self.initial += [0] * size
        self.real_slots += floats
        self.groups[key] = group
        return self.read(group)

    def aggregated(
        self, leaf: values.Over, argument: ex.Expression, members: frozenset[str]
    ) -> Loaded:
        vector = self.argument(argument)
        function = leaf.function
        if function not in IN_SLOTS:
            raise NotForSlots
        number, kind = self.argument_column(argument, vector)
        key = (function if function in ("min", "max") else "sum", members, repr(argument))
        group = self.group(key, 2)
        real = kind is Kind.FLOAT
        if group is None:
            group = self.new_group(key, 2, int(real))
            self.update_with(key[0], number, real, group, members)
        return self.result(function, group, kind, vector.unit)

    def update_with(
        self, function: str, number: int, real: bool, group: Group, members: frozenset[str]
    ) -> None:
        kinds = {
            ("sum", False): codes.SUM_INT,
            ("sum", True): codes.SUM_FLOAT,
            ("min", False): codes.MIN_INT,
            ("min", True): codes.MIN_FLOAT,
            ("max", False): codes.MAX_INT,
            ("max", True): codes.MAX_FLOAT,
        }
        slot = group.float_at if real else group.at + 1
        # the count is the group's first slot, and is updated last: extremes look at it
        self.on_update(members, (kinds[function, real], slot, number, group.at))
        self.on_update(members, (codes.COUNT_VALID, group.at, number, 0))

    def result(self, function: str, group: Group, kind: Kind, unit: str) -> Loaded:
        count = Loaded(self.register(), Kind.INTEGER)
        self.code.append((codes.SLOT_INT, count.register, 0, group.at))
        if function == "count":
            return count
        raw = Loaded(self.register(), kind, unit)
        if kind is Kind.FLOAT:
            self.code.append((codes.SLOT_FLOAT, raw.register, 0, group.float_at))
        else:
            self.code.append((codes.SLOT_INT, raw.register, 0, group.at + 1))
        if function in ("bool_or", "bool_and", "count_if"):
            return self.of_booleans(function, raw, count, group)
        if function == "avg":
            raw = self.emit(codes.DIVIDE_FLOAT, Kind.FLOAT, self.real(raw), self.real(count))
        return self.if_any(raw, group)

    def if_any(self, value: Loaded, group: Group) -> Loaded:
        to = self.register()
        self.code.append((codes.VALID_IF, to, value.register, group.at))
        return replace(value, register=to)

    def of_booleans(self, function: str, true: Loaded, count: Loaded, group: Group) -> Loaded:
        if function == "count_if":
            return replace(true, kind=Kind.INTEGER)
        if function == "bool_and":
            return self.if_any(self.emit(codes.EQUAL, Kind.BOOLEAN, true, count), group)
        none = self.literal(constant(0))
        return self.if_any(self.emit(codes.LESS, Kind.BOOLEAN, none, true), group)

    def argument(self, argument: ex.Expression) -> Vector:
        data = self.columns.argument(argument)
        vector = data if isinstance(data, Vector) else from_arrow(data)
        if vector.kind is Kind.DECIMAL:
            vector = operators.as_float(vector)
        return vector

    def argument_column(self, argument: ex.Expression, vector: Vector) -> tuple[int, Kind]:
        key = ("argument", repr(argument))
        if key not in self.known_columns:
            if vector.kind is Kind.STRING:
                raise NotForSlots
            empty = replace(vector, values=np.zeros((), vector.values.dtype), valid=np.False_)
            padded = _with_last(vector, empty, self.width, HERE, self)
            self.known_columns[key] = (*self.add(padded), vector.unit)
        number, kind, _ = self.known_columns[key]
        return number, kind


def _rows(rows: Sequence[tuple[int, int, int, int]]) -> npt.NDArray[np.int32]:
    return np.array(list(rows) or [(0, 0, 0, 0)], np.int32)


def _nothing(data: pa.Array | Vector) -> Vector:
    """One null of the kind that a column has."""
    vector = data if isinstance(data, Vector) else from_arrow(data)
    if isinstance(vector.values, pa.Array | pa.Scalar):
        return Vector(vector.kind, pa.scalar(None, vector.values.type))
    if vector.kind is Kind.NULL:
        return vector
    zero = np.zeros((), np.asarray(vector.values).dtype)[()]
    return replace(vector, values=zero, valid=np.False_)


def _with_last(vector: Vector, last: Vector, width: int, base: Base, of: Lowering) -> Vector:
    """A column of `width` entries: those of the rows (or labels), filled up, and the last one."""
    length = len(of.variables) if base.label else len(of.rows)
    if vector.kind is Kind.NULL and last.kind is not Kind.NULL:
        vector = replace(last, valid=np.False_)
    if isinstance(vector.values, pa.Array | pa.Scalar):
        return replace(vector, values=_arrow_with_last(vector, last, length, width))
    values_ = np.zeros(width, np.asarray(vector.values).dtype)
    values_[:length] = vector.values
    valid = np.zeros(width, np.bool_)
    valid[:length] = True if vector.valid is None else vector.valid
    if last.kind is not Kind.NULL:
        values_[-1] = last.values
        valid[-1] = last.valid is None or bool(last.valid)
    return replace(vector, values=values_, valid=valid)


def _arrow_with_last(vector: Vector, last: Vector, length: int, width: int) -> pa.Array:
    data = vector.values
    if isinstance(data, pa.Scalar):
        data = pa.repeat(data, length)
    end = last.values if isinstance(last.values, pa.Scalar) else pa.scalar(None, data.type)
    return pa.concat_arrays(
        [data, pa.nulls(width - 1 - length, data.type), pa.repeat(end.cast(data.type), 1)]
    )


def _ranks(vectors: Sequence[Vector], width: int) -> list[Vector]:
    """Values of a kind that has an order, as their ranks among all of them."""
    unified = operators.unify(list(vectors))
    arrays = [
        pa.repeat(v.values, width) if isinstance(v.values, pa.Scalar) else v.values for v in unified
    ]
    every = pa.concat_arrays(arrays)
    distinct = pc.unique(every.drop_null())
    ordered = distinct.take(pc.sort_indices(distinct))
    ranks = pc.index_in(every, value_set=ordered)
    valid = np.asarray(pc.is_valid(every)).astype(np.bool_)
    numbers = np.asarray(pc.fill_null(ranks, 0)).astype(np.int64)
    return [
        Vector(Kind.INTEGER, numbers[at : at + width], valid[at : at + width])
        for at in range(0, len(every), width)
    ]
