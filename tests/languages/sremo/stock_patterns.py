"""The stock patterns of the SRT paper's experiments, in SREMO and in CEQL, under the same names.

`W` stands for the window; the paper's is strict, so it is one less here.
"""

from __future__ import annotations


def _sremo(side: str, name: str, more: str = "") -> str:
    return f"{{{side}: name = '{name}'{more}}}"


S, B = "SELL", "BUY"
FEW = " AND price < 500"

SREMO = {
    "reg1": f"any({_sremo(S, 'INTC')} -> a, {_sremo(B, 'RIMM')}, "
    f"{_sremo(B, 'QQQ', ' AND price > a.price')}) WITHIN W [stock_time]",
    "k1": f"any({_sremo(S, 'INTC')} -> a, any({_sremo(B, 'RIMM', FEW)}+), "
    f"{_sremo(B, 'QQQ', ' AND price > a.price')}) WITHIN W [stock_time]",
    "o1": f"any({_sremo(S, 'MSFT')} -> a, {_sremo(B, 'ORCL')}, {_sremo(B, 'CSCO')}, "
    f"{_sremo(S, 'AMAT', ' AND price < a.price')}) WITHIN W [stock_time]",
    "kn1": f"any({_sremo(S, 'INTC')} -> x . "
    f"(skip* . any(any({_sremo(B, 'RIMM', FEW)}+), {_sremo(B, 'QQQ')}))*, "
    f"{_sremo(S, 'MSFT', ' AND price < x.price')}) WITHIN W [stock_time]",
    "reg2": f"any({_sremo(S, 'INTC')} -> a, {_sremo(B, 'RIMM')}, "
    f"{_sremo(B, 'QQQ', ' AND price > a.price')}, {_sremo(S, 'IPIX')} -> d, "
    f"{_sremo(B, 'AMAT')}, {_sremo(B, 'CSCO', ' AND price > d.price')}) WITHIN W [stock_time]",
    "o3": f"any({{{S}: volume > 4000}} -> a, {{{B}: volume > 4000}}, {{{B}: volume > 4000}}, "
    f"{{{S}: volume > 4000 AND price < a.price}}) PARTITION BY name WITHIN W [stock_time]",
    "o4": f"any({_sremo(S, 'MSFT')} -> a, {{name = 'ORCL'}}, {{name = 'CSCO'}}, "
    f"{_sremo(S, 'AMAT', ' AND price < a.price')}) WITHIN W [stock_time]",
    "o7": f"any({_sremo(S, 'MSFT')} -> a, any({{name = 'QQQ' AND volume = 4000}}+), "
    f"{_sremo(S, 'AMAT', ' AND price < a.price')}) WITHIN W [stock_time]",
}


def _ceql(formula: str, filters: str, clause: str = "") -> str:
    return f"SELECT * FROM Stock WHERE {formula} FILTER {filters}{clause} WITHIN W [stock_time]"


CEQL = {
    "reg1": _ceql(
        "SELL AS a ; BUY AS b ; BUY AS c",
        "a[name = 'INTC'] AND b[name = 'RIMM'] AND c[name = 'QQQ'] AND c.price > a.price",
    ),
    "k1": _ceql(
        "SELL AS a ; (BUY AS b)+ ; BUY AS c",
        "a[name = 'INTC'] AND b[name = 'RIMM' AND price < 500] AND c[name = 'QQQ'] "
        "AND c.price > a.price",
    ),
    "o1": _ceql(
        "SELL AS a ; BUY AS b ; BUY AS c ; SELL AS d",
        "a[name = 'MSFT'] AND b[name = 'ORCL'] AND c[name = 'CSCO'] AND d[name = 'AMAT'] "
        "AND d.price < a.price",
    ),
    "reg2": _ceql(
        "SELL AS a ; BUY AS b ; BUY AS c ; SELL AS d ; BUY AS e ; BUY AS f",
        "a[name = 'INTC'] AND b[name = 'RIMM'] AND c[name = 'QQQ'] AND c.price > a.price AND "
        "d[name = 'IPIX'] AND e[name = 'AMAT'] AND f[name = 'CSCO'] AND f.price > d.price",
    ),
    "o3": _ceql(
        "SELL AS a ; BUY AS b ; BUY AS c ; SELL AS d",
        "a[volume > 4000] AND b[volume > 4000] AND c[volume > 4000] AND d[volume > 4000] "
        "AND d.price < a.price",
        " PARTITION BY [name]",
    ),
}

COUNTS = {
    "reg1": {500: 819, 1000: 3_525, 2000: 11_438, 5000: 98_995},
    "k1": {500: 1_367, 1000: 12_427, 2000: 128_580},
    "o1": {500: 80, 1000: 686, 2000: 3_387, 5000: 76_531},
    "kn1": {500: 8_362, 1000: 15_543, 2000: 78_115},
}
"""Matches by window (ms), on which independent engines agree."""


def with_window(text: str, window: int) -> str:
    return text.replace("W [", f"{window - 1} [")
