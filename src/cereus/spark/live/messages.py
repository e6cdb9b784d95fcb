"""The messages between Spark's state and a Python worker."""

from __future__ import annotations

from importlib import import_module

from cereus.errors import CereusError


def need_protobuf() -> None:
    """Refuse to start without protobuf. `transformWithState` imports it, PySpark does not install
    it, and the first micro-batch would end with "driver worker exited unexpectedly"."""
    try:
        import_module("google.protobuf.descriptor")
    except ImportError:
        raise CereusError(
            "live queries on Spark need the package protobuf",
            hint="pip install 'protobuf>=6.33.5', where the workers run too",
        ) from None
