"""Questionnaires of other tools, carried over: XLSForm workbooks and SurveyJS documents."""
