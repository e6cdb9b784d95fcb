"""Tells whether the hot path is compiled, and has the switch that runs its sources instead.

A compiled module lies beside its source under the same name (`setup.py` lists them), and Python
prefers it. With `CEREUS_PURE=1` in the environment the sources are imported even where compiled
modules exist: that is how the tests run the same cases on both.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable
from importlib.machinery import (
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)

PURE = os.environ.get("CEREUS_PURE", "") not in ("", "0")
"""Whether the environment asks for the sources."""


def obey_pure(package_path: Iterable[str]) -> None:
    """With CEREUS_PURE, let Python find only `.py` files in the directories of a package.

    The `__init__` of every package with compiled modules calls it.
    """
    if not PURE:
        return
    for directory in package_path:
        finder = FileFinder(directory, (SourceFileLoader, SOURCE_SUFFIXES))
        sys.path_importer_cache[directory] = finder


def is_compiled(module: str) -> bool:
    """Whether importing `module` loads (or has loaded) a compiled extension."""
    spec = importlib.util.find_spec(module)
    return spec is not None and isinstance(spec.loader, ExtensionFileLoader)


def all_or_none(package: str, modules: Iterable[str]) -> None:
    """Refuse to run a package of which only some modules are compiled.

    A compiled class does not see what a subclass in Python overrides, so the answers would be
    wrong.
    """
    compiled = {module: is_compiled(f"{package}.{module}") for module in modules}
    if len(set(compiled.values())) > 1:
        missing = ", ".join(module for module, is_so in compiled.items() if not is_so)
        raise ImportError(
            f"{package} is only partly compiled, {missing} is not: compile all of it again "
            "(python setup.py build_ext --inplace), or remove the compiled modules"
        )


def compiled_notice() -> str | None:
    """A notice for users whose matching runs uncompiled; None when it is compiled."""
    if is_compiled("cereus.engine.kernel.kernel"):
        return None
    if PURE:
        return "CEREUS_PURE is set: matching runs uncompiled, with the same answers, slowly."
    return (
        "The matching kernel is not compiled, so matching is slow (the answers are the same). "
        "Install a C compiler, then reinstall Cereus: "
        "pip install --force-reinstall --no-deps --no-binary cereus cereus"
    )
