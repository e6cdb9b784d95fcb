"""Compiles the hot path with Cython; everything else about the package is in pyproject.toml.

The modules below are ordinary Python with Cython types. Compiled, they become extension modules
beside their sources, under the same names, which Python prefers; the package that holds one
calls `cereus.compiled.obey_pure`, so that tests can run the sources. Where they cannot be
compiled the build goes on with a warning, and the sources run.

Environment, at build time:
    CEREUS_PURE=1      compile nothing
    CEREUS_CHECKED=1   compile with bounds checks, for the tests
"""

import os
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNEL_MODULES = (
    "cereus.languages.algebra.detect.detection",
    "cereus.engine.ingest.codes",
    "cereus.engine.match.kernel",
    "cereus.languages.match_recognize.match.rows_kernel",
    "cereus.languages.match_recognize.match.slots_kernel",
    "cereus.languages.match_recognize.output.scan_kernel",
    "cereus.languages.par.machine.run",
)

WARNING = """
*******************************************************************************
 Cereus: the matching kernel could NOT be compiled:
   {reason}
 The install goes on WITHOUT it. Answers are the same, but matching is slower,
 often a hundred times. Install a C compiler and reinstall to change that.
*******************************************************************************
"""


def flag(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


def source(module: str) -> str:
    return f"src/{module.replace('.', '/')}.py"


def extensions() -> list[Extension]:
    modules = [m for m in KERNEL_MODULES if Path(source(m)).exists()]
    if flag("CEREUS_PURE") or not modules:
        return []
    import numpy
    from Cython.Build import cythonize

    checked = flag("CEREUS_CHECKED")
    optimise = ["/O2"] if os.name == "nt" else ["-O3"]
    return cythonize(
        [
            Extension(
                m,
                [source(m)],
                include_dirs=[numpy.get_include()],
                define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
                extra_compile_args=optimise,
            )
            for m in modules
        ],
        # Generated C stays out of the source tree, and is never taken for up to date:
        # the directives may have changed when the source has not.
        build_dir="build/cython",
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
            for ext in self.extensions:
                self.build_extension(ext)
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
