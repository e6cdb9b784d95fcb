"""The numbers that tables, coding passes and the kernel agree on: columns of arrays, and opcodes.

Compiled modules read them as constants of C: `setup.py` declares every name here in a `.pxd`. So
this module has nothing but numbers, imports nothing, and looks the same from both sides:

    if cython.compiled:
        from cython.cimports.cereus.engine.kernel import layout
    else:
        from cereus.engine.kernel import layout
"""

# ---------------------------------------------------------------- values that stand for something

NONE = -1
"""No partial match, no state, no program, no slot."""
UNSTARTED = 0
"""In `empty`: the partial match that has seen nothing."""
NULL = -(1 << 63)
"""A value that is not known."""
NO_BOUND = -(1 << 63)
"""The floor where there is no window: everything is inside."""
LATEST = (1 << 63) - 1
"""The floor that nothing is inside of."""

UNMARKED, UNSEEN, HIDDEN = 0, 1, 2
"""Labels: the event is no part of the match; it begins the match, and is not shown; it is part of
the match, and nothing of it is selected. What is selected has greater labels."""
FIRST_SHOWN = HIDDEN
LABEL_BITS, STAMP_BITS = 16, 7
LABEL_MASK = (1 << LABEL_BITS) - 1
"""Above the label are the stamps of the parts that have marked the event, one bit each."""

# ---------------------------------------------------------------- what a turn of the kernel ends in

FINISHED, CHUNK_FULL, TOO_MANY_NODES, TOO_MANY_CONFIGURATIONS, TOO_MANY_MATCHES = range(5)
TOO_MANY_STEPS = 5

# ---------------------------------------------------------------- looking for interrupts

LOOK_EVERY = 1 << 20
"""Check for interrupts after this many configurations have read an event: well below a second.
Other work counts too (`_worked`), and long programs count more."""
STATES_PER_STEP, CELLS_PER_STEP = 16, 16
"""How many states are looked at, and how many cells of a vector added, in the time of one step."""

# ---------------------------------------------------------------- nodes

NODE_WORDS, NODE_INTS = 4, 8
"""A node is four int64; the array is also seen as int32, eight to a node."""
NODE_EVENT, NODE_START = 0, 1
"""The int64 columns: the event's ordinal, and the latest start of the matches below."""
NODE_LINK, NODE_LEFT, NODE_RIGHT, NODE_TAG = 4, 5, 6, 7
"""The int32 columns: what the event extends, the two children, and label and rank in one."""
RANK_BITS = 8
RANK_MASK = (1 << RANK_BITS) - 1
"""A tag is the label with its stamps, shifted by so many bits, and the rank. The rank of a leftist
heap of n nodes is at most log2(n + 1), so 8 bits are plenty."""

VECTOR_BEGIN, VECTOR_START, VECTOR_SIZE = NODE_EVENT, NODE_START, NODE_LINK
"""When counting, a node is a vector: its first cell (int64), the latest start, and how many cells
there are (int32)."""

# ---------------------------------------------------------------- configurations

CARRY_STATE, CARRY_ROOT, CARRY_EMPTY, CARRY_VALUES = range(4)
"""A configuration of a key that is not being read; its values fill the columns from the last on."""
PENDING_STATE, PENDING_LABEL, PENDING_ROOT, PENDING_EMPTY, PENDING_WORDS = range(5)
"""A configuration on its way to a state."""

# ---------------------------------------------------------------- the moves of a state on a class

STAY, UNKNOWN = -1, -2
"""In `head` instead of a place in `edges`: nothing happens; not computed yet."""
UNCOUNTED = (1 << 31) - 1
"""In `n_moving`: no list is kept."""
EDGES_COUNT, EDGES_COLUMN, EDGES_STAYS, EDGES_ORDER, EDGES_BOUND, EDGES_MOVES = range(6)
"""How many moves there are, the column that finds the configurations that can make them (-1: none),
whether runs may also stay, by which order they are found (-1: none) and the column that is their
bound there, and the first move. An order is four times the slot, plus 2 where its value must be
above the bound (else below), plus 1 where it must not be equal to it."""
STAYS_OR_ENDS = 2
"""Runs may stay, and every other move completes matches that nothing can be added to."""
STAYS_OR_LEAVES = 3
"""Runs may stay, and every other move marks the event and leaves all parts that choose, with no
values."""
MOVE_LABEL, MOVE_TO, MOVE_CHECKS, MOVE_COPY, MOVE_WORDS = range(5)
"""How the event is marked, the target, and the programs of its checks and copies (-1: none)."""

