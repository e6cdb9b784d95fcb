"""What `cereus.spark` offers."""

from __future__ import annotations

from pathlib import Path

import cereus.spark


def test_no_module_hides_a_function_of_its_name() -> None:
    """Importing a module binds its name in the package: `cs.why` was a function once, and then the
    module that it is in."""
    here = Path(cereus.spark.__file__).parent
    modules = {path.stem for path in here.iterdir()} - {"session"}  # bound before anyone asks
    assert modules.isdisjoint(cereus.spark.__all__)
