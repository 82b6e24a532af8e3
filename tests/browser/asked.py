"""A questionnaire with everything that can be asked beside the plain kinds."""

from __future__ import annotations

ASKED = """\
name: asked
title: Asked
introduction: Everything that can be asked.
contact: research@example.org
privacy: moderate
screen_out:
  - {when: {region: abroad}, text: This survey is for people who live here.}
quotas:
  - {when: {region: south}, most: 1}
pages:
  - title: You
    questions:
      - name: region
        kind: choice
        text: Where do you live?
        answers: {north: In the north, south: In the south, abroad: Abroad}
        sensitive: false
      - {name: born, kind: date, text: When were you born?, ranges: [1980-01-01, 2000-01-01], sensitive: false}
      - name: understood
        kind: yes-no
        text: If your answer is Yes, can No be sent?
        sensitive: false
        correct: "yes"
        explain: It can. Chance decides on your device, so nobody can tell.
  - title: "Life in {region}"
    shuffle: true
    questions:
      - {name: spent, kind: number, text: What did you spend?, ranges: [100, 1000], typed: true, sensitive: true}
      - name: takes
        kind: several
        text: What do you take?
        options: {pills: Pills, powder: Powder, drops: Drops}
        sensitive: true
        shuffle: true
      - name: birthday
        kind: yes-no
        text: Is your birthday in spring?
        sensitive: true
        prefer_not_to_say: false
        known: {"yes": 0.25}
      - name: often
        kind: choice
        text: How often?
        answers: [daily, rarely]
        sensitive: true
        prefer_not_to_say: false
        when: [{takes: [pills, drops]}, {takes: powder}]
  - questions:
      - name: stress
        kind: grid
        text: How hard is it for you {region}?
        items: {work: At work, home: At home}
        scale: {from: 1, to: 3, low: easy, high: hard}
        sensitive: true
        prefer_not_to_say: false
      - {name: remarks, kind: text, text: What should we know?, sensitive: false, optional: true, longest: 200}
"""
