"""Questionnaires for the browser tests."""

from __future__ import annotations

# Its true answers can be told from what is reported: reports have labels of their own.
CANARY_ANSWER = "canary-1f9e"
CANARY = f"""\
name: canary
title: Canary
introduction: A question whose true answer must never leave the page.
contact: research@example.org
pages:
  - questions:
      - name: secret
        kind: choice
        text: Which?
        answers: [{CANARY_ANSWER}, sparrow]
        sensitive: true
        prefer_not_to_say: false
groups:
  - questions: [secret]
    channel:
      kind: matrix
      matrix: [[0.7, 0.3], [0.3, 0.7]]
      reports: [left, right]
"""
