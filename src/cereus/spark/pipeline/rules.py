"""The rules of a folder before a pipeline starts: which of them compile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from cereus.errors import CereusError
from cereus.limits import Limits
from cereus.rules.compiling import query_of
from cereus.rules.recognizer import RuleChange, RuleRecognizer
from cereus.rules.rule import Rule
from cereus.stream import Stream


@dataclass(frozen=True)
class CheckedRules:
    """Rules that can run over a stream; `refused` says which of them do not compile."""

    folder: str
    stream: Stream
    limits: Limits
    rules: tuple[Rule, ...]
    refused: tuple[RuleChange, ...]

    @property
    def summary(self) -> str:
        """`12 rules, 1 paused, 1 refused`"""
        paused = sum(not rule.enabled for rule in self.rules)
        parts = [f"{len(self.rules)} rule{'' if len(self.rules) == 1 else 's'}"]
        parts += [f"{paused} paused"] if paused else []
        parts += [f"{len(self.refused)} refused"] if self.refused else []
        return ", ".join(parts)

    def warnings(self) -> Iterator[str]:
        if not self.rules:
            yield f"there is no rule in {self.folder}"
        for each in self.refused:
            yield f"the rule {each.rule!r} is refused: {each.error}"


def refused_in(
    rules: Sequence[Rule], stream: Stream, schema: pa.Schema | None, limits: Limits
) -> list[RuleChange]:
    """The rules that do not compile; for the columns of the events, if these are known."""
    if schema is None:
        return [refusal for rule in rules if (refusal := _refused(rule, stream)) is not None]
    known = RuleRecognizer(stream=stream, schema=schema, rules=rules, limits=limits)
    return [each for each in known.changes if each.change == "refused"]


def _refused(rule: Rule, stream: Stream) -> RuleChange | None:
    try:
        query_of(rule, stream, None, None)
    except CereusError as error:
        return RuleChange(rule.name, 1, "refused", str(error))
    return None
