"""Runs the watched parts of a pattern, each in a kernel of its own, before the kernel of the
pattern reads the same events. Their answers are columns of these events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cereus.automata.memory.exception import WatchedPart
from cereus.automata.model import Label
from cereus.engine.ingest.compared import ComparedColumns
from cereus.engine.ingest.substreams import Ints
from cereus.engine.kernel.layout import FINISHED, HIDDEN, NONE
from cereus.engine.kernel.watching import WatchingKernel
from cereus.engine.match import forgetting
from cereus.engine.match.functions import FunctionValues
from cereus.engine.match.kernel_input import KernelInput
from cereus.engine.match.kernel_options import UNLIMITED, KernelOptions
from cereus.engine.match.kernel_state import KernelBounds, check_kernel
from cereus.engine.match.table import TransitionTable
from cereus.limits import Limits
from cereus.state import checked


def _mark(label: Label) -> int:
    """The kernel's number for the only label."""
    return HIDDEN


class Watcher:
    """Follows one watched part in every key.

    latest  for every key: when the latest match of the part began (NONE: it has not matched)
    """

    def __init__(
        self, part: WatchedPart, slots: int, compared: ComparedColumns, limits: Limits
    ) -> None:
        self.part, self.slots, self.compared, self.limits = part, slots, compared, limits
        self.latest: Ints = np.zeros(0, np.int64)
        self._begin()

    def _begin(self) -> None:
        self.table = TransitionTable(self.part.automaton, _mark, max_states=self.limits.states)
        self.functions = FunctionValues(self.table.functions, self.compared)
        self.kernel = WatchingKernel(self.table, _options(self.slots, self.limits))

    def answer(
        self,
        events: KernelInput,
        letters: list[int],
        keys: int,
        reached: Callable[[int, WatchingKernel], None],
    ) -> None:
        """Write the column of these events; `reached` is called where a limit is reached."""
        self.table.know(letters)
        self.kernel.load_table()
        self.kernel.compute_with(self.functions)
        self.kernel.feed(events, keys)
        began = np.full(len(events.classes), NONE, np.int64)
        self.kernel.note(began)
        while (state := self.kernel.run()) != FINISHED:
            reached(state, self.kernel)
        more = np.full(keys - len(self.latest), NONE, np.int64)
        self.latest = np.append(self.latest, more)
        self._fill(events, began)
        events.columns[self.part.column] = began

    def _fill(self, events: KernelInput, began: Ints) -> None:
        """Let every event have the latest start among the matches of its key so far."""
        ends = events.group_ends
        starts = np.append(0, ends[:-1])
        for key, start, end in zip(events.key_of, starts, ends, strict=True):
            began[start] = max(began[start], self.latest[key])
            np.maximum.accumulate(began[start:end], out=began[start:end])
            self.latest[key] = began[end - 1]

    def keep(self, kept: Ints) -> None:
        """Forget all keys but these; they are numbered anew, in their order."""
        kept = kept[kept < self.kernel.key_count]
        self.kernel.restore(forgetting.only(self.kernel.save(), kept))
        self.latest = self.latest[kept]

    def save(self) -> dict[str, Any]:
        self.kernel.sweep()
        return {
            "kernel": self.kernel.save(),
            "subsets": list(self.table.subsets),
            "latest": self.latest,
        }

    def restore(self, saved: dict[str, Any], keys: int, next_ordinal: int) -> None:
        self._begin()
        self.table.restore(saved["subsets"], self.slots)
        self.kernel.load_table()
        bounds = KernelBounds(
            keys=keys,
            states=self.table.n_states,
            slots=self.slots,
            labels=HIDDEN + 1,
            first=next_ordinal,
            with_sets=self.table.with_sets,
        )
        check_kernel(saved["kernel"], bounds)
        self.kernel.restore(saved["kernel"])
        latest = checked.integers(saved["latest"], "what was watched", self.kernel.key_count)
        checked.within(latest, NONE, next_ordinal, "what was watched")
        self.latest = latest.copy()


def _options(slots: int, limits: Limits) -> KernelOptions:
    """The options of a kernel without a window: of the partial matches of a configuration, the
    latest is enough."""
    return KernelOptions(
        windowed=False,
        open_ended=False,
        consuming=False,
        consuming_all=False,
        limit=None,
        max_nodes=limits.nodes,
        with_labels=False,
        max_configurations=limits.configurations,
        max_matches=UNLIMITED,
        max_steps=UNLIMITED if limits.steps_per_event is None else limits.steps_per_event,
        slots=slots,
        latest=True,
    )
