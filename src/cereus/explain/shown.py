"""An explanation is a text; a notebook shows it with its lines."""

from __future__ import annotations

from html import escape


class Explanation(str):
    """How a query will be run. A notebook would show a text in one line, with quotes."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"
