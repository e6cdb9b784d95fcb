"""Sets of states as bits, and the tables of bytes that lead to the next one (`bits_kernel`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cereus.languages.match_recognize.match.program import DONE, RowAutomaton

Words = npt.NDArray[np.uint64]

MOST_GROUPS = 256
MOST_STATES = 1 << 11
"""With more states the tables become large, and one number for each state is faster."""


class SetBits:
    """The tables of an automaton, for letters that these states read."""

    def __init__(self, automaton: RowAutomaton, masks: Sequence[int]) -> None:
        groups = {moves: number for number, moves in enumerate(dict.fromkeys(automaton.moves))}
        states = len(automaton)
        self.possible = 0 < len(groups) <= MOST_GROUPS and states <= MOST_STATES
        if not self.possible:
            return
        in_group = [0] * len(groups)
        to_state = [0] * states
        for q, moves in enumerate(automaton.moves):
            in_group[groups[moves]] |= 1 << q
        for moves, number in groups.items():
            for q in moves:
                if q != DONE:
                    to_state[q] |= 1 << number
        self.behind = _by_bytes(in_group, states)
        self.before = _by_bytes(to_state, len(groups))
        ends = sum(1 << number for moves, number in groups.items() if DONE in moves)
        self.always = _words([ends], len(groups))[0]
        last = sum(1 << q for q, ends_here in enumerate(automaton.ends) if ends_here)
        self.lasts = _words([last], states)[0]
        self.reads = _words(masks, states)
        self.groups = np.zeros_like(self.always)


def _words(sets: Sequence[int], size: int) -> Words:
    """Sets of numbers below `size`, each as words of 64 bits."""
    words = -(-max(size, 1) // 64)
    written = b"".join(each.to_bytes(8 * words, "little") for each in sets)
    return np.frombuffer(written, np.uint64).reshape(len(sets), words)


def _by_bytes(sets: Sequence[int], size: int) -> Words:
    """For each byte of bits, and each value of it, the union of the sets of these bits."""
    count = -(-len(sets) // 64) * 64
    single = _words([*sets, *[0] * (count - len(sets))], size)
    table = np.zeros((count // 8, 256, single.shape[1]), np.uint64)
    for bit in range(8):
        holds = np.arange(256) >> bit & 1 == 1
        table[:, holds] |= single[bit::8][:, None, :]
    return table
