"""Symbolic register transducers as explicit automata, and the paper's constructions on them.

The engine runs SREMO by automata that are made on demand (`automaton`). These transducers are for
looking at, for comparing, and for deciding about transducers as a whole.
"""

from cereus.languages.sremo.srt.closure import concatenation, intersection, star, union
from cereus.languages.sremo.srt.construct import from_sremo, streaming
from cereus.languages.sremo.srt.determinize import complement, determinize, unroll
from cereus.languages.sremo.srt.epsilon import eliminate_epsilon
from cereus.languages.sremo.srt.transducer import Transducer, Transition
from cereus.languages.sremo.srt.windows import within_events, within_values

__all__ = [
    "Transducer",
    "Transition",
    "complement",
    "concatenation",
    "determinize",
    "eliminate_epsilon",
    "from_sremo",
    "intersection",
    "star",
    "streaming",
    "union",
    "unroll",
    "within_events",
    "within_values",
]
