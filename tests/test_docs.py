"""The documentation is complete and up to date; its examples run as tests of their own."""

from __future__ import annotations

import doctest
import importlib.util
import pkgutil
import re
import runpy
import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import tacit
from tacit.cli.reference import reference
from tests.cli.run import tacit as run

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
MATCH = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_the_command_line_page_is_up_to_date() -> None:
    written = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert written == reference(), "run: python -m tacit.cli.reference docs/cli.md"
    helps = written.split("```")[1::2]
    # The site's column holds 88 characters on a wide screen; beyond, one would have to scroll in each help.
    assert max(len(line) for text in helps for line in text.splitlines()) <= 88


def navigation(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from navigation(inner)


def test_every_page_is_in_the_navigation() -> None:
    listed = list(navigation(yaml.safe_load((ROOT / "properdocs.yml").read_text(encoding="utf-8"))["nav"]))
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES)


def anchors(page: Path) -> set[str]:
    """The headings of a page as a forge and the site name them in links."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*PAGES, *ROOT.glob("*.md")]:
        for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
            linked = page.parent / target if target else page
            assert linked.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in anchors(linked), f"{page.name} links to {target}#{anchor}"


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_hooks", DOCS / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_in_the_python_reference_once(hooks: ModuleType) -> None:
    blocks = "\n".join(hooks.page(subject) for subject in hooks.SUBJECTS)
    shown = re.findall(r"heading: (\S+)", blocks)
    assert len(shown) == len(set(shown))
    modules = {f"{name}.{inner}" for name in ("channels", "devices") for inner in getattr(tacit, name).__all__}
    wanted = {f"tacit.{name}" for name in tacit.__all__ if name not in ("channels", "devices")}
    assert wanted | {name for name in modules if name.islower()} <= set(shown)


def test_pages_show_the_screens_that_the_build_made(hooks: ModuleType) -> None:
    page = "Before.\n\n<!-- screen: survey-dashboard: Bars and intervals -->\n\nAfter."
    shown = hooks.screens.with_pictures(page, {"survey-dashboard"}, "../images/screens/")
    assert "![Bars and intervals](../images/screens/survey-dashboard.png)" in shown
    assert "<!--" not in hooks.screens.with_pictures(page, set(), "../")  # without Chromium there are none
    with pytest.raises(SystemExit, match="There is no screen 'survey-dashboard'; there are release-report"):
        hooks.screens.with_pictures(page, {"release-report"}, "../")


def test_screens_are_made_of_the_tutorials_own_files(hooks: ModuleType) -> None:
    assert "name: smokes" in hooks.screens.named_file("tutorials/survey.md", "health.yaml")
    with pytest.raises(SystemExit, match=r"no longer has the file other\.yaml"):
        hooks.screens.named_file("tutorials/survey.md", "other.yaml")


def test_what_a_page_would_load_from_elsewhere_is_noticed(hooks: ModuleType) -> None:
    bad = [
        '<script src="https://cdn.example/x.js">',
        "<link rel=stylesheet href=//fonts.example/a.css>",
        "@font-face{src:url(https://fonts.example/a.woff2)}",
        '<img alt="" src="http://example/x.png">',
    ]
    assert all(hooks.fetched_from_elsewhere(text) for text in bad)
    assert not hooks.fetched_from_elsewhere('<a href="https://example.org">there</a><script src="assets/x.js">')


def test_the_search_index_is_a_script_beside_the_pages(hooks: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search/search_index.json").write_text('{"docs": [{"title": "Crosswise"}]}', encoding="utf-8")
    hooks.write_index_for_disk(tmp_path)
    assert (tmp_path / "search/search_index.js").read_text(encoding="utf-8").startswith("var __index = {")
    assert "javascripts/search-from-disk.js" in (ROOT / "properdocs.yml").read_text(encoding="utf-8")


@pytest.mark.browser
def test_a_search_from_disk_that_finds_nothing_in_the_browser_stops_the_build(
    hooks: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "index.html").write_text('<input name="query">', encoding="utf-8")
    # Other tests' browser keeps a loop running in their thread, in which no second one can be started.
    with (
        ThreadPoolExecutor(1) as thread,
        pytest.raises(SystemExit, match="Searching for 'crosswise' in the site opened from disk found no page"),
    ):
        thread.submit(hooks.screens.check_search, tmp_path, "crosswise", patience=0.1).result()


def blocks(page: Path, kind: str) -> list[tuple[str, str]]:
    """The code blocks of a kind: the rest of their first line, and their text."""
    return re.findall(rf"^```{kind}(.*?)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_there_are_commands_to_run() -> None:
    assert sum(text.count("$ ") for page in PAGES for _, text in blocks(page, "console")) >= 10


WITH_COMMANDS = [page for page in PAGES if blocks(page, "console")]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks with a title are files; console blocks are commands, with what they print where it is shown."""
    monkeypatch.chdir(tmp_path)
    for heading, text in blocks(page, r"(?:yaml|python|csv|toml)"):
        if 'title="' in heading:
            file = Path(heading.split('"')[1])
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
    for _, text in blocks(page, "console"):
        for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, expected = step.replace("\\\n", " ").partition("\n")
            check(command, expected)


