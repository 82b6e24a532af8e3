// The disguise as a picture: a hundred dots show the odds of one answer. To try it, a made-up answer goes in, and what chance makes
// of it comes out.

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
  return block && element("section", { class: "picture words" }, sentences(block, view).map((line) => element("p", { class: "caption" }, line)));
}

// A hundred dots and their sentence, filled for one true answer of a group.
function dotted({ group, block }, view) {
  const { words, textOf } = view;
  const { node } = group;
  const isAlike = looksLikeAnswers(group) && isListed(node);
  const set = sentSet(group);
  const dots = Array.from({ length: DOTS }, () => element("i", {}));
  const caption = element("p", { class: "caption", "aria-live": "polite" }); // says what the dots show
  const state = { dots, own: 0, isAlike, set, caption, field: element("div", { class: "dots", "aria-hidden": "true" }, dots) };
  state.fill = (number) => {
    const truth = split(number, node.radices);
    const answer = truthText(group, number, textOf);
    state.own = isAlike ? Math.round(node.chance(truth, truth) * DOTS) : set ? Math.round(set.own * DOTS) : percentAtMost(Math.max(...Object.values(block.worst)));
    dots.forEach((dot, index) => (dot.className = index < state.own ? "own" : ""));
    const listed = set && setSentence(group, view);
    caption.textContent = isAlike ? words.dots({ answer, n: state.own, rest: DOTS - state.own }) : listed ?? words.atMost({ percent: state.own });
  };
  state.fill(usualAnswer(group));
  return state;
}

// "Yes" is the answer people worry about.
const usualAnswer = ({ node }) => Math.min(1, node.size - 1);

// One sentence on how answers are protected, with its picture.
export function protection(whole, view) {
  const shown = pictured(whole);
  if (!shown) return inWords(whole, view);
  const { field, caption } = dotted(shown, view);
  return element("section", { class: "picture" }, field, caption);
}

// The picture to play with: nothing of it is sent or kept.
export function trial(whole, view) {
  const { words, textOf } = view;
  const shown = pictured(whole);
  if (!shown) return null;
  const { group } = shown;
  const { node } = group;
  const state = dotted(shown, view);
  const { dots, isAlike, set } = state;
  const sent = element("output", { class: "chip", for: "made-up" }, "?");
  const choice = element(
    "select",
    { id: "made-up", onchange: () => (state.fill(Number(choice.value)), sent.replaceChildren("?")) },
    Array.from({ length: node.size }, (_, number) => element("option", { value: number, selected: number === usualAnswer(group) }, truthText(group, number, textOf))),
  );

  function draw() {
    const truth = split(Number(choice.value), node.radices);
    const digits = node.run(truth, freshDraws());
    const isOwn = set ? digits.includes(truth[0]) : isAlike && digits.every((digit, axis) => digit === truth[axis]);
    const [from, upTo] = isAlike || set ? (isOwn ? [0, state.own] : [state.own, DOTS]) : [0, DOTS];
    dots.forEach((dot) => dot.classList.remove("drawn"));
    dots[Math.min(DOTS - 1, from + freshDraws().below(Math.max(1, upTo - from)))].classList.add("drawn");
    sent.replaceChildren(isAlike || set ? shownText(group, digits, textOf) : words.aNumber);
  }

  return element(
    "section",
    { class: "picture trial" },
    element("div", { class: "flow" }, element("p", { class: "in" }, element("label", { for: "made-up" }, words.madeUp), choice), element("p", { class: "out" }, element("span", {}, words.comesOut), sent)),
    state.field,
    state.caption,
    element("button", { type: "button", class: "quiet", id: "try", onclick: draw }, words.tryIt),
  );
}
