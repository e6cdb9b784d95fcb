"""Strings to codes: the number of each string among a fixed set of words.

Pure Python to read, compiled by Cython to run.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.string import memcpy

NUMBER = cython.fused_type(cython.int, cython.longlong)
PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
LOW_64 = (1 << 64) - 1
LONGEST_RUN, TRIES = 32, 20
FEW = 32
"""So many words get more buckets, so that a salt that parts them is soon met."""


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.inline
def _head(
    data: cython.const[cython.uchar][::1], at: cython.longlong, size: cython.longlong
) -> cython.ulonglong:
    """The first eight bytes of a string as one number. A shorter string is filled up with bytes
    that no text has, so that its size counts too."""
    value: cython.ulonglong = ~cython.cast(cython.ulonglong, 0)
    k: cython.longlong
    if cython.compiled:
        if at + 8 <= data.shape[0]:
            # strings begin at any address, but a number may be read only at an aligned one
            memcpy(cython.address(value), cython.address(data[at]), 8)
            if size < 8:
                value = value | (~cython.cast(cython.ulonglong, 0) << (8 * size))
            return value
        for k in range(min(size, 8)):
            value = value ^ (cython.cast(cython.ulonglong, data[at + k] ^ 255) << (8 * k))
        return value
    return int.from_bytes(bytes(data[at : at + min(size, 8)]).ljust(8, b"\xff"), "little")


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _with_rest(
    head: cython.ulonglong,
    data: cython.const[cython.uchar][::1],
    at: cython.longlong,
    size: cython.longlong,
    salt: cython.ulonglong,
) -> cython.ulonglong:
    """The number of a string with what follows its first eight bytes."""
    mixed: cython.ulonglong = head ^ salt
    k: cython.longlong = 8
    while k < size:
        mixed = mixed ^ (mixed >> 29)
        mixed = mixed * PRIME if cython.compiled else mixed * PRIME & LOW_64
        mixed = mixed ^ _head(data, at + k, size - k)
        k += 8
    return mixed


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.inline
def _bucket(
    number: cython.ulonglong, salt: cython.ulonglong, shift: cython.int
) -> cython.ulonglong:
    """The highest bits of a product: every bit of the number counts."""
    if not cython.compiled:  # C wraps by itself
        return (number * salt & LOW_64) >> shift
    return number * salt >> shift


class Words:
    """A fixed set of strings, each with a code from 1 on; every other string has code 0.

    The hash reads more than the first eight bytes only if some of them begin alike, such as
    "customer-0001" and "customer-0002", and only of strings that are no longer than the longest of
    them. Its salt differs from run to run, so nobody can choose strings that collide.
    A few words of at most eight bytes have a bucket each: then a lookup is one comparison, and
    nothing for the processor to guess."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = [word.encode() for word in words]
        sizes = [len(word) for word in self.words]
        self.ends = np.cumsum([0, *sizes]).tolist()
        # eight spare bytes, so that the first eight of a word can be read in one load
        self.data = np.frombuffer(b"".join(self.words) + bytes(8), np.uint8)
        heads = {_head(self.data, self.ends[k], size) for k, size in enumerate(sizes)}
        self.all_bytes = len(heads) < len(self.words)
        self.longest = max(sizes, default=0)
        self.short = len(self.words) <= FEW and self.longest <= 8 and not self.all_bytes
        wanted = len(self.words) * (max(4, len(self.words)) if self.short else 4)
        bits = max(4, (wanted - 1).bit_length())
        self.shift = 64 - bits
        tries = 0
        # a salt may be bad for words that differ by a number
        while not self._fill(1 << bits) and tries < TRIES:
            tries += 1

    def _fill(self, buckets: int) -> bool:
        """Put the words into buckets, with a new salt. Returns whether it is good: short words are
        parted, and searches for others end soon."""
        self.salt = secrets.randbits(64) | 1
        self.codes = np.zeros(buckets, np.int32)
        # of the word in each bucket: its head, where it begins in `data`, its size
        self.heads = np.zeros(buckets, np.uint64)
        self.places = np.zeros(buckets, np.int64)
        self.sizes = np.zeros(buckets, np.int64)
        self.parted = self.short
        for k, word in enumerate(self.words):
            head = number = _head(self.data, self.ends[k], len(word))
            if self.all_bytes:
                number = _with_rest(head, self.data, self.ends[k], len(word), self.salt)
            at = _bucket(number, self.salt, self.shift)
            while self.codes[at]:
                at = (at + 1) % buckets
                self.parted = False
            self.codes[at] = k + 1
            self.heads[at], self.places[at], self.sizes[at] = head, self.ends[k], len(word)
        if self.short:
            return self.parted
        free = np.flatnonzero(self.codes == 0)
        return int(np.diff(free, append=free[0] + buckets).max()) - 1 <= LONGEST_RUN


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _same_rest(
    data: cython.const[cython.uchar][::1],
    begin: cython.longlong,
    words: cython.const[cython.uchar][::1],
    word: cython.longlong,
    size: cython.longlong,
) -> cython.bint:
    """Whether two strings of one size are the same after their first eight bytes."""
    k: cython.longlong
    for k in range(8, size):
        if data[begin + k] != words[word + k]:
            return False
    return True


