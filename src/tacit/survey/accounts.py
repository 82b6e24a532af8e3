"""Administrators: passwords (argon2), second factors, roles and sessions."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from tacit.errors import InvalidInput, TacitError, UnknownName
from tacit.survey import totp
from tacit.survey.limits import Attempts
from tacit.survey.store.audit import Audit
from tacit.survey.store.database import Database, StoreUnavailable

# Owners may do everything; analysts look and take data out.
Role = Literal["owner", "analyst"]
ROLES: tuple[Role, ...] = get_args(Role)
SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 1_000
SESSION_SECONDS = 8 * 3600.0
KNOWN_SECONDS = 90 * 86400.0

# Who did what is done in a terminal on the server: whoever may, not the account that it is done to.
COMMAND_LINE = "(command line)"

_hasher = PasswordHasher()


class WrongLogin(TacitError):
    """Name, password and code do not fit, or there were too many attempts; the message does not say which."""


@dataclass(frozen=True)
class Session:
    """A logged-in administrator; forms carry `csrf`, which only pages of this session know."""

    token: str
    administrator: str
    role: Role = "owner"

    @property
    def csrf(self) -> str:
        return hmac.new(self.token.encode(), b"csrf", hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Login:
    """What somebody who wants in shows: `origin` is where they come from, `device` what an earlier login left there."""

    name: str
    password: str
    code: str = ""
    origin: str = ""
    device: str = ""


@dataclass(frozen=True)
class _Account:
    password: str
    role: Role
    second_factor: str
    last_step: int
    exists: int = 1


def _nobody() -> _Account:
    """Checked where there is no such account, so that a wrong name takes as long as a wrong password.

    Random bytes in place of a hash: to compute one would make the first wrong name take twice as long.
    """
    salt, digest = (base64.b64encode(secrets.token_bytes(n)).decode().rstrip("=") for n in (16, 32))
    settings = f"m={_hasher.memory_cost},t={_hasher.time_cost},p={_hasher.parallelism}"
    return _Account(f"$argon2id$v=19${settings}${salt}${digest}", "analyst", totp.new_secret(), 0, exists=0)


class Accounts:
    """The administrators of a store."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._attempts = Attempts(clock)
        self._nobody = _nobody()
        self.log = Audit(database, clock)

    @property
    def any(self) -> bool:
        return bool(self._database.rows("SELECT 1 FROM tacit_administrators LIMIT 1"))

    def names(self) -> list[tuple[str, Role, bool]]:
        """Every account with its role and whether it has a second factor."""
        rows = self._database.rows("SELECT name, role, second_factor FROM tacit_administrators ORDER BY name")
        return [(name, role, bool(secret)) for name, role, secret in rows]

    def set_password(
        self,
        name: str,
        password: str,
        role: Role | None = None,
        *,
        second_factor: bool = False,
        by: str = COMMAND_LINE,
    ) -> str | None:
        """Create the account or change its password; its sessions end. Gives the secret of a new second factor.

        A role or a second factor that the account has stays unless another is given.
        """
        check_password(password)
        before = self._account(name)
        secret = totp.new_secret() if second_factor else before.second_factor if before.exists else ""
        kept = role or (before.role if before.exists else "owner")
        with self._database.transaction():
            self._forget(name)
            self._database.run(
                "INSERT INTO tacit_administrators (name, password, failures, locked_until, role, second_factor, last_step) "
                "VALUES (?, ?, 0, 0, ?, ?, 0)",
                (name, _hasher.hash(password), kept, secret),
            )
        self._forget_log()
        self.record(by, "password set", f"{name}: {kept}{', second factor' if secret else ''}")
        return secret if second_factor else None

    def delete(self, name: str, by: str = COMMAND_LINE) -> None:
        """Take the account away with its sessions. What it did stays in the log."""
        if not self._account(name).exists:
            raise UnknownName("The account", name, [known for known, _, _ in self.names()])
        with self._database.transaction():
            self._forget(name)
        self._forget_log()
        self.record(by, "account deleted", name)

    def _forget_log(self) -> None:
        """The log still holds the old password's hash and the second factor's secret; a server empties it later, if not now."""
        with contextlib.suppress(StoreUnavailable):
            self._database.forget_log()

    def _forget(self, name: str) -> None:
        self._database.run("DELETE FROM tacit_administrators WHERE name = ?", (name,))
        self._database.run("DELETE FROM tacit_sessions WHERE administrator = ?", (name,))
        self._database.run("DELETE FROM tacit_devices WHERE administrator = ?", (name,))

    def _account(self, name: str) -> _Account:
        """The account of this name, or nobody's; either comes out of the database, so that it takes the same time."""
        nobody = self._nobody
        rows = self._database.rows(
            "SELECT password, role, second_factor, last_step, 1 FROM tacit_administrators WHERE name = ? UNION ALL "
            "SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), 0, 0 "
            "WHERE NOT EXISTS (SELECT 1 FROM tacit_administrators WHERE name = ?)",
            (name, nobody.password, nobody.role, nobody.second_factor, name),
        )
        return _Account(*rows[0])

    def log_in(self, name: str, password: str, **shown: str) -> Session:
        """A session for who shows the right name, password and, where there is one, second factor."""
        login = Login(name, password[: LONGEST_PASSWORD + 1], **shown)
        # The same is done for an account with a second factor, for one without, and for none.
        account = self._account(name)
        step = self._step(account, login.code)
        is_known = self._is_known(login)
        # Whoever shows the second factor is no stranger: no lock of other people's making holds them up.
        if step is None and not self._attempts.allows(name, login.origin, is_known=is_known):
            raise self._wrong(account, login, is_known=is_known, is_counted=False)
        fits = _verify_password(account.password, login.password)
        if not account.exists or not fits or (account.second_factor and step is None):
            raise self._wrong(account, login, is_known=is_known, is_counted=True)
        session = self._new_session(name, account, step)
        if session is None:
            raise self._wrong(account, login, is_known=is_known, is_counted=True)
        self._attempts.succeeded(name, login.origin)
        self._renew(account, login)
        return session

    def _renew(self, account: _Account, login: Login) -> None:
        """Hash the password as new ones are: one with other settings takes another time than a wrong name."""
        if _hasher.check_needs_rehash(account.password):
            self._database.run(
                "UPDATE tacit_administrators SET password = ? WHERE name = ? AND password = ?",
                (_hasher.hash(login.password), login.name, account.password),
            )

    def _step(self, account: _Account, code: str) -> int | None:
        secret = account.second_factor or self._nobody.second_factor
        step = totp.accepted_step(secret, code, self._clock(), account.last_step)
        return step if account.second_factor and account.exists else None

    def _wrong(self, account: _Account, login: Login, *, is_known: bool, is_counted: bool) -> WrongLogin:
        if is_counted:
            self._attempts.failed(login.name, login.origin, is_known=is_known)
            # Beyond the limits nothing is written: a flood of attempts must not fill the disk.
            self.record(login.name if account.exists else "(no such account)", "login failed")
        return WrongLogin("Name, password and code do not fit, or there were too many attempts. Try again later.")

    def _new_session(self, name: str, account: _Account, step: int | None) -> Session | None:
        """None where the one-time code was used, or the password changed, while the password was being checked."""
        token, now = secrets.token_urlsafe(32), self._clock()
        with self._database.transaction():
            if not self._is_unchanged(name, account, step or 0):
                return None
            self._database.run("DELETE FROM tacit_sessions WHERE expires < ?", (now,))
            self._database.run("DELETE FROM tacit_devices WHERE expires < ?", (now,))
            self._database.run(
                "INSERT INTO tacit_sessions VALUES (?, ?, ?)", (_hash_token(token), name, now + SESSION_SECONDS)
            )
        self.record(name, "logged in")
        return Session(token, name, account.role)

    def _is_unchanged(self, name: str, account: _Account, step: int) -> bool:
        """Whether the password still holds and the code is used here for the first time; it is then used.

        One statement, because two servers on PostgreSQL may both have read the account before either changed it.
        """
        changed = self._database.run(
            "UPDATE tacit_administrators SET last_step = ? "
            "WHERE name = ? AND password = ? AND (second_factor = '' OR last_step < ?)",
            (step, name, account.password, step),
        )
        return changed == 1

    def remembered_device(self, session: Session) -> str:
        """What a browser keeps after logging in, to be no stranger the next time."""
        token = secrets.token_urlsafe(32)
        row = (_hash_token(token), session.administrator, self._clock() + KNOWN_SECONDS)
        self._database.run("INSERT INTO tacit_devices VALUES (?, ?, ?)", row)
        return token

    def _is_known(self, login: Login) -> bool:
        return bool(login.device) and bool(
            self._database.rows(
                "SELECT 1 FROM tacit_devices WHERE token = ? AND administrator = ? AND expires > ?",
                (_hash_token(login.device), login.name, self._clock()),
            )
        )

    def is_no_stranger(self, name: str, code: str, device: str) -> bool:
        """Whether somebody shows, before any password, what only this account has: a known browser or the second factor."""
        step = self._step(self._account(name), code)
        return self._is_known(Login(name, "", device=device)) or step is not None

    def session(self, token: str) -> Session | None:
        rows = self._database.rows(
            "SELECT s.administrator, a.role FROM tacit_sessions s JOIN tacit_administrators a ON a.name = s.administrator "
            "WHERE s.token = ? AND s.expires > ?",
            (_hash_token(token), self._clock()),
        )
        return Session(token, *rows[0]) if rows else None

    def log_out(self, session: Session) -> None:
        self.end(session.token)
        self.record(session.administrator, "logged out")

    def end(self, token: str) -> None:
        """End a session, if there is one of this token."""
        self._database.run("DELETE FROM tacit_sessions WHERE token = ?", (_hash_token(token),))

    def record(self, administrator: str, action: str, detail: str = "") -> None:
        self.log.record(administrator, action, detail)

    def audit(self, limit: int = 100) -> list[tuple[str, str, str, str]]:
        return self.log.latest(limit)


def check_password(password: str) -> None:
    """Length is what makes a password hard to guess; which characters it has is its owner's business."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InvalidInput(
            f"The password has {len(password)} characters; {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} are taken: at least "
            f"{SHORTEST_PASSWORD}, of any kind. A few words make a good one."
        )


def _verify_password(stored: str, password: str) -> bool:
    try:
        return _hasher.verify(stored, password)
    except VerificationError:
        return False


def _hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
