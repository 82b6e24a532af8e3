"""``tacit survey serve | password | accounts | audit | invite | delete``: who may come in, and what becomes of it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.output import JsonFlag, note, print_json, print_text
from tacit.cli.survey.store import (
    DEFAULT_PORT,
    DEFAULT_STORE,
    JsonOption,
    StoreOption,
    SurveyArgument,
    UrlOption,
    link_to,
    opened_store,
    read_definition,
    record,
    show,
)
from tacit.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from tacit.survey.store.surveys import Store, StoredSurvey


def serve_surveys(
    store: StoreOption = DEFAULT_STORE,
    host: Annotated[str, typer.Option(help="The address to listen on; use a reverse proxy for https.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes a free one.")
    ] = DEFAULT_PORT,
    url: UrlOption = None,
    rate: Annotated[
        float, typer.Option(help="Largest number of reports per second from one address; 0: unlimited.")
    ] = 20.0,
    file: Annotated[
        list[Path] | None,
        typer.Option("--file", help="Check that this questionnaire is the one that was opened; repeatable."),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--proxy", help="Address or network of a proxy whose X-Forwarded-For is trusted, such as 127.0.0.1."
        ),
    ] = None,
    create: Annotated[
        bool,
        typer.Option("--create", help="Create an empty store if there is none, for a service or container."),
    ] = False,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Serve the open surveys of a store until interrupted."""
    with opened_store(store, must_exist=not create) as opened:
        for path in file or []:
            _check_unchanged(opened, path)
        _check_programs(opened.surveys())
        from tacit.survey.accounts import Accounts
        from tacit.survey.app import SurveyServer
        from tacit.survey.headers import ServerSettings
        from tacit.survey.serving import bound_socket, serve

        settings = ServerSettings(public_url=url, rate=rate, burst=max(15 * rate, 1), proxies=tuple(proxy or ()))
        _ = settings.networks  # refuses what is no address before anything is served
        sock = bound_socket(host, port)
        _announce(opened.surveys(), url or f"http://{host}:{sock.getsockname()[1]}", as_json=json)
        if not Accounts(opened.database).any:
            note("Nobody can log in at /admin yet. Create an administrator with: tacit survey password NAME")
    serve(SurveyServer(store, settings), sock)


def _check_unchanged(store: Store, path: Path) -> None:
    definition = read_definition(path)
    store.add(definition, path.read_text(encoding="utf-8"), "draft")


def _check_programs(surveys: Sequence[StoredSurvey]) -> None:
    """Refuse open surveys of the first version, whose definitions do not say what a page would run."""
    for survey in surveys:
        if survey.state == "open" and not survey.definition.has_programs:
            name = survey.definition.name
            raise InvalidInput(
                f"The survey {name!r} was opened by the first version of Tacit; this one cannot check what its page would "
                f"send, so it does not serve it. With the version that opened it, close it (tacit survey close {name}) and "
                "export its reports; then open the questionnaire here under another name. Closed surveys stay readable."
            )


def _announce(surveys: Sequence[StoredSurvey], base: str, *, as_json: bool) -> None:
    served = [
        {"name": survey.definition.name, "state": survey.state, "link": link_to(base, survey.fingerprint)}
        for survey in surveys
    ]
    if as_json:
        print_json({"address": base, "surveys": served})
        return
    for stored in served:
        print_text(f"{stored['name']} ({stored['state']}): {stored['link']}")