def string_codes(
    offsets: cython.const[NUMBER][::1],
    data: cython.const[cython.uchar][::1],
    words: Words,
    index: cython.ushort[::1],
    radix: cython.uint,
) -> None:
    """Add the code of every string as the last digit of its number in `index`. The strings are
    those of an Arrow string array, given by its buffers."""
    if words.parted:
        _codes_at_once(offsets, data, words, index, radix)
    else:
        _searched_codes(offsets, data, words, index, radix)


def _codes_at_once(
    offsets: cython.const[NUMBER][::1],
    data: cython.const[cython.uchar][::1],
    words: Words,
    index: cython.ushort[::1],
    radix: cython.uint,
) -> None:
    """`string_codes` where the words are parted. Which words come is hard to guess, so nothing
    branches on them."""
    codes: cython.const[cython.int][::1] = words.codes
    heads: cython.const[cython.ulonglong][::1] = words.heads
    sizes: cython.const[cython.longlong][::1] = words.sizes
    shift: cython.int = words.shift
    salt: cython.ulonglong = words.salt
    i: cython.longlong
    with cython.nogil:
        for i in range(offsets.shape[0] - 1):
            begin: cython.longlong = offsets[i]
            size: cython.longlong = offsets[i + 1] - begin
            head: cython.ulonglong = _head(data, begin, size)
            at: cython.ulonglong = _bucket(head, salt, shift)
            same: cython.int = (heads[at] == head) & (sizes[at] == size)
            index[i] = cython.cast(cython.ushort, index[i] * radix + codes[at] * same)


def _searched_codes(
    offsets: cython.const[NUMBER][::1],
    data: cython.const[cython.uchar][::1],
    words: Words,
    index: cython.ushort[::1],
    radix: cython.uint,
) -> None:
    """`string_codes` where a word may be in a bucket after its own."""
    n: cython.longlong = offsets.shape[0] - 1
    codes: cython.const[cython.int][::1] = words.codes
    heads: cython.const[cython.ulonglong][::1] = words.heads
    places: cython.const[cython.longlong][::1] = words.places
    sizes: cython.const[cython.longlong][::1] = words.sizes
    word_data: cython.const[cython.uchar][::1] = words.data
    last: cython.ulonglong = codes.shape[0] - 1
    shift: cython.int = words.shift
    salt: cython.ulonglong = words.salt
    all_bytes: cython.bint = words.all_bytes
    longest: cython.longlong = words.longest
    i: cython.longlong
    at: cython.ulonglong
    with cython.nogil:
        for i in range(n):
            begin: cython.longlong = offsets[i]
            size: cython.longlong = offsets[i + 1] - begin
            head: cython.ulonglong = _head(data, begin, size)
            number: cython.ulonglong = head
            if all_bytes and size <= longest:  # a longer one is found in no bucket
                number = _with_rest(head, data, begin, size, salt)
            at = _bucket(number, salt, shift)
            while codes[at] and not (
                heads[at] == head
                and sizes[at] == size
                and (size <= 8 or _same_rest(data, begin, word_data, places[at], size))
            ):
                at = (at + 1) & last
            index[i] = cython.cast(cython.ushort, index[i] * radix + codes[at])


def entry_codes(
    entries: cython.const[cython.ushort][::1],
    places: cython.const[NUMBER][::1],
    index: cython.ushort[::1],
    radix: cython.uint,
) -> None:
    """Like `string_codes`, for a dictionary array: given are the codes of its entries, and the
    entry of each row."""
    i: cython.longlong
    with cython.nogil:
        for i in range(places.shape[0]):
            index[i] = cython.cast(cython.ushort, index[i] * radix + entries[places[i]])
