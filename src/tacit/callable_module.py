"""Modules that can be called like the one function they are named for.

``tacit.disguise``, ``tacit.estimate``, ``tacit.measure`` and ``tacit.attack`` are both: the place where a thing is
written and the thing a user calls. Importing such a module anywhere binds its name in the package, so the name itself
has to be callable.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class CallableModule(ModuleType):
    """Calls the function that has the module's own name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return getattr(self, self.__name__.rpartition(".")[2])(*arguments, **options)


def make_callable(module: str) -> None:
    sys.modules[module].__class__ = CallableModule
