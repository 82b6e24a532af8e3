"""A software bill of materials of the survey server (CycloneDX 1.6): ``python release/sbom.py OUT``.

Lists what is installed in this environment for ``tacit[survey]``, directly and through others, with versions and licences.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "tacit"
EXTRA = "survey"


def needed(name: str, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """What a package needs in this environment, with the extras that are asked for."""
    for line in distribution(name).requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras | {""}):
            yield canonicalize_name(requirement.name), frozenset(requirement.extras)


def gathered(name: str, extras: frozenset[str]) -> dict[str, set[str]]:
    """Every package reached from `name`, each with those it needs itself."""
    found: dict[str, set[str]] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(name, extras)]
    while waiting:
        package, wanted = waiting.pop()
        if (package, wanted) in seen:
            continue
        seen.add((package, wanted))
        try:
            parts = list(needed(package, wanted))
        except PackageNotFoundError:
            raise SystemExit(f"{package} is not installed. Run: pip install 'tacit[{EXTRA}]'") from None
        found.setdefault(package, set()).update(part for part, _ in parts if part != package)
        waiting += parts
    return found


def licence(package: Distribution) -> str | None:
    said = package.metadata.get("License-Expression") or package.metadata.get("License")
    named = [entry.split(" :: ")[-1] for entry in package.metadata.get_all("Classifier") or () if "License ::" in entry]
    return said if said and len(said) < 60 and "\n" not in said else next(iter(named), None)


def component(name: str) -> dict[str, Any]:
    package = distribution(name)
    reference = f"pkg:pypi/{name}@{package.version}"
    entry: dict[str, Any] = {"type": "library", "bom-ref": reference, "name": name, "version": package.version}
    if (text := licence(package)) is not None:
        entry["licenses"] = [{"license": {"name": text}}]
    return entry | {"purl": reference}


def document() -> dict[str, Any]:
    packages = gathered(ROOT, frozenset({EXTRA}))
    components = {name: component(name) for name in sorted(packages)}
    root = components.pop(ROOT) | {"type": "application"}
    references = {ROOT: root["bom-ref"]} | {name: entry["bom-ref"] for name, entry in components.items()}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": root},
        "components": list(components.values()),
        "dependencies": [
            {"ref": references[name], "dependsOn": sorted(references[part] for part in parts)}
            for name, parts in sorted(packages.items())
        ],
    }


if __name__ == "__main__":
    Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
    Path(sys.argv[1]).write_text(json.dumps(document(), indent=1) + "\n", encoding="utf-8")
