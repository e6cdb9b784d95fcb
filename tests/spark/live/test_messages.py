"""What Spark needs to talk to Python about state."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("pyspark")

from cereus.errors import CereusError
from cereus.spark.live.messages import need_protobuf


def test_without_protobuf_a_live_query_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    need_protobuf()
    monkeypatch.setitem(sys.modules, "google.protobuf.descriptor", None)
    with pytest.raises(CereusError, match="need the package protobuf") as raised:
        need_protobuf()
    assert "pip install" in str(raised.value)
