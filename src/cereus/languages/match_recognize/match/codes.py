"""Numbers that the kernels and their callers share."""

# Why a call ended.
FINISHED = 0
UNKNOWN_SET = 1
OUTPUT_FULL = 2
NOT_MAPPED = 3
FIRST_ROW = 4
TOO_MANY_RUNS = 5
TOO_MANY_NODES = 6
TOO_MUCH_WORK = 7

# How far a search has come, as the places of `progress`: the partition, the row to go on at, how
# many matches and states of their rows were written, the letter or the row of an error, the set of
# states that was met with that letter, and how many rows were read.
PART = 0
ROW = 1
MATCHES = 2
WRITTEN = 3
CULPRIT = 4
SET = 5
READ = 6
PROGRESS = 7  # places

# Check for Ctrl-C after this many rows, however many calls they take. Here it is a constant of C, a
# power of two: `row % LOOK_EVERY` takes one step of the processor.
LOOK_EVERY = 1 << 20

# AFTER MATCH SKIP
PAST_LAST_ROW = 0
NEXT_ROW = 1
TO_FIRST = 2
TO_LAST = 3

# The columns of an update of slots: its kind, a slot, a size or a column of the table, and a second
# slot.
UPDATE_KIND = 0
UPDATE_SLOT = 1
UPDATE_SIZE = 2
UPDATE_WITH = 3

# Kinds of updates.
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
NOTE_VALID = 11  # 1 once there is a value
SPREAD = 12  # a mean, followed by the sum of the squared distances from it
TEXT_STEP = 13  # the state that a value of a column leads to, by a column of steps
MOST_ROW = 14  # the first row that has the greatest value of a column
LEAST_ROW = 15
FIRST_VALID = 16  # the first row that has a value
LAST_ROWS = 17  # the last row, followed by the number of consecutive rows, up to a size
HEAD_ROWS = 18  # the first row, followed by the same number

# The columns of an operation: its kind, the register that it writes, and its operands a, b.
OPERATION = 0
WRITES = 1
READS_A = 2
READS_B = 3

# The kinds of operations.
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
AVERAGE_INT = 31  # of the sum in slot a and the count in slot b
AVERAGE_FLOAT = 32
COPY = 33
CHOOSE = 34  # b, if a is true; else the register stays as it is
IF_KNOWN = 35  # a, if it is not null; else the register stays as it is
SIZE_INT = 36
SIZE_FLOAT = 37
GREATEST_INT = 38
LEAST_INT = 39
GREATEST_FLOAT = 40
LEAST_FLOAT = 41
AT_TAIL = 42  # column a, as many rows before the one in slot b as the register has
VARIANCE = 43  # of the spread in slot a and the count in slot b
SAMPLE_VARIANCE = 44
SQUARE_ROOT = 45
AT_HEAD = 46  # column a, as many rows behind the one in slot b as the register has
PERCENTILE = 47  # number a, of the rows up to the one in slot b
DISTINCT = 48  # how many of these rows are the first of them with their value

MOST_REGISTERS = 256

# Whether a condition holds for all rows of a block: 1, 0, or
UNSURE = -1

# The columns of a comparison of rows with a constant value: the column of the table, how it is
# compared, whether as a float, and the register of the value.
COMPARED_COLUMN = 0
COMPARED_HOW = 1
COMPARED_AS_FLOAT = 2
COMPARED_WITH = 3

# Where the comparisons of a variable begin: those for where it must not be true, then those for
# where it must be; and where these end.
MUST_FAIL = 0
MUST_HOLD = 1
COMPARISONS_END = 2

# The columns of a total in a line: its slot, how the slot is read, and what is subtracted.
TOTAL_SLOT = 0
TOTAL_KIND = 1
TOTAL_BEFORE = 2

# The columns of a percentile: the column of the table, and the part as a fraction.
PERCENTILE_COLUMN = 0
NUMERATOR = 1
DENOMINATOR = 2

# The columns of a place where a run came to nothing; its slots follow them.
DEAD_START = 0
DEAD_ROW = 1
DEAD_STATE = 2
DEAD_SLOTS = 3

# How a row is compared with a constant value.
ROW_LESS = 0
ROW_LESS_EQUAL = 1
ROW_GREATER = 2
ROW_GREATER_EQUAL = 3
ROW_EQUAL = 4
ROW_NOT_EQUAL = 5

# States in which a run may leap over blocks: the match goes on after them, or may end there.
GOES_ON = 1
MAY_END = 2
BLOCK_BITS = 3
BLOCK_SIZES = 13  # 8 rows, and twice as many each time, up to 32,768
