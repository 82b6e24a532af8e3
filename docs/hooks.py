"""What the site's build adds to the written pages: a page of the Python reference for every subject, and pictures of screens.

Each public name stands once, with its docstring; a name of a package that no subject lists stops the build, and so does
a page that would load anything from elsewhere.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent.parent / "src"), str(Path(__file__).parent)]

import screens
from properdocs.plugins import event_priority

import tacit
from tacit import channels, devices

FOLDER = "reference/python"
# Subject: title, and the packages whose public names belong to it.
SUBJECTS = {
    "data": ("Data and reports", {"schema", "dataset", "reports", "bundled", "errors"}),
    "schemes": ("Schemes and disguising", {"channel", "disguising", "spark_disguising"}),
    "channels": ("Channels", set()),
    "devices": ("Devices", set()),
    "design": ("Design and planning", {"design"}),
    "measures": ("Measures and attacks", {"measures", "attacks"}),
    "estimation": ("Counting and estimation", {"count", "estimation", "joint"}),
    "regression": ("Regression", {"regression"}),
    "mining": ("Mining", {"mine"}),
    "publishing": ("Publishing", {"publish"}),
}
# What a page is about, and where it is explained with examples.
PREFACES = {
    "data": "Tables of truths and of reports, their attributes and answers ([explained](../data.md)).",
    "schemes": "Which answers are disguised and how, and the disguising ([explained](../../how-to/design-a-scheme.md)).",
    "channels": "Functions of `tacit.channels`: each way to disguise, as `Scheme.of` takes it ([explained](../channels.md)).",
    "devices": "Functions of `tacit.devices`: dice, cards and birthdays ([explained](../../how-to/choose-a-device.md)).",
    "design": "The best channel for a privacy, and how many respondents it takes ([explained](../design.md)).",
    "measures": "What a scheme protects, and what an attack gets from reports ([explained](../measures.md)).",
    "estimation": "The truth about the crowd, with its errors ([explained](../estimation.md)).",
    "regression": "Who carries a trait more often ([explained](../../how-to/regression.md)).",
    "mining": "Trees, classifiers, itemsets and rules ([explained](../classifiers.md)).",
    "publishing": "Releases of a table that one holds ([explained](../publish.md)).",
}
# Objects that are made by others and are worth a look themselves.
RESULTS = {
    "schemes": ["tacit.channel.scheme.Group", "tacit.channel.scheme.Questionnaire"],
    "regression": ["tacit.regression.Regression"],
    "publishing": [
        *("tacit.publish.Protection", "tacit.publish.Preferences", "tacit.publish.Effort"),
        *("tacit.publish.Release", "tacit.publish.ReleaseCheck"),
    ],
    "channels": ["tacit.channel.base.Channel", "tacit.channel.recipe.Recipe"],
    "devices": ["tacit.channel.devices.DeviceDesign", "tacit.channel.devices.Sample"],
    "measures": [
        "tacit.measures.scheme.SchemeMeasures",
        "tacit.measures.whole_report.WholeReport",
        "tacit.attacks.result.AttackResult",
    ],
    "design": [
        *("tacit.design.Bounds", "tacit.design.FrontPreferences", "tacit.design.SearchEffort", "tacit.design.Front"),
        *("tacit.design.scheme.SchemeDesign", "tacit.design.front.FrontPoint", "tacit.design.plan.Plan"),
    ],
    "estimation": [
        "tacit.estimation.result.TableEstimate",
        "tacit.estimation.result.ShareEstimate",
        "tacit.estimation.comparison.GivenEstimate",
        "tacit.estimation.comparison.Comparison",
        "tacit.estimation.prevalence_result.Prevalence",
        "tacit.estimation.prevalence_result.AnswerShare",
        "tacit.estimation.correlation_result.Correlations",
        "tacit.count.stored.StoredReports",
        "tacit.joint.JointModel",
    ],
    "mining": [
        "tacit.mine.HeavyHitter",
        "tacit.mine.itemset_result.Itemsets",
        "tacit.mine.itemset_result.Itemset",
        "tacit.mine.rules.Rules",
        "tacit.mine.accuracy.AccuracyEstimate",
        "tacit.mine.selection_result.CrossValidation",
        "tacit.mine.selection_result.ModelChoice",
    ],
}
# What other modules ask of these objects, and no reader needs.
INNER = [
    "asks_diversity", "tail", "diversity", "people_demand", "others", "point", "evolution", "fitted", "gammas",
    "privacies", "is_for_several_priors", "grouped", "mean_weight", "variance_factors", "quantile", "p_value",
    "covariance_of_clusters", "weighings", "in_words", "dealing_weights", "routed", "group_of", "groups_of", "law",
    "shown_rows", "headline", "needed_names_", "constant_code_", "majority_share_", "tally_size", "side", "place",
    "sources", "what", "chance_terms", "inverse_terms", "shown_contributions", "orbits", "set_law", "summed_squares",
    "treats_answers_alike", "report_members", "has_choice", "is_small", "better_instead", "drawn_odds",
    "coin_guessed", "singular_extremes", "independent_figures", "independent_answer_figures", "itemset_condition",
    "stacked",
]  # fmt: skip
# What results and classifiers have from the classes they are made of.
INHERITED = ["summary", "plot", "to_arrow", "to_pandas", "to_polars", "fit", "predict", "predict_proba", "score"]
MODULES = {"channels", "devices"}


def subject_of(name: str) -> str:
    package = getattr(tacit, name).__module__.split(".")[1]
    return next(subject for subject, (_, packages) in SUBJECTS.items() if package in packages)


def entry(path: str, heading: str) -> str:
    hidden = json.dumps(["!^_", f"!^({'|'.join(INNER)})$"])
    options = [f"heading: {heading}", f"toc_label: {heading.split('.')[-1]}", f"filters: {hidden}"]
    options.append(f"inherited_members: {json.dumps(INHERITED)}")
    return f"::: {path}\n    options:\n" + "".join(f"      {option}\n" for option in options)


def home(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def entries(subject: str) -> list[str]:
    """The lines of one page, a block for each name."""
    if subject in MODULES:
        module = {"channels": channels, "devices": devices}[subject]
        functions = [(name, getattr(module, name)) for name in module.__all__ if name.islower()]
        named = [entry(home(function), f"{subject}.{name}") for name, function in functions]
    else:
        names = sorted(set(tacit.__all__) - MODULES, key=str.lower)
        named = [entry(f"tacit.{name}", f"tacit.{name}") for name in names if subject_of(name) == subject]
    return named + [entry(path, path) for path in RESULTS.get(subject, [])]


def page(subject: str) -> str:
    title, _ = SUBJECTS[subject]
    return f"# {title}\n\n{PREFACES[subject]}\n\n" + "\n".join(entries(subject))


def on_config(config: Any) -> Any:
    """Put the pages where the navigation says "Python"."""
    listed = [{SUBJECTS[subject][0]: f"{FOLDER}/{subject}.md"} for subject in SUBJECTS]
    (reference,) = [part["Reference"] for part in config.nav if "Reference" in part]
    for part in reference:
        if "Python" in part:
            part["Python"] = listed
    return config


PICTURES = "images/screens"
_made: dict[str, bytes] = {}


def on_startup(command: str, **_: Any) -> None:
    """Make the pictures once, also where the site is served and built anew after each change."""
    _made.update(screens.make_screens())


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    up = "../" * page.file.src_uri.count("/")
    return screens.with_pictures(markdown, set(_made), f"{up}{PICTURES}/")


def on_files(files: Any, config: Any) -> Any:
    generated = importlib.import_module(type(config).__module__.split(".")[0] + ".structure.files").File.generated
    for subject in SUBJECTS:
        files.append(generated(config, f"{FOLDER}/{subject}.md", content=page(subject)))
    for name, picture in _made.items():
        files.append(generated(config, f"{PICTURES}/{name}.png", content=picture))
    return files


# What a browser fetches without being asked: scripts, styles, fonts, pictures, frames. Links that are followed are not.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)[^>]*\ssrc=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link[^>]*rel=["']?(?:stylesheet|preconnect|preload|icon)[^>]*href=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|url\(["']?((?:https?:)?//[^"')]+)"""
)


def fetched_from_elsewhere(text: str) -> list[str]:
    """Addresses that a page or style sheet would fetch by itself."""
    return [next(filter(None, groups)) for groups in FETCHED.findall(text)]


def write_index_for_disk(site: Path) -> None:
    """The search index as a script too: a page that was opened from disk may run scripts beside it, and read no file."""
    index = (site / "search/search_index.json").read_text(encoding="utf-8")
    (site / "search/search_index.js").write_text(f"var __index = {index};\n", encoding="utf-8")


@event_priority(-100)  # after the search has written its index
def on_post_build(config: Any) -> None:
    site = Path(config.site_dir)
    write_index_for_disk(site)
    screens.check_search(site, "crosswise")
    for path in site.rglob("*"):
        if path.suffix in (".html", ".css"):
            outside = fetched_from_elsewhere(path.read_text(encoding="utf-8"))
            if outside:
                raise SystemExit(f"{path.name} would load {outside[0]} from elsewhere.")
