"""Is the hot path compiled, and the switch that runs its sources instead.

A compiled module lies beside its source under the same name (`setup.py` lists them), and Python
prefers it. With `CEREUS_PURE=1` in the environment the sources are imported even where
compiled modules exist: that is how the tests run the same cases on both.
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
    """With CEREUS_PURE, only `.py` files are found in the directories of a package from now on.

    To be called by the `__init__` of every package that has compiled modules.
    """
    if not PURE:
        return
    for directory in package_path:
        finder = FileFinder(directory, (SourceFileLoader, SOURCE_SUFFIXES))
        sys.path_importer_cache[directory] = finder


def is_compiled(module: str) -> bool:
    """Importing `module` loads (or has loaded) a compiled extension."""
    spec = importlib.util.find_spec(module)
    return spec is not None and isinstance(spec.loader, ExtensionFileLoader)


def all_or_none(package: str, modules: Iterable[str]) -> None:
    """Refuse to run modules of a package of which some are compiled and some are not: a class of C
    does not see what a subclass in Python overrides, and the answers would be wrong."""
    compiled = {module: is_compiled(f"{package}.{module}") for module in modules}
    if len(set(compiled.values())) > 1:
        missing = ", ".join(module for module, is_so in compiled.items() if not is_so)
        raise ImportError(
            f"of {package}, {missing} is not compiled and the rest is: "
            "compile them anew (python setup.py build_ext --inplace), or remove what is compiled"
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
