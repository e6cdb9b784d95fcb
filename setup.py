"""Compiles the hot path with Cython; everything else about the package is in pyproject.toml.

The modules below are ordinary Python with Cython types. Compiled, they become extension modules
beside their sources, under the same names, which Python prefers; the package that holds one
calls `cereus.compiled.obey_pure`, so that tests can run the sources. Where they cannot be
compiled the build goes on with a warning, and the sources run.

Environment, at build time:
    CEREUS_PURE=1      compile nothing
    CEREUS_CHECKED=1   compile with bounds checks, for the tests
    CEREUS_SANITIZED=1 compile for AddressSanitizer and UndefinedBehaviorSanitizer, with arrays that
                       begin as small as they can be, for the tests
"""

import os
import runpy
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNEL_MODULES = (
    "cereus.engine.ingest.codes",
    "cereus.engine.ingest.words",
    "cereus.engine.kernel.terms_vm",
    "cereus.engine.kernel.past",
    "cereus.engine.kernel.sets",
    "cereus.engine.kernel.ordered",
    "cereus.engine.kernel.stepper",
    "cereus.engine.kernel.scopes",
    "cereus.engine.kernel.limited",
    "cereus.engine.kernel.keyed",
    "cereus.engine.kernel.kernel",
    "cereus.engine.kernel.counting",
    "cereus.engine.kernel.ordered_counting",
    "cereus.engine.kernel.sliding",
    "cereus.engine.kernel.choosing",
    "cereus.engine.kernel.gathering",
    "cereus.engine.kernel.watching",
    "cereus.engine.results.same_rows",
    "cereus.engine.rules.routing",
    "cereus.languages.algebra.detect.detection",
    "cereus.languages.match_recognize.match.rows.rows_kernel",
    "cereus.languages.match_recognize.match.rows.bits_kernel",
    "cereus.languages.match_recognize.match.stretches.blocks_kernel",
    "cereus.languages.match_recognize.match.stretches.bounds_kernel",
    "cereus.languages.match_recognize.match.stretches.lines_kernel",
    "cereus.languages.match_recognize.match.stretches.ranks_kernel",
    "cereus.languages.match_recognize.match.stretches.stretches_kernel",
    "cereus.languages.match_recognize.match.runs.conditions_kernel",
    "cereus.languages.match_recognize.match.runs.alike_kernel",
    "cereus.languages.match_recognize.match.runs.dead_kernel",
    "cereus.languages.match_recognize.match.runs.leaping_kernel",
    "cereus.languages.match_recognize.match.runs.waiting_kernel",
    "cereus.languages.match_recognize.match.runs.still_kernel",
    "cereus.languages.match_recognize.match.runs.steady_kernel",
    "cereus.languages.match_recognize.match.runs.slots_kernel",
    "cereus.languages.match_recognize.output.scan_kernel",
    "cereus.languages.par.machine.run",
)

CONSTANTS = (
    "cereus.engine.kernel.layout",
    "cereus.languages.match_recognize.match.codes",
    "cereus.languages.algebra.detect.instructions",
)
"""The modules of numbers that compiled modules read as constants of C."""
SHARED = "cereus.memory_views"
"""Cython's own code for memory views: compiled once, instead of into every module."""
BUILD = Path("build/cython")
"""Generated C and declarations stay out of the source tree."""

WARNING = """
*******************************************************************************
 Cereus: the matching kernel could NOT be compiled:
   {reason}
 The install goes on WITHOUT it. Answers are the same, but matching is slower,
 often a hundred times. Install a C compiler and reinstall to change that.
*******************************************************************************
"""


CORES = os.cpu_count() or 1
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
TINY = {"FIRST_ROOM": 1, "SWEEP_CELLS": 16}
"""Constants of builds for sanitizers."""


def flag(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


def source(module: str) -> str:
    return f"src/{module.replace('.', '/')}.py"


def literal(number: int) -> str:
    """A number of 64 bits as C writes it, which has no literal for the smallest."""
    return f"{number}LL" if number >= 0 else f"({number + 1}LL - 1)"


def declare_constants(module: str) -> None:
    """Write the `.pxd` that makes the numbers of a Python module constants of C: those of an int
    in an `enum`, so that Cython can make a `switch` of them; greater ones as macros."""
    numbers = {
        name: number
        for name, number in runpy.run_path(source(module)).items()
        if name.isupper() and isinstance(number, int)
    }
    if flag("CEREUS_SANITIZED"):
        numbers |= {name: number for name, number in TINY.items() if name in numbers}
    small = {name: number for name, number in numbers.items() if abs(number) < 1 << 31}
    large = {name: number for name, number in numbers.items() if name not in small}
    lines = [
        "cdef enum:",
        *(f"    {name} = {number}" for name, number in small.items()),
        "cdef extern from *:",
        '    """',
        *(f"    #define CEREUS_{name} {literal(number)}" for name, number in large.items()),
        '    """',
        *(f'    const long long {name} "CEREUS_{name}"' for name in large),
    ]
    path = BUILD / f"{module.replace('.', '/')}.pxd"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join([*lines, ""])
    if not path.exists() or path.read_text() != text:  # a newer file compiles what reads it again
        path.write_text(text)


def extension(name: str, path: str) -> Extension:
    # without debugging symbols: a third of the size, and sooner done
    optimise = ["/O2"] if os.name == "nt" else ["-O3", "-g0"]
    if not flag("CEREUS_SANITIZED"):
        return Extension(name, [path], extra_compile_args=optimise)
    watched = ["-O1", "-g1", "-fno-omit-frame-pointer", *SANITIZERS]
    return Extension(name, [path], extra_compile_args=watched, extra_link_args=SANITIZERS)


def extensions() -> list[Extension]:
    if flag("CEREUS_PURE"):
        return []
    from Cython.Build import cythonize

    checked = flag("CEREUS_CHECKED")
    for module in CONSTANTS:
        declare_constants(module)
    return cythonize(
        [
            extension(SHARED, f"src/{SHARED.replace('.', '/')}.c"),
            *(extension(module, source(module)) for module in KERNEL_MODULES),
        ],
        include_path=[str(BUILD)],
        shared_utility_qualified_name=SHARED,
        # Where a process is a cheap fork.
        nthreads=CORES if sys.platform == "linux" else 0,
        build_dir=str(BUILD),
        # Never taken for up to date: the directives may have changed when the source has not.
        force=True,
        # A "# cython:" line in a module would win over these, and over CEREUS_CHECKED.
        compiler_directives={
            "language_level": "3",
            "boundscheck": checked,
            "wraparound": checked,
            "initializedcheck": checked,
            "cdivision": True,
        },
    )


class BuildOrWarn(build_ext):
    """All of the kernel or none of it: half of it compiled would be slow without saying so."""

    def build_extensions(self) -> None:
        self.force = True
        try:
            with ThreadPoolExecutor(CORES) as pool:
                list(pool.map(self.build_extension, self.extensions))
        except Exception as reason:  # a missing compiler shows itself in many ways
            print(WARNING.format(reason=reason), flush=True)
            for ext in self.extensions:
                self.remove(ext.name)
            self.extensions = []

    def remove(self, module: str) -> None:
        """What was built of `module` now, and beside its source by an earlier editable install."""
        built = Path(self.get_ext_fullpath(module))
        for path in (built, Path(source(module)).parent / built.name):
            path.unlink(missing_ok=True)


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildOrWarn})
