"""`python -m bench [name …]`: run the measurements, one after the other."""

from __future__ import annotations

import importlib
import sys

DEFAULT = ("stocks", "correlation", "memory")
"""The ones that need nothing but this machine; others by name (see the files beside this one)."""


def main() -> None:
    for name in sys.argv[1:] or DEFAULT:
        print(f"── {name} " + "─" * (70 - len(name)))
        importlib.import_module(f"bench.{name}").main()
        print()


if __name__ == "__main__":
    main()
