"""Runs a watched part of a pattern: finds when the latest match at each event has begun."""

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
    """Lists no matches. A partial match has one event, the one that it began with, and the latest
    is the best."""

    def note(self, began: npt.NDArray[np.int64]) -> None:
        """Set the array to write to: for each event of the batch, when the match there began."""
        self.began_at = began

    def _report(self) -> cython.bint:
        best: cython.int = self._best()
        if best:
            self.began_at[self.event] = self.wide[best, layout.NODE_EVENT]
            self._drop_older(self.wide[best, layout.NODE_EVENT])
        return self._reported()

    def _drop_older(self, began: cython.longlong) -> cython.int:
        """Forget partial matches that began no later than one that has matched: they can add
        nothing."""
        i: cython.int
        for i in range(self.n_active):
            c: cython.int = self.first[self.active[i]]
            while c >= 0:
                after: cython.int = self.following[c]
                self.look_at -= 1
                if self.root[c] and self.wide[self.root[c], layout.NODE_EVENT] <= began:
                    self._drop(c)
                c = after
        self._forget_empty()
        return 0
