"""`cereus lsp`: the language server that editors start."""

from __future__ import annotations

from importlib.util import find_spec

from cereus.errors import CereusError


def lsp() -> None:
    """Serve an editor: diagnostics, hover, completion and formatting of query files."""
    if find_spec("pygls") is None:
        raise CereusError("pygls is not installed", hint="pip install 'cereus[editor]'")
    from cereus.lsp.server import serve

    serve()