# ---------------------------------------------------------------- programs

PROGRAM_COUNT, PROGRAM_ITEMS = range(2)
"""A program is how many items it has, and then these: checks, copies, or the steps of a term."""

CHECK_OP, CHECK_SLOT, CHECK_COLUMN, CHECK_OTHER, CHECK_WORDS = range(5)
"""A check compares a slot with a column, or (slot -1) two columns. With HOLDS and FAILS, the column
is the program of a term; with ABSENT and PRESENT, the program below. NOT_IN and EVERY ask about the
members of a set whose number is in the slot: none of them is the value in the column, each of them
makes a term true."""
CHECK_TERM = CHECK_COLUMN
(
    CHECK_LESS, CHECK_LESS_OR_EQUAL, CHECK_GREATER, CHECK_GREATER_OR_EQUAL,
    CHECK_EQUAL, CHECK_NOT_EQUAL, CHECK_DIFFERS, CHECK_HOLDS, CHECK_FAILS, CHECK_ABSENT,
    CHECK_PRESENT, CHECK_NOT_IN, CHECK_EVERY,
) = range(13)  # fmt: skip
ABSENT_KIND, ABSENT_AFTER, ABSENT_BEFORE, ABSENT_TERM = range(4)
"""The program of CHECK_ABSENT, and of CHECK_PRESENT, its opposite: events of the past of this kind,
after and before the events whose ordinals are in these slots (-1: whatever is inside the window;
before the event at hand), that make a term true (-1: any) have not come."""

COPY_HOW, COPY_SLOT, COPY_COLUMN, COPY_WORDS = range(4)
"""How a value is made of a slot of the configuration that is left and a column of the event; with
UPDATE_COMPUTE, the column is the program of a term."""
(
    UPDATE_KEEP, UPDATE_SET, UPDATE_MIN, UPDATE_MAX, UPDATE_COUNT, UPDATE_TALLY,
    UPDATE_SUM_INT, UPDATE_SUM_FLOAT, UPDATE_MIN_INT, UPDATE_MAX_INT,
    UPDATE_MIN_FLOAT, UPDATE_MAX_FLOAT, UPDATE_CARRY_INT,
    UPDATE_LEAST_INT, UPDATE_GREATEST_INT, UPDATE_LEAST_FLOAT, UPDATE_GREATEST_FLOAT,
    UPDATE_START, UPDATE_ORDINAL, UPDATE_SCOPE, UPDATE_INSERT, UPDATE_COMPUTE,
) = range(22)  # fmt: skip
OPEN_SCOPE = 1 << 62
"""A slot that chooses has the ordinal of the first event that its part of the pattern has read;
less this number where nothing of the match came before, and matches of the part may begin at
different events."""
CHOOSE_EARLIEST, CHOOSE_LATEST, CHOOSE_LARGEST, CHOOSE_LARGEST_OF_ALL = range(4)
CHOOSE_LATEST_FROM_THERE, CHOOSE_WAYS = 4, 5
"""How a slot chooses: which of two matches is better. From CHOOSE_LARGEST on it may be neither. The
word of a chooser is its number, times the stamps that there may be, plus its stamp (0: none), times
the ways, plus one of these."""
CHOOSE_STAMPS = STAMP_BITS + 1
WORSE, EQUAL, BETTER, NEITHER = -1, 0, 1, 2
"""The results of comparing a match with another."""
SCOPES = 5
"""How many parts that choose may stand inside each other: four, and MAX around a whole pattern."""

(
    EASIER_SMALLER, EASIER_GREATER, EASIER_TOTAL, EASIER_FLOAT, EASIER_LONG_SUM, EASIER_WORDS,
) = range(6)  # fmt: skip
"""Of which slots of a state smaller values satisfy all that greater ones do, or greater ones all
that smaller ones do; which of these are totals, floats, and sums that may not fit 64 bits. Slots
are bits."""

