"""Runs plans: a plan and Arrow batches in, matches out."""

from cereus.compiled import compiled_notice, is_compiled, obey_pure

obey_pure(__path__)  # before any other module of this package is imported

COMPILED: bool = is_compiled("cereus.engine.kernel.kernel")
"""Whether the hot path is compiled to C, or runs as plain Python."""

__all__ = ["COMPILED", "compiled_notice"]
