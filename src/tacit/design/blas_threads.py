"""One thread for small linear algebra: several only wait for each other, the more so on a busy machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def single_thread() -> Iterator[None]:
    """Keep BLAS to one thread within the block."""
    from tacit.extras import require

    require("design")
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
