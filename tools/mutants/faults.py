"""Faults by hand: each once survived every test, and must not again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A text of a file that is replaced, and the tests of which one must notice, with marks where they need a server."""

    name: str
    file: str
    old: str
    new: str
    tests: list[str]
    compiled: bool = False  # where the tests go through kernels that plain Python cannot run


FAULTS = (
    Fault(
        "counters are not emptied before they overflow",
        "count/memory.py",
        "        if self._pending + len(codes) > FLUSH_ROWS:\n            self._flush()\n",
        "",
        ["tests/count/test_memory.py"],
    ),
    Fault(
        "the number of rows in the counters is not kept",
        "count/memory.py",
        "        self._pending += len(codes)\n",
        "",
        ["tests/count/test_memory.py"],
    ),
    Fault(
        "totals drop the compensation",
        "count/totals.py",
        "return Totals(moments[:, 0] + moments[:, 2], moments[:, 1] + moments[:, 3])",
        "return Totals(moments[:, 0], moments[:, 1])",
        ["tests/count/test_memory.py"],
    ),
    Fault(
        "compiled totals do not compensate",
        "count/_memory_kernels.py",
        "            moments[which + 2] += (before - after) + added\n",
        "            pass\n",
        ["tests/count/test_memory.py"],
    ),
    Fault(
        "a seeded file is drawn anew for each batch",
        "disguising.py",
        "file_table(disguised(truths, scheme, randomness), out)",
        "file_table(disguised(truths, scheme, randomness_from(seed)), out)",
        ["tests/test_disguising.py::test_batches_of_a_seeded_run_are_disguised_independently_of_each_other"],
    ),
    Fault(
        "the plan is for the answer that needs least",
        "design/plan.py",
        "    return max((_variance_at(scheme, name, code, 0.5), code)",
        "    return min((_variance_at(scheme, name, code, 0.5), code)",
        ["tests/design/test_plan.py"],
    ),
    Fault(
        "the plan of a stated prior is for the answer that needs least",
        "design/plan.py",
        "report_variance(scheme, known, [name]).max())",
        "report_variance(scheme, known, [name]).min())",
        ["tests/design/test_plan.py"],
    ),
    Fault(
        "an expired session is accepted",
        "survey/accounts.py",
        '"WHERE s.token = ? AND s.expires > ?"',
        '"WHERE s.token = ? AND s.expires > 0 * ?"',
        ["tests/survey/test_login_attacks.py::test_an_expired_session_is_refused"],
    ),
    Fault(
        "sessions live on after a new password",
        "survey/accounts.py",
        '        self._database.run("DELETE FROM tacit_sessions WHERE administrator = ?", (name,))\n',
        "",
        ["tests/survey/test_login_attacks.py::test_a_new_password_ends_old_sessions_and_known_devices"],
    ),
    Fault(
        "candidates are pruned by one of their parts alone",
        "mine/apriori.py",
        "enumerate(parts[:-1] if len(longer) > 2 else [])",
        "enumerate(parts[:1] if len(longer) > 2 else [])",
        ["tests/mine/test_itemsets.py::test_exactly_the_itemsets_of_which_every_part_is_frequent_are_looked_at"],
        compiled=True,
    ),
    Fault(
        "candidates of attributes are pruned by one of their parts alone",
        "mine/apriori.py",
        "if all(part in below for part in parts):",
        "if parts[0] in below:",
        ["tests/mine/test_itemsets.py::test_exactly_the_itemsets_of_which_every_part_is_frequent_are_looked_at"],
        compiled=True,
    ),
    Fault(
        "reports are stored in the order of arrival",
        "survey/store/submissions.py",
        "rows = sorted((token, *one.values) for token,",
        "rows = list((token, *one.values) for token,",
        [
            "-m",
            "postgres",
            "tests/survey/test_store.py::test_within_a_commit_reports_lie_by_their_keys_not_as_they_came",
        ],
    ),
    Fault(
        "a tree's label guard is dropped",
        "mine/growth.py",
        "if parent_label is not None and not self._outweighs(counted, label, parent_label):",
        "if parent_label is not None and not True:",
        ["tests/mine/test_tree.py", "-k", "answer_above_stands"],
    ),
    Fault(
        "the covariance of two classes has the wrong sign in a tree's label guard",
        "mine/growth.py",
        " - one * two * both",
        " + one * two * both",
        ["tests/mine/test_tree.py", "-k", "answer_above_stands"],
    ),
    Fault(
        "covariances have the wrong sign in a tree's split guard",
        "mine/_tree_kernels.py",
        "        variance = _variance(weights, covariance)\n",
        "        variance = _variance(np.abs(weights), covariance)\n",
        ["tests/mine/test_tree.py", "-k", "score_of_a_split"],
    ),
)
