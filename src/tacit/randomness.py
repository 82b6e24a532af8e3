"""Where chance comes from: the operating system's generator, or a seeded one for simulations.

Everything is drawn as 32-bit words, because chances are integers over 2**32: a word below the numerator is a success,
and no rounding comes between the declared chance and the sampled one.
"""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput

WORD_BITS = 32
ONE = 1 << WORD_BITS  # the numerator of certainty

Words = NDArray[np.uint32]

_OWN_STREAM = 0x7AC17


class Randomness(Protocol):
    """A source of independent uniform 32-bit words."""

    is_simulation: bool  # whether the words can be produced again from a seed

    def words(self, count: int) -> Words: ...


class SystemRandomness:
    """An AES-256 keystream in counter mode under a fresh key of the operating system."""

    is_simulation = False
    # A multiple of the cipher's block that stays in the second-level cache.
    _CHUNK = 1 << 18

    def __init__(self) -> None:
        self._zeros = bytes(self._CHUNK)
        self._begin()

    def _begin(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        self._stream = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(os.urandom(16))).encryptor()
        self._process = os.getpid()

    def words(self, count: int) -> Words:
        if os.getpid() != self._process:  # a fork would draw its parent's words once more
            self._begin()
        out = np.empty(count, dtype=np.uint32)
        view = out.view(np.uint8).data
        zeros = memoryview(self._zeros)
        for start in range(0, len(view), self._CHUNK):
            chunk = view[start : start + self._CHUNK]
            self._stream.update_into(zeros[: len(chunk)], chunk)
        return out


class SeededRandomness:
    """Repeatable words for simulations; never for the answers of real people."""

    is_simulation = True

    def __init__(self, seed: int | np.random.SeedSequence) -> None:
        if isinstance(seed, np.integer):
            seed = int(seed)
        if isinstance(seed, bool) or not isinstance(seed, int | np.random.SeedSequence):
            raise InvalidInput(f"A seed must be a whole number from 0 up, not {seed!r}.")
        if isinstance(seed, int) and seed < 0:
            raise InvalidInput(f"A seed must be a whole number from 0 up, not {seed}.")
        # A stream of its own: whoever draws truths from numpy's generator with the same seed must not get disguises that
        # depend on them.
        sequence = np.random.SeedSequence(seed, spawn_key=(_OWN_STREAM,)) if isinstance(seed, int) else seed
        self._generator = np.random.Generator(np.random.PCG64(sequence))

    def words(self, count: int) -> Words:
        return self._generator.integers(0, ONE, size=count, dtype=np.uint32)


def randomness_from(seed: int | None) -> Randomness:
    """The operating system's randomness, or a repeatable simulation where a seed is asked for."""
    return SystemRandomness() if seed is None else SeededRandomness(seed)


def scaled_words(words: Words, bound: int, bits: int = WORD_BITS) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Numbers below `bound` made of `bits`-bit words, and which words may be used for it.

    The accepted words fall on every number equally often (Lemire, ACM TOMACS 2019); the others must be drawn again.
    """
    product = words.astype(np.uint64) * np.uint64(bound)
    low = product & np.uint64((1 << bits) - 1)
    return (product >> np.uint64(bits)).astype(np.int64), low >= np.uint64((1 << bits) % bound)


def uniform_below(randomness: Randomness, bound: int, count: int) -> NDArray[np.int64]:
    """`count` numbers drawn exactly uniformly from ``range(bound)``, by rejection."""
    if not 1 <= bound <= ONE:
        raise InvalidInput(f"A uniform draw needs between 1 and 2**32 possible values, not {bound}.")
    values, accepted = scaled_words(randomness.words(count), bound)
    while not accepted.all():
        again = np.flatnonzero(~accepted)
        values[again], accepted[again] = scaled_words(randomness.words(len(again)), bound)
    return values


def coins(randomness: Randomness, numerator: int, count: int) -> NDArray[np.bool_]:
    """Independent coins that show true with chance ``numerator / 2**32``, exactly."""
    return randomness.words(count).astype(np.uint64) < np.uint64(numerator)
