"""What is watched for a pattern: when the last of what matches at an event has begun."""

from __future__ import annotations

import cython
import numpy as np
import numpy.typing as npt

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cereus.engine.kernel.choosing import ChoosingKernel
else:
    from cereus.engine.kernel import layout
    from cereus.engine.kernel.choosing import ChoosingKernel


@cython.cclass
class WatchingKernel(ChoosingKernel):
    """Lists nothing. Partial matches have one event, the one that they began with, and the latest
    is the best."""

    def note(self, began: npt.NDArray[np.int64]) -> None:
        """Write here, for each event of the batch, when what matches there began."""
        self.began_at = began

    def _report(self) -> cython.bint:
        best: cython.int = self._best()
        if best:
            self.began_at[self.event] = self.wide[best, layout.NODE_EVENT]
        return self._reported()