def password(
    name: Annotated[str, typer.Argument(help="The administrator's name.")],
    store: StoreOption = DEFAULT_STORE,
    file: Annotated[
        Path | None, typer.Option("--file", help="Read the password from this file instead of asking.")
    ] = None,
    role: Annotated[
        str | None,
        typer.Option(help="owner (default: may do everything) or analyst (may see results and export data)."),
    ] = None,
    second_factor: Annotated[
        bool,
        typer.Option("--second-factor", help="Also require one-time codes at login, and show their secret once, now."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Create an administrator of the dashboard, or change their password."""
    with opened_store(store) as opened:
        from tacit.survey import totp
        from tacit.survey.accounts import ROLES, Accounts

        if role is not None and role not in ROLES:
            raise UnknownName("The role", role, list(ROLES))
        made = Accounts(opened.database).set_password(name, _secret(file), role, second_factor=second_factor)
    lines = [f"{name} can log in at /admin."]
    answer: dict[str, str] = {"administrator": name}
    if made is not None:
        answer["second_factor"] = totp.address(made, name)
        lines += [
            f"Scan this with an authenticator app, or type {made}; it is not shown again.",
            _qr(totp.address(made, name)),
        ]
    show(answer, lines, as_json=as_json)


def _qr(text: str) -> str:
    """A QR code in characters, for a terminal."""
    import segno

    out = io.StringIO()
    segno.make(text, micro=False).terminal(out=out, compact=True)
    return out.getvalue()


def accounts(
    delete: Annotated[
        str | None, typer.Option(help="Delete the account of this administrator, and end its sessions.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """List the administrators, or delete one."""
    with opened_store(store) as opened:
        from tacit.survey.accounts import Accounts

        accounts = Accounts(opened.database)
        if delete is not None:
            accounts.delete(delete)
        rows = [{"name": name, "role": role, "second_factor": has} for name, role, has in accounts.names()]
    lines = [f"{row['name']}: {row['role']}{', second factor' if row['second_factor'] else ''}" for row in rows]
    show(
        {"accounts": rows},
        lines or ["There is no administrator. Create one: tacit survey password NAME"],
        as_json=as_json,
    )


def audit(
    head: Annotated[
        str | None,
        typer.Option(help="Head (hash) that this command printed earlier: fail if the log does not continue it."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show the log of what administrators did, check that no line was changed or removed, and print its last hash (head)."""
    with opened_store(store) as opened:
        from tacit.survey.accounts import Accounts

        log = Accounts(opened.database).log
        chain, latest = log.chain(), log.latest(1_000)
    if chain.broken_at is not None:
        raise InvalidInput(
            f"The audit log was changed: line {chain.broken_at} does not fit those before it. Compare it with a backup."
        )
    if head is not None and not chain.continues(head.strip().lower()):
        raise InvalidInput(
            f"None of the {chain.lines} lines of the audit log has the head {head!r}: lines were cut off or written anew since "
            "it was noted, or it is another store's. Compare the log with a backup."
        )
    rows = [{"at": at, "administrator": who, "action": action, "detail": detail} for at, who, action, detail in latest]
    lines = [f"{row['at']}  {row['administrator']}: {row['action']} {row['detail']}".rstrip() for row in reversed(rows)]
    lines.append(f"{chain.lines} lines, none changed. Head: {chain.head}")
    show({"lines": chain.lines, "head": chain.head, "latest": rows}, lines, as_json=as_json)


def delete(
    survey: SurveyArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking for confirmation.")] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Delete a closed survey for good, with its reports, codes and key."""
    with opened_store(store) as opened:
        stored = opened.named(survey)
        name = f"{stored.definition.name}/{stored.definition.wave}"
        reports = opened.counts(stored).reports
        if not yes and not typer.confirm(f"Delete {name} and its {reports} reports for good?"):
            raise InvalidInput(f"{name} was not deleted.")
        opened.delete_survey(stored)
        record(opened, "deleted", name)
    lines = [f"Deleted {name} with {reports} reports. Backups that hold it are yours to delete."]
    show({"deleted": name, "reports": reports}, lines, as_json=as_json)


def _secret(file: Path | None) -> str:
    if file is None:
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    if not file.is_file():
        raise InvalidInput(f"There is no file {str(file)!r}.")
    return file.read_text(encoding="utf-8").rstrip("\n")


def invite(
    survey: SurveyArgument,
    count: Annotated[int, typer.Option(min=1, max=1_000_000, help="Number of single-use codes.")],
    out: Annotated[Path, typer.Option(help="CSV file for the codes, which are written nowhere else.")],
    printed: Annotated[
        Path | None,
        typer.Option("--print", help="File for a page to print: each code, its QR code, and the fingerprint in words."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make single-use invitation codes, as links and for printing; the store keeps only their hashes."""
    for file in (out, printed):
        if file is not None and file.exists():
            raise InvalidInput(f"{str(file)!r} exists already, and codes stand in no other place. Name another file.")
    with opened_store(store) as opened:
        stored = _survey_with_codes(opened, survey)
        _write_codes(opened, stored, count, out, printed, link_to(url, stored.fingerprint))
        record(opened, f"made {count} codes", stored.definition.name)
        from tacit.survey.invitations import fingerprint_words

        words = fingerprint_words(stored.fingerprint)
    files = [str(path) for path in (out, printed) if path]
    lines = [f"Wrote {count} codes to {' and '.join(files)}. Keep the file safe; it cannot be made again."]
    lines.append(f"The page shows this fingerprint: {words}")
    show({"codes": count, "file": str(out), "files": files, "fingerprint_words": words}, lines, as_json=as_json)


def reminders(
    survey: SurveyArgument,
    codes: Annotated[Path, typer.Option(help="CSV file of codes that `survey invite` wrote.")],
    out: Annotated[Path, typer.Option(help="CSV file for the codes with which nobody has started.")],
    printed: Annotated[Path | None, typer.Option("--print", help="File for a page to print with these codes.")] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """List the codes with which nobody has pressed Start yet. Whether somebody who started also sent answers is not known."""
    _check_apart(codes, out)
    with opened_store(store) as opened:
        from tacit.survey.invitations import not_started, write_codes, write_pages

        stored = _survey_with_codes(opened, survey)
        left = not_started(codes, stored, opened.codes.unspent(stored.number))
        write_codes(out, left)
        if printed is not None:
            write_pages(printed, stored, left)
        record(opened, f"listed {len(left)} codes to be reminded", stored.definition.name)
    show({"codes": len(left), "file": str(out)}, [f"Wrote {len(left)} codes to {out}."], as_json=as_json)


def _check_apart(codes: Path, out: Path) -> None:
    if codes.resolve() == out.resolve():
        raise InvalidInput(f"{str(out)!r} is the file of all codes, which stand in no other place. Name another file.")


def incentives(
    survey: SurveyArgument,
    codes: Annotated[Path, typer.Option(help="CSV file of codes that `survey invite` wrote.")],
    out: Annotated[Path, typer.Option(help="CSV file for the codes with which somebody has started.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """List the codes with which somebody has started, to pay their holders the incentive. No code leads to a report."""
    _check_apart(codes, out)
    with opened_store(store) as opened:
        from tacit.survey.invitations import FEWEST_OWED, started, write_codes

        stored = _survey_with_codes(opened, survey)
        owed = started(codes, stored, opened.codes.spent(stored.number))
        if stored.state == "open" and len(owed) < FEWEST_OWED:
            raise InvalidInput(
                f"Only {len(owed)} people have started, and the survey is open: who is listed now and was not before could be "
                f"told from the reports that came meanwhile. Ask again when {FEWEST_OWED} have started, or close the survey."
            )
        write_codes(out, owed)
        record(opened, f"listed {len(owed)} codes for incentives", stored.definition.name)
    show({"codes": len(owed), "file": str(out)}, [f"Wrote {len(owed)} codes to {out}."], as_json=as_json)


def _survey_with_codes(store: Store, name: str) -> StoredSurvey:
    stored = store.named(name)
    if not stored.definition.needs_codes:
        raise InvalidInput(f"The survey {stored.definition.name!r} has an open link. For codes write: access: codes")
    return stored


def _write_codes(store: Store, survey: StoredSurvey, count: int, out: Path, printed: Path | None, page: str) -> None:
    """The hashes into the store only after the files are whole: a code that stands nowhere would be of no use."""
    from tacit.survey.codes import code_token, new_code
    from tacit.survey.invitations import Invitation, write_codes, write_pages
    from tacit.survey.store.submissions import token_hash

    invitations = [Invitation(new_code(), page) for _ in range(count)]
    write_codes(out, invitations)
    if printed is not None:
        write_pages(printed, survey, invitations)
    try:
        store.add_codes(
            survey, [token_hash(survey, code_token(survey.fingerprint, invitation.code)) for invitation in invitations]
        )
    except BaseException:
        for file in (out, printed):
            if file is not None:
                file.unlink()
        raise
