"""Questionnaires for tests."""

from __future__ import annotations

SMALL = """\
name: health
title: Health
introduction: We ask about health.
contact: research@example.org
privacy: strong
pages:
  - questions:
      - {name: age, kind: number, text: How old are you?, ranges: [30, 60], sensitive: false}
      - {name: smokes, kind: yes-no, text: Do you smoke?, sensitive: true, prefer_not_to_say: false}
      - {name: drinks, kind: yes-no, text: Do you drink?, sensitive: true}
"""

CODES = SMALL.replace("privacy: strong", "privacy: strong\naccess: codes")

# Every kind of question, skip logic, groups, an unrelated question asked and one drawn, two languages.
RICH = """\
name: rich
title: {en: Rich, ar: غني}
introduction: {en: "Everything a questionnaire can hold.", ar: "كل ما يمكن أن يحتويه الاستبيان."}
contact: {en: research@example.org, ar: research@example.org}
languages: [en, ar]
privacy: moderate
second_round: true
pages:
  - title: {en: First, ar: أولًا}
    questions:
      - name: region
        kind: choice
        text: {en: Where do you live?, ar: أين تعيش؟}
        answers: {north: {en: North, ar: شمال}, south: {en: South, ar: جنوب}}
        sensitive: false
      - name: works
        kind: yes-no
        text: {en: Do you work?, ar: هل تعمل؟}
        sensitive: true
        prefer_not_to_say: false
      - name: hours
        kind: scale
        text: {en: How long are your days?, ar: كم تطول أيامك؟}
        scale: {from: 1, to: 3, low: {en: short, ar: قصيرة}, high: {en: long, ar: طويلة}}
        sensitive: true
        when: {works: "yes"}
  - title: {en: Second, ar: ثانيًا}
    questions:
      - name: symptoms
        kind: several
        text: {en: Which of these have you had?, ar: أي من هذه أصابك؟}
        options: {cough: {en: Cough, ar: سعال}, fever: {en: Fever, ar: حمى}}
        sensitive: true
      - name: cheated
        kind: yes-no
        text: {en: Have you cheated?, ar: هل غششت؟}
        sensitive: true
        prefer_not_to_say: false
        unrelated:
          keep: 0.7
          distribution: [0.75, 0.25]
          ask: {en: Is your mother's birthday in winter?, ar: هل عيد ميلاد والدتك في الشتاء؟}
      - name: stole
        kind: yes-no
        text: {en: Have you stolen?, ar: هل سرقت؟}
        sensitive: true
        prefer_not_to_say: false
        unrelated: {keep: 0.6, distribution: [0.5, 0.5]}
      - name: income
        kind: number
        text: {en: What do you earn?, ar: كم تكسب؟}
        ranges: [1000, 2500.5]
        sensitive: true
        prefer_not_to_say: false
      - name: debts
        kind: yes-no
        text: {en: Do you have debts?, ar: هل عليك ديون؟}
        sensitive: true
        prefer_not_to_say: false
groups:
  - questions: [income, debts]
    channel: {kind: gamma-diagonal, gamma: 5}
"""
