"""``tacit survey``: electronic surveys whose page disguises the answers."""

from __future__ import annotations

from tacit.cli.commands import PLAIN, CommandApp, CommandGroup
from tacit.cli.survey import copies, results, serving, verifying, writing

app = CommandApp(
    cls=CommandGroup,
    no_args_is_help=True,
    help="Electronic surveys: answers are disguised on the respondent's own device, and no server ever receives a true one.",
    **PLAIN,
)

app.command("new")(writing.new)
app.command("words")(writing.words)
app.command("import")(writing.carry_over)
app.command("preview")(writing.preview)
app.command("preregister")(writing.preregister)
app.command("open")(writing.open_survey)
app.command("wave")(writing.open_wave)
app.command("serve")(serving.serve_surveys)
app.command("password")(serving.password)
app.command("accounts")(serving.accounts)
app.command("audit")(serving.audit)
app.command("invite")(serving.invite)
app.command("reminders")(serving.reminders)
app.command("incentives")(serving.incentives)
app.command("status")(results.status)
app.command("results")(results.results)
app.command("export")(copies.export)
app.command("close")(writing.close)
app.command("delete")(serving.delete)
app.command("offer")(results.offer)
app.command("backup")(copies.backup)
app.command("restore")(copies.restore)
app.command("drill")(copies.drill)
app.command("verify")(verifying.verify)
