"""Numbers that the kernels and their callers share."""

# What ended a call.
FINISHED = 0
UNKNOWN_SET = 1
OUTPUT_FULL = 2
NOT_MAPPED = 3
FIRST_ROW = 4
TOO_MANY_RUNS = 5
TOO_MANY_NODES = 6
TOO_MUCH_WORK = 7

# AFTER MATCH SKIP
PAST_LAST_ROW = 0
NEXT_ROW = 1
TO_FIRST = 2
TO_LAST = 3

# Updates of slots: kind, slot, size or column, companion.
SHIFT_ROW = 0
FIRST_ROWS = 1
SHIFT_LABEL = 2
COUNT_ROWS = 3
COUNT_VALID = 4
SUM_INT = 5
SUM_FLOAT = 6
MIN_INT = 7
MAX_INT = 8
MIN_FLOAT = 9
MAX_FLOAT = 10

# Operations: op, to, a, b.
AT_ROW = 0  # column a at the current row
AT_SLOT = 1  # column a at the row in slot b
AT_FIRST = 2  # column a at the b-th row of the match
AT_LAST = 3  # column a, b rows back in the match
SLOT_INT = 4
SLOT_FLOAT = 5
CONSTANT_INT = 6
CONSTANT_FLOAT = 7
MATCH_NUMBER = 8
TO_FLOAT = 9
EQUAL = 10
LESS = 11
LESS_EQUAL = 12
EQUAL_FLOAT = 13
LESS_FLOAT = 14
LESS_EQUAL_FLOAT = 15
NOT = 16
AND = 17
OR = 18
IS_NULL = 19
ADD = 20
SUBTRACT = 21
MULTIPLY = 22
REMAINDER = 23
ADD_FLOAT = 24
SUBTRACT_FLOAT = 25
MULTIPLY_FLOAT = 26
DIVIDE_FLOAT = 27
REMAINDER_FLOAT = 28
VALID_IF = 29  # a, if slot b is above 0
MATCH_LENGTH = 30

MOST_REGISTERS = 256
