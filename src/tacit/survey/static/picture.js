// The disguise as a picture: one made-up answer goes in, a hundred dots show its odds, and what chance makes of it comes out.

import { element } from "./dom.js";
import { blocksOfAll, freshDraws, looksLikeAnswers, MOST_LISTED, percentAtMost, sentences, sentSet, setSentence, shownText, truthText } from "./label.js";
import { isListed, split } from "./program.js";

const DOTS = 100;

// What is shown: rather a question whose reports look like its answers, of the fewest answers, and one that this device
// disguises itself.
function pictured(whole) {
  const blocks = blocksOfAll(whole).filter((block) => !block.isOwnDevice);
  const groups = blocks.flatMap((block) => block.groups.map((group) => ({ group, block }))).filter(({ group }) => group.node.size <= MOST_LISTED);
  const plain = groups.filter(({ group }) => looksLikeAnswers(group) && isListed(group.node) && group.names.length === 1);
  return [...plain].sort((one, other) => one.group.node.size - other.group.node.size)[0] ?? groups[0] ?? null;
}

// Where every question has more answers than can be drawn: the first one's promise.
function inWords(whole, view) {
  const block = blocksOfAll(whole).find((one) => !one.isOwnDevice);
  if (!block) return null;
  const lines = sentences(block, view).map((line) => element("p", { class: "caption" }, line));
  return element("section", { class: "picture words", "aria-labelledby": "picture-title" }, element("h2", { id: "picture-title" }, view.words.pictureTitle), lines);
}

export function picture(whole, view) {
  const { words, textOf } = view;
  const shown = pictured(whole);
  if (!shown) return inWords(whole, view);
  const { group, block } = shown;
  const { node } = group;
  const isAlike = looksLikeAnswers(group) && isListed(node);
  const set = sentSet(group);
  const dots = Array.from({ length: DOTS }, () => element("i", {}));
  const field = element("div", { class: "dots", "aria-hidden": "true" }, dots);
  const caption = element("p", { class: "caption", "aria-live": "polite" }); // says what the dots show
  const sent = element("output", { class: "chip", for: "made-up" }, "?");
  // "Yes" is the answer people worry about.
  const choice = element(
    "select",
    { id: "made-up", onchange: fill },
    Array.from({ length: node.size }, (_, number) => element("option", { value: number, selected: number === Math.min(1, node.size - 1) }, truthText(group, number, textOf))),
  );
  const truth = () => split(Number(choice.value), node.radices);
  let own = 0;

  function fill() {
    const answer = choice.selectedOptions[0].textContent;
    own = isAlike ? Math.round(node.chance(truth(), truth()) * DOTS) : set ? Math.round(set.own * DOTS) : percentAtMost(Math.max(...Object.values(block.worst)));
    dots.forEach((dot, index) => (dot.className = index < own ? "own" : ""));
    sent.replaceChildren("?");
    const listed = set && setSentence(group, view);
    caption.textContent = isAlike ? words.dots({ answer, n: own, rest: DOTS - own }) : listed ?? words.atMost({ percent: own });
  }

  function draw() {
    const digits = node.run(truth(), freshDraws());
    const isOwn = set ? digits.includes(truth()[0]) : isAlike && digits.every((digit, axis) => digit === truth()[axis]);
    const [from, upTo] = isAlike || set ? (isOwn ? [0, own] : [own, DOTS]) : [0, DOTS];
    dots.forEach((dot) => dot.classList.remove("drawn"));
    dots[Math.min(DOTS - 1, from + freshDraws().below(Math.max(1, upTo - from)))].classList.add("drawn");
    sent.replaceChildren(shownText(group, digits, textOf));
  }

  fill();
  return element(
    "section",
    { class: "picture", "aria-labelledby": "picture-title" },
    element("h2", { id: "picture-title" }, words.pictureTitle),
    element("div", { class: "flow" }, element("p", { class: "in" }, element("label", { for: "made-up" }, words.madeUp), choice), field, element("p", { class: "out" }, element("span", {}, words.comesOut), sent)),
    caption,
    element("button", { type: "button", class: "quiet", id: "try", onclick: draw }, words.tryIt),
  );
}