def check(command: str, expected: str) -> None:
    program, *arguments = shlex.split(command)
    if program == "python":
        runpy.run_path(arguments[0])
        return
    assert program == "tacit"
    outcome = run(*arguments)
    assert outcome.code == 0, f"{command}: {outcome.err}"
    if expected.strip():
        assert doctest.OutputChecker().check_output(expected, outcome.out, MATCH), f"{command}:\n{outcome.out}"


def commands(text: str) -> Iterator[str]:
    """The commands that a page shows, in lines of their own and within sentences."""
    text = text.replace("\\\n", " ")
    yield from (found.split("  #")[0] for found in re.findall(r"^(?: {4}|\$ |)(tacit [a-z].*)$", text, re.MULTILINE))
    yield from re.findall(r"`(tacit [a-z][^`]*)`", " ".join(text.split()))


def unknown_parts(command: str, options: dict[str, set[str]]) -> list[str]:
    """What a command names that the command line does not have."""
    words = command.split()[1:]
    name = next((name for name in (" ".join(words[:2]), words[0]) if name in options), None)
    if name is None:  # a group of commands such as `tacit survey`
        return [] if any(known.split()[0] == words[0] for known in options) else [words[0]]
    return [option for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", command) if option not in options[name]]


def test_every_command_and_option_that_a_page_names_exists() -> None:
    parts = re.findall(r"^## `tacit ([^`]+)`\n(.*?)(?=^## |\Z)", reference(), re.MULTILINE | re.DOTALL)
    options = {name: set(re.findall(r"--[a-z][\w-]*", text)) for name, text in parts}
    pages = [page for page in [*PAGES, *ROOT.glob("*.md")] if page.name not in ("cli.md", "CHANGELOG.md")]
    named = [(page.name, command) for page in pages for command in commands(page.read_text(encoding="utf-8"))]
    assert len(named) > 200
    assert not [(page, command, unknown) for page, command in named if (unknown := unknown_parts(command, options))]
    assert unknown_parts("tacit plan S --margins 0.03", options) == ["--margins"]


def test_every_python_name_that_a_page_spells_out_exists() -> None:
    texts = [page.read_text(encoding="utf-8") for page in [*PAGES, ROOT / "README.md"]]
    spelled = {name for text in texts for name in re.findall(r"\btacit(?:\.[A-Za-z_]\w*)+", text)} - {"tacit.toml"}
    assert len(spelled) > 50
    for name in spelled:
        assert pkgutil.resolve_name(name) is not None


# Said once, and understood by their author only.
MANNERED = (
    "betrays its own coin",
    "picture from its negative",
    "errors speak of",
    "keep the same company",
    "next to nothing:",
    "does not speak Arrow",
    "a population without end",
    "An outcome does not explain itself",
    "leave them away",
)


@pytest.mark.parametrize("phrase", MANNERED)
def test_sentences_are_plain(phrase: str) -> None:
    texts = [*PAGES, ROOT / "README.md", *(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.js")]
    # Lines break anywhere, within a phrase too.
    assert not [path.name for path in texts if phrase in " ".join(path.read_text(encoding="utf-8").split())]
