"""Thresholds as small as they can be, so that arrays are swept, tidied and cut all the time:
`pytest -p tests.safety.builds.tiny`. What the compiled modules begin with is `setup.py`'s."""

from __future__ import annotations

from importlib import import_module

from cereus.engine.ingest import compared
from cereus.engine.match import forgetting, kernel_options, runner, value_letters
from cereus.engine.match.after import skipping
from cereus.languages.algebra.detect import run as detect_run
from cereus.languages.par.machine import runner as machine_runner

SIZES = {
    kernel_options: {"SWEEP_AT": 2},
    runner: {"CHUNK": 2, "TIDY_AT": 3, "MANY_STATES": 8},
    forgetting: {"FORGET_AT": 2},
    compared: {"FORGET_AT": 2},
    value_letters: {"PIECE": 3},
    skipping: {"PIECE": 2},
    detect_run: {"CHUNK": 3},
    machine_runner: {"CHUNK": 3},
    import_module("cereus.sources.source"): {"BATCH_ROWS": 7},
}
for module, sizes in SIZES.items():
    for name, size in sizes.items():
        assert hasattr(module, name), f"{module.__name__} has no {name}"
        setattr(module, name, size)
