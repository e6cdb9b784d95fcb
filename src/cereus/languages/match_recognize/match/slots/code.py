"""Turns conditions into operations for `slots_kernel`: values in registers, with NULL as in SQL."""

from __future__ import annotations

from dataclasses import replace

from cereus.expr.arrow import operators
from cereus.expr.arrow.vector import PER_SECOND, Vector, constant
from cereus.expr.types import Kind
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.slots.tables import Loaded, NotForSlots

AS_INTS = (Kind.INTEGER, Kind.TIMESTAMP, Kind.INTERVAL, Kind.BOOLEAN, Kind.NULL)
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
EXTREMES = {
    "greatest": {Kind.INTEGER: codes.GREATEST_INT, Kind.FLOAT: codes.GREATEST_FLOAT},
    "least": {Kind.INTEGER: codes.LEAST_INT, Kind.FLOAT: codes.LEAST_FLOAT},
}


class Code:
    """The operations so far, and the constants that they read."""

    def __init__(self) -> None:
        self.operations: list[tuple[int, int, int, int]] = []
        self.constants: list[int] = []
        self.real_constants: list[float] = []
        self.next_register = 0

    def begin(self) -> None:
        """Begin a condition: register 0 is for its truth."""
        self.next_register = 1

    def add(self, op: int, to: int, a: int = 0, b: int = 0) -> None:
        self.operations.append((op, to, a, b))

    def register(self) -> int:
        if self.next_register >= codes.MOST_REGISTERS:
            raise NotForSlots
        self.next_register += 1
        return self.next_register - 1

    def emit(
        self, op: int, kind: Kind, a: Loaded, b: Loaded | None = None, unit: str = ""
    ) -> Loaded:
        to = self.register()
        self.add(op, to, a.register, (b or a).register)
        return Loaded(to, kind, unit)

    def literal(self, vector: Vector) -> Loaded:
        valid = vector.validity()
        known = int(valid is None or bool(valid))
        to = self.register()
        if vector.kind is Kind.FLOAT:
            self.real_constants.append(float(vector.values))
            self.add(codes.CONSTANT_FLOAT, to, len(self.real_constants) - 1, known)
        elif vector.kind in AS_INTS:
            self.constants.append(int(vector.values))
            self.add(codes.CONSTANT_INT, to, len(self.constants) - 1, known)
        else:
            raise NotForSlots
        return Loaded(to, vector.kind, vector.unit)

    def compared(self, op: str, a: Loaded, b: Loaded) -> Loaded:
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
        truth = self.emit(operation, Kind.BOOLEAN, *((b, a) if swapped else (a, b)))
        return self.emit(codes.NOT, Kind.BOOLEAN, truth) if negated else truth

    def called(self, name: str, given: list[Loaded]) -> Loaded:
        """A function of values that are in registers."""
        if name == "abs" and given[0].kind in (Kind.INTEGER, Kind.FLOAT):
            op = codes.SIZE_FLOAT if given[0].real else codes.SIZE_INT
            return self.emit(op, given[0].kind, given[0])
        if name == "sqrt":
            return self.emit(codes.SQUARE_ROOT, Kind.FLOAT, self.real(given[0]))
        if name == "coalesce":
            *firsts, last = self.alike(given)
            value = self.emit(codes.COPY, last.kind, last, unit=last.unit)
            for each in reversed(firsts):
                self.add(codes.IF_KNOWN, value.register, each.register)
            return value
        if name in EXTREMES:
            best, *others = self.alike(given)
            if best.kind not in EXTREMES[name]:
                raise NotForSlots
            for each in others:
                best = self.emit(EXTREMES[name][best.kind], best.kind, best, each, best.unit)
            return best
        raise NotForSlots

    def chosen(self, whens: list[Loaded], given: list[Loaded]) -> Loaded:
        """The value after the first condition that is true; the last value, if none is."""
        if any(when.kind not in (Kind.BOOLEAN, Kind.NULL) for when in whens):
            raise NotForSlots
        *thens, default = self.alike(given)
        value = self.emit(codes.COPY, default.kind, default, unit=default.unit)
        for when, then in zip(reversed(whens), reversed(thens), strict=True):
            self.add(codes.CHOOSE, value.register, when.register, then.register)
        return value

    def alike(self, given: list[Loaded]) -> list[Loaded]:
        """The same values with one kind and unit; NULL fits any, and integers become floats."""
        kinds = {each.kind for each in given} - {Kind.NULL}
        if Kind.FLOAT in kinds:
            return [
                replace(each, kind=Kind.FLOAT) if each.kind is Kind.NULL else self.real(each)
                for each in given
            ]
        known = [each for each in given if each.kind is not Kind.NULL]
        if len(kinds) != 1 or len({each.unit for each in known}) != 1:
            raise NotForSlots
        return [replace(each, kind=known[0].kind, unit=known[0].unit) for each in given]

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
