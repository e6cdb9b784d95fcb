"""A PAR program in plain English."""

from __future__ import annotations

from collections.abc import Sequence

from cereus.explain.phrases import event_words, keys_words, listed, sentence, with_article
from cereus.expr.tree import conjuncts
from cereus.languages.par import tree as par


def words(program: par.Program, keys: Sequence[tuple[str, ...]]) -> str:
    return sentence([_part(program), keys_words(keys) if keys else ""])


def _part(node: par.Program) -> str:
    match node:
        case par.Simple(par.Atom(type_name, condition)):
            conditions = () if condition is None else conjuncts(condition)
            return f"wait for {with_article(event_words(type_name or 'event', conditions))}"
        case par.Sequential(first, second):
            return f"{_inner(first)}, then {_inner(second)}"
        case par.Selection(left, right):
            return (
                f"at the same time ({_part(left)}) and ({_part(right)}), until one of them succeeds"
            )
        case par.Negation(body):
            return f"({_part(body)}), with success and failure exchanged"
        case par.Repetition(body):
            return f"again and again: {_part(body)}"
        case par.Output(body, names):
            if not names:
                return _part(body)
            return f"{_inner(body)}, and at its end emit {listed(sorted(names))}"
        case par.Preemption(body, unless):
            return f"{_inner(body)}; give up if {_success(unless)} before that"
    return "do nothing"


def _inner(node: par.Program) -> str:
    """The words in parentheses, if they could be read together with the words around them."""
    return f"({_part(node)})" if isinstance(node, par.Preemption | par.Repetition) else _part(node)


def _success(node: par.Program) -> str:
    """What has to happen for a program to succeed."""
    if isinstance(node, par.Simple):
        return f"{_part(node).removeprefix('wait for ')} comes"
    return f"({_part(node)}) succeeds"