STEP_OP, STEP_ARGUMENT, STEP_WORDS = range(3)
"""One operation of a term, in postfix order; only loads have an argument, and functions, which have
numbers."""
TERM_STACK = 64
"""The deepest stack that a term may need."""
HALF = 1 << 32
"""A sum of integers is kept as high * HALF + low, so that it may be longer than 64 bits."""
(
    TERM_COLUMN, TERM_SLOT, TERM_CONSTANT, TERM_PAST, TERM_MEMBER,
    TERM_TO_FLOAT,
    TERM_NEGATE_INT, TERM_NEGATE_FLOAT, TERM_ABS_INT, TERM_ABS_FLOAT,
    TERM_SQRT, TERM_FLOOR, TERM_CEIL, TERM_SIGN_INT, TERM_SIGN_FLOAT,
    TERM_EXP, TERM_LN, TERM_LOG10,
    TERM_NOT, TERM_IS_NULL, TERM_KNOWN,
    TERM_ADD_INT, TERM_SUBTRACT_INT, TERM_MULTIPLY_INT, TERM_MODULO_INT,
    TERM_ADD_FLOAT, TERM_SUBTRACT_FLOAT, TERM_MULTIPLY_FLOAT, TERM_DIVIDE_FLOAT, TERM_MODULO_FLOAT,
    TERM_EQUAL_INT, TERM_NOT_EQUAL_INT, TERM_LESS_INT,
    TERM_LESS_OR_EQUAL_INT, TERM_GREATER_INT, TERM_GREATER_OR_EQUAL_INT,
    TERM_EQUAL_FLOAT, TERM_NOT_EQUAL_FLOAT, TERM_LESS_FLOAT,
    TERM_LESS_OR_EQUAL_FLOAT, TERM_GREATER_FLOAT, TERM_GREATER_OR_EQUAL_FLOAT,
    TERM_AND, TERM_OR,
    TERM_SUM_INT, TERM_SUM_FLOAT, TERM_MIN_INT, TERM_MAX_INT, TERM_MIN_FLOAT, TERM_MAX_FLOAT,
    TERM_CARRY_INT,
    TERM_LEAST_INT, TERM_GREATEST_INT, TERM_LEAST_FLOAT, TERM_GREATEST_FLOAT,
    TERM_JOIN_INT,
    TERM_POWER, TERM_ROUND,
    TERM_DISTANCE, TERM_IF, TERM_FUNCTION,
) = range(61)  # fmt: skip
"""In the order of `automata.memory.terms.OPERATIONS`. The kernel relies on this order: loads first,
then what changes one value, then what combines two, then four and three, and any number; the
comparisons of a kind together; the totals and extremes together, in the order of the updates
above."""

# ---------------------------------------------------------------- events of the past

PAST_ORDINAL, PAST_MEASURE, PAST_VALUES = range(3)
"""An event that is remembered: its ordinal, its measure, and the values that are kept of it."""

# ---------------------------------------------------------------- values of functions

FUNCTION_COUNT, FUNCTION_FLOATS, FUNCTION_WORDS = range(3)
"""The number of operands of a function, and which of them are floats, as bits."""
MEMO_FUNCTION, MEMO_OPERANDS = range(2)
MEMO_WORDS = 5
"""The key of a known value: the function (NONE: this entry is free), and up to four operands."""

# ---------------------------------------------------------------- arrays that grow

FIRST_ROOM = 64
"""Room for configurations and the like at first. Other arrays have a multiple of it. Builds for
sanitizers have room for one, so that everything grows all the time (`setup.py`)."""
SWEEP_CELLS = 1 << 20
"""Look for cells of counts that are no longer needed once this many were written."""

# ---------------------------------------------------------------- totals over all matches

TOTAL_SUM, TOTAL_MIN, TOTAL_MAX = range(3)

# ---------------------------------------------------------------- how an event wakes its key

WAKES_NOT, WAKES_FOR_A_WINDOW, WAKES_FOR_GOOD = range(3)
