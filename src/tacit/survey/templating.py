"""Pages made on the server; everything put into them is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from starlette.responses import HTMLResponse

from tacit.survey.assets import page_style


@cache
def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["percent"] = lambda share: f"{100 * share:.1f}%"
    environment.filters["named"] = lambda rows: [(row.label, row) for row in rows]
    environment.filters["utc"] = lambda at: at.replace("T", " ").replace("+00:00", " UTC")
    return environment


def page_text(template: str, **values: Any) -> str:
    """A page that is no answer to a request, such as one to print."""
    return _environment().get_template(template).render(**values)


def render_template(template: str, status_code: int = 200, **values: Any) -> HTMLResponse:
    text = _environment().get_template(template).render(style=page_style().text, **values)
    return HTMLResponse(text, status_code=status_code)
