"""Administrators: passwords (argon2), sessions, lockout, and the log of what they did."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from tacit.errors import InvalidInput, TacitError
from tacit.survey.store.database import Database

SHORTEST_PASSWORD = 12
FAILURES_ALLOWED = 5
LOCK_SECONDS = 15 * 60.0
SESSION_SECONDS = 8 * 3600.0

_hasher = PasswordHasher()


@cache
def _nobody() -> str:
    """Verified where there is no such account, so that a wrong name takes as long as a wrong password."""
    return _hasher.hash(secrets.token_hex(16))


class WrongLogin(TacitError):
    """Name and password do not fit, or the account is locked; the message does not say which."""


@dataclass(frozen=True)
class Session:
    """A logged-in administrator; forms carry `csrf`, which only pages of this session know."""

    token: str
    administrator: str

    @property
    def csrf(self) -> str:
        return hmac.new(self.token.encode(), b"csrf", hashlib.sha256).hexdigest()


class Accounts:
    """The administrators of a store."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    @property
    def any(self) -> bool:
        return bool(self._database.rows("SELECT 1 FROM tacit_administrators LIMIT 1"))

    def set_password(self, name: str, password: str) -> None:
        """Create the account or change its password; its sessions end."""
        if len(password) < SHORTEST_PASSWORD:
            raise InvalidInput(f"The password has {len(password)} characters; at least {SHORTEST_PASSWORD} are needed.")
        with self._database.transaction():
            self._database.run("DELETE FROM tacit_administrators WHERE name = ?", (name,))
            self._database.run("DELETE FROM tacit_sessions WHERE administrator = ?", (name,))
            self._database.run("INSERT INTO tacit_administrators VALUES (?, ?, 0, 0)", (name, _hasher.hash(password)))
        self.record(name, "password set")

    def log_in(self, name: str, password: str) -> Session:
        found = self._database.rows(
            "SELECT password, failures, locked_until FROM tacit_administrators WHERE name = ?", (name,)
        )
        stored, failures, locked_until = found[0] if found else (_nobody(), 0, 0.0)
        fits = _verified(stored, password)
        if not found or locked_until > self._clock() or not fits:
            self._fail(name, failures, is_account=bool(found))
            raise WrongLogin("Name and password do not fit, or there were too many attempts. Try again later.")
        self._database.run("UPDATE tacit_administrators SET failures = 0, locked_until = 0 WHERE name = ?", (name,))
        token = secrets.token_urlsafe(32)
        with self._database.transaction():
            self._database.run("DELETE FROM tacit_sessions WHERE expires < ?", (self._clock(),))
            self._database.run(
                "INSERT INTO tacit_sessions VALUES (?, ?, ?)", (_hashed(token), name, self._clock() + SESSION_SECONDS)
            )
        self.record(name, "logged in")
        return Session(token, name)

    def _fail(self, name: str, failures: int, *, is_account: bool) -> None:
        if is_account:
            locked = self._clock() + LOCK_SECONDS if failures + 1 >= FAILURES_ALLOWED else 0.0
            self._database.run(
                "UPDATE tacit_administrators SET failures = failures + 1, locked_until = ? WHERE name = ?",
                (locked, name),
            )
        self.record(name if is_account else "(no such account)", "login failed")

    def session(self, token: str) -> Session | None:
        rows = self._database.rows(
            "SELECT administrator FROM tacit_sessions WHERE token = ? AND expires > ?", (_hashed(token), self._clock())
        )
        return Session(token, rows[0][0]) if rows else None

    def log_out(self, session: Session) -> None:
        self._database.run("DELETE FROM tacit_sessions WHERE token = ?", (_hashed(session.token),))
        self.record(session.administrator, "logged out")

    def record(self, administrator: str, action: str, detail: str = "") -> None:
        """Add to the audit log. It is about administrators only; respondents appear in no log."""
        at = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="seconds")
        with self._database.transaction():
            ((number,),) = self._database.rows("SELECT COALESCE(MAX(number), 0) + 1 FROM tacit_audit")
            self._database.run(
                "INSERT INTO tacit_audit VALUES (?, ?, ?, ?, ?)", (number, at, administrator, action, detail)
            )

    def audit(self, limit: int = 100) -> list[tuple[str, str, str, str]]:
        rows = self._database.rows(
            "SELECT at, administrator, action, detail FROM tacit_audit ORDER BY number DESC LIMIT ?", (limit,)
        )
        return [(str(at), str(who), str(action), str(detail)) for at, who, action, detail in rows]


def _verified(stored: str, password: str) -> bool:
    try:
        return _hasher.verify(stored, password)
    except VerificationError:
        return False


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
