"""Plan + Arrow batches → matches."""

from cereus.engine.compiled import PURE, compiled_notice, import_sources_only, is_compiled

if PURE:  # before any other module of this package is imported
    import_sources_only(__path__)

COMPILED: bool = is_compiled("cereus.engine.kernel")
"""Whether the hot path is compiled C or runs as the Python it is written in."""

__all__ = ["COMPILED", "compiled_notice"]
