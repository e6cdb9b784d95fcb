"""Keeps two runs from one checkpoint: each would undo what the other has written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cereus.errors import CereusError

NAME = "run.lock"


@contextmanager
def alone(checkpoint: str | None) -> Iterator[None]:
    """Refuse to run while another process of this machine runs with this checkpoint. The system
    ends the lock with its process, however that ends. There is none where the checkpoint is not on
    this machine, nor on systems without such locks."""
    if checkpoint is None or "://" in checkpoint:
        yield
        return
    place = Path(checkpoint)
    place.mkdir(parents=True, exist_ok=True)
    with (place / NAME).open("a") as file:
        _lock(file.fileno(), checkpoint)
        yield


def _lock(file: int, checkpoint: str) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CereusError(
            f"another run has the checkpoint {checkpoint!r}",
            hint="`cereus status` with the checkpoint names its process: stop it first, or give "
            "this pipeline a checkpoint of its own",
        ) from None
    except OSError:
        return  # a file system without locks
