"""The smallest machine with the same behaviour.

States with the same behaviour are bisimilar (Lemma 1), and the largest bisimulation of a finite
machine is found by partition refinement: split the states by what they show, then by where they
lead, until nothing splits. The result is canonical: programs over the same atoms are bisimilar
exactly when their minimal machines are equal.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from cereus.languages.par.machine.construct import by_first
from cereus.languages.par.machine.machine import Machine, Table

Block = npt.NDArray[np.int64]


def minimise(machine: Machine) -> Machine:
    """Bisimilar states merged, unreachable ones dropped, states and classes in a fixed order."""
    return merge_classes(merge_states(machine, bisimilar_blocks(machine)))


def bisimilar_blocks(machine: Machine) -> Block:
    """The block of every state in the coarsest partition that is a bisimulation."""
    shown = np.hstack([machine.output, machine.completion.astype(np.int32)])
    block = rows_alike(shown)
    while True:
        finer = rows_alike(np.column_stack([block, block[machine.next_state]]))
        if finer.max() == block.max():
            return finer
        block = finer


def rows_alike(table: npt.NDArray[np.signedinteger]) -> Block:
    alike = np.unique(table, axis=0, return_inverse=True)[1]
    return np.asarray(alike, np.int64).reshape(-1)


def merge_states(machine: Machine, block: Block) -> Machine:
    """One state per block, numbered breadth first from the start; the shortest label stays."""
    member = {int(b): i for i, b in reversed(list(enumerate(block)))}
    number = {int(block[0]): 0}
    for b in (order := [int(block[0])]):
        for after in block[machine.next_state[member[b]]].tolist():
            if after not in number:
                number[after] = len(number)
                order.append(after)
    kept = [member[b] for b in order]
    labels: dict[int, str] = {}
    for b, label in zip(block.tolist(), machine.labels, strict=True):
        if b not in labels or len(label) < len(labels[b]):
            labels[b] = label
    renumber = np.array([number.get(b, -1) for b in range(int(block.max()) + 1)], np.int32)
    return replace(
        machine,
        next_state=renumber[block[machine.next_state[kept]]],
        output=machine.output[kept],
        completion=machine.completion[kept],
        labels=tuple(labels[b] for b in order),
    )


def merge_classes(machine: Machine) -> Machine:
    """One column per class, in the order of the first letter; output sets in order of use."""
    columns = np.vstack([machine.next_state, machine.output, machine.completion]).T
    letter_class, first = by_first(rows_alike(columns)[machine.letter_class])
    kept = machine.letter_class[first]
    output, output_sets = used_outputs(machine, machine.output[:, kept])
    return replace(
        machine,
        letter_class=letter_class,
        next_state=np.ascontiguousarray(machine.next_state[:, kept]),
        output=output,
        completion=np.ascontiguousarray(machine.completion[:, kept]),
        output_sets=output_sets,
    )


def used_outputs(machine: Machine, output: Table) -> tuple[Table, tuple[frozenset[str], ...]]:
    used = dict.fromkeys([0, *output.ravel().tolist()])
    rank = np.zeros(len(machine.output_sets), np.int32)
    rank[list(used)] = np.arange(len(used), dtype=np.int32)
    return np.ascontiguousarray(rank[output]), tuple(machine.output_sets[i] for i in used)
