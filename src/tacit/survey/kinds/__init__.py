"""One file per kind of question. Nobody but `tacit.survey.question_kinds` imports them, which an import contract keeps."""
