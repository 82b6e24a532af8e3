"""Electronic surveys whose page disguises the answers, so that no server ever receives a true one.

The way of a survey: `questionnaire` reads what a researcher wrote, `definition` freezes it with its scheme under a hash,
`static/` is the page that asks and disguises, `app` receives the reports, `store` keeps them, `results` estimates.
"""
