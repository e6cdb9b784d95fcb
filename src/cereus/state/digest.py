"""Short names for what state depends on."""

from __future__ import annotations

import hashlib

DIGITS = 16


def digest_of(identity: str) -> str:
    """A few hexadecimal digits that stand for a text, the same in every process. Fingerprints of
    plans and snapshots are made of it, so it must not change."""
    return hashlib.sha256(identity.encode()).hexdigest()[:DIGITS]
