"""One pass of a machine over events: a table lookup per event. Compiled by Cython to run fast.

Events come sorted by key, in the order of time within a key, each as the class of its letter.
Every key runs the program by itself, from the state that it reached before; a key seen for the
first time starts in state 0.

Invariants: `0 <= classes[i] < next_state.shape[1]`, every state is a row of the tables, and
`key_starts` ascends from 0. Nothing here checks them; `runner` does.

After success or failure a machine is in a silent state (S1), and silent states lead to silent
states only, so the rest of that key's events is skipped.
"""

import cython

COMPILED = cython.compiled

NEXT_KEY, NEXT_ROW = 0, 1
"""The two numbers of a cursor."""


def run(
    classes: cython.const[cython.int][::1],
    key_starts: cython.const[cython.longlong][::1],
    states: cython.int[::1],
    next_state: cython.const[cython.int][:, ::1],
    output: cython.const[cython.int][:, ::1],
    completion: cython.const[cython.schar][:, ::1],
    silent: cython.const[cython.uchar][::1],
    rows: cython.longlong[::1],
    outputs: cython.int[::1],
    completions: cython.schar[::1],
    cursor: cython.longlong[::1],
) -> int:
    """Run from `cursor` on, until the events end or the results are full.

    `states` has one state per key and is changed to the states reached. The events with output
    or completion go to `rows`, `outputs` (the number of an output set) and `completions`, from
    0 on; how many they are is returned. When `cursor[NEXT_KEY]` is the number of keys, all is
    done; else call again, with the same arrays, when the results have been taken.
    """
    keys: cython.Py_ssize_t = key_starts.shape[0]
    room: cython.Py_ssize_t = rows.shape[0]
    written: cython.Py_ssize_t = 0
    key: cython.Py_ssize_t = cursor[0]
    row: cython.Py_ssize_t = cursor[1]
    end: cython.Py_ssize_t
    state: cython.int
    column: cython.int
    shown: cython.int
    status: cython.schar
    with cython.nogil:
        while key < keys:
            end = key_starts[key + 1] if key + 1 < keys else classes.shape[0]
            state = states[key]
            while row < end and silent[state] == 0 and written < room:
                column = classes[row]
                # always written, and kept if it shows something: this needs no branch
                shown = output[state, column]
                status = completion[state, column]
                rows[written] = row
                outputs[written] = shown
                completions[written] = status
                written += (shown | status) != 0
                state = next_state[state, column]
                row += 1
            states[key] = state
            if row < end and silent[state] == 0:
                break
            row = end
            key += 1
    cursor[0] = key
    cursor[1] = row
    return written


def run_interleaved(
    classes: cython.const[cython.int][::1],
    keys: cython.const[cython.int][::1],
    states: cython.int[::1],
    next_state: cython.const[cython.int][:, ::1],
    output: cython.const[cython.int][:, ::1],
    completion: cython.const[cython.schar][:, ::1],
    rows: cython.longlong[::1],
    outputs: cython.int[::1],
    completions: cython.schar[::1],
    first: cython.Py_ssize_t,
) -> tuple[int, int]:
    """Like `run`, for events in the order of time, whatever their keys: `keys` has the key of each,
    and `states` the states of all keys. Bringing the events of a key together costs more than
    looking up its state, which mostly is in the cache.

    Returns the row to go on from and the number of results.
    """
    room: cython.Py_ssize_t = rows.shape[0]
    end: cython.Py_ssize_t = classes.shape[0]
    written: cython.Py_ssize_t = 0
    row: cython.Py_ssize_t = first
    state: cython.int
    column: cython.int
    shown: cython.int
    status: cython.schar
    with cython.nogil:
        while row < end and written < room:
            state = states[keys[row]]
            column = classes[row]
            shown = output[state, column]
            status = completion[state, column]
            rows[written] = row
            outputs[written] = shown
            completions[written] = status
            written += (shown | status) != 0
            states[keys[row]] = next_state[state, column]
            row += 1
    return row, written
