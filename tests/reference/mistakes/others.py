"""Mistakes in SREMO, PAR and the event algebra."""

from __future__ import annotations

import cereus
from tests.reference.mistakes.model import Mistake

SREMO = [
    Mistake("{A} . {B:}", "{A:} . {B:}"),
    Mistake("{A:} . {B:", "{A:} . {B:}"),
    Mistake("({A:} . {B:})[2..5]", "({A:} . {B:})[1..5]"),
    Mistake("{A: sum(b.price) > 1}", "{A: greatest(price, volume) > 1}"),
    Mistake("{A: prize > 1}", "{A: price > 1}"),
    Mistake("({A:} -> x) & ({B:} -> x)", "{A:} & {B:}"),
    Mistake("{A:} -> x . {B: price > y.price}", "{A:} -> x . {B: price > x.price}"),
]
PAR = [
    Mistake("", "BUY ; SELL[sold]"),
    Mistake("(BUY ; SELL[sold]", "(BUY ; SELL[sold])"),
    Mistake("BUY(sum(b.price) > 10)[many]", "BUY(price > 10)[many]"),
    Mistake("BUY(prize > 10)[many]", "BUY(price > 10)[many]"),
    Mistake(
        "repeat BUY[bought",
        "repeat BUY[bought]",
    ),
]
ALGEBRA = [
    Mistake("A ; ; B", "A ; B"),
    Mistake("(A ; B)_2.5", "(A ; B)_{2 seconds 500 milliseconds}"),
    Mistake("(A ; B)_2", "(A ; B)_2s"),
    Mistake(
        "(A ; B)_2s", "(A ; B)_2s", stream=cereus.Stream(), right_stream='cereus.Stream(time="ts")'
    ),
    Mistake("((A ; B)_2 ; C)_2s", "((A ; B)_2s ; C)_2s"),
    Mistake("A(sum(b.price) > 1) ; B", "A(price > 1) ; B"),
    Mistake("(A ; B)_{-5 seconds}", "(A ; B)_{5 seconds}"),
    Mistake("(A ; B)_:w", "(A ; B)_5s", params={"w": "x"}),
]
