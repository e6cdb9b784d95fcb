"""How often rules are compiled."""

from __future__ import annotations

from typing import Any

import pytest

import cereus
from cereus.rules import compiling


def counted_compiles(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of rules that are compiled from now on, as they are."""
    compiled: list[str] = []

    def counted(text: str, **more: Any) -> cereus.Query:
        compiled.append(text)
        return cereus.compile(text, **more)

    monkeypatch.setattr(compiling, "compile", counted)
    return compiled
