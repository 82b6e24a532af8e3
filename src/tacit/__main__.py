"""``python -m tacit``, where the command itself is not on the path."""

from __future__ import annotations

from tacit.cli import main

main()
