"""A grid: written as one question, asked as several scales under one text."""

from __future__ import annotations

from dataclasses import replace

from tacit.survey.conditions import check_places
from tacit.survey.kinds.scale import Scale
from tacit.survey.question_kinds import named_texts
from tacit.survey.questionnaire import Grid, Question
from tacit.survey.questionnaire_file import QuestionnaireReader, read_name
from tacit.survey.yaml_lines import Located


class GridOfScales(Scale):
    """Alike scales, a line each."""

    other_keys = ("items",)

    def read_questions(
        self, reader: QuestionnaireReader, item: Located, fields: dict[str, Located], name: str
    ) -> list[Question]:
        if "items" not in fields:
            item.refuse("a question of kind 'grid' needs the key 'items': a name and a text for each of its lines.")
        grid = Grid(read_name(fields["name"], "A grid's name"), reader.texts(fields["text"], "A grid's text"))
        check_places(fields["text"], grid.text, reader.seen)
        for key in ("unrelated", "known", "correct"):
            if key in fields:
                fields[key].refuse(f"{key} goes with one question. Ask it outside the grid.")
        scale = reader.question(item, {key: field for key, field in fields.items() if key != "items"}, "scale")
        return [
            reader.add(replace(scale, name=f"{grid.name}_{line}", text=text, grid=grid), fields["name"])
            for line, text in named_texts(fields["items"], reader.languages, is_option=True)
        ]


KIND = GridOfScales()
