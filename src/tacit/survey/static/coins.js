// Where chance comes from. Every chance is a whole number over 2^32, so that what the page draws is exactly what the
// scheme declares. A sampler asks for coins and never sees a word, which lets `everyOutcome` follow all its branches.

export const ONE = 2 ** 32;

export const nearest = (chance) => Math.floor(chance * ONE + 0.5);
// For chances that a privacy demand bounds from above: a demanded gamma is never exceeded.
export const below = (chance) => Math.floor(chance * ONE);

// Integers that sum to exactly 2^32, by largest remainder; ties go to the lowest index.
export function integerWeights(chances) {
  const total = chances.reduce((sum, chance) => sum + chance, 0);
  const exact = chances.map((chance) => (chance / total) * ONE);
  const weights = exact.map(Math.floor);
  const short = ONE - weights.reduce((sum, weight) => sum + weight, 0);
  const order = exact.map((_, index) => index);
  order.sort((a, b) => exact[b] - weights[b] - (exact[a] - weights[a]) || a - b);
  for (const index of order.slice(0, short)) weights[index] += 1;
  return weights;
}

// Coins tossed with 32-bit words.
export class Coins {
  constructor(nextWord) {
    this.nextWord = nextWord;
  }

  // Heads with chance numerator / 2^32; with `spread` the numerator itself is drawn, evenly around its mean.
  chance(numerator, spread = 0) {
    const shift = spread > 0 ? this.below(2 * spread + 1) - spread : 0;
    return this.nextWord() < numerator + shift;
  }

  // A number from 0 to n - 1, each exactly as likely: words beyond the last full multiple of n are drawn again.
  below(n) {
    const limit = ONE - (ONE % n);
    let word = this.nextWord();
    while (word >= limit) word = this.nextWord();
    return word % n;
  }

  // Heads with chance part / whole exactly.
  odds(part, whole) {
    return this.below(whole) < part;
  }

  // Index i with chance weights[i] / 2^32.
  choose(weights) {
    let rest = this.nextWord();
    return weights.findIndex((weight) => (rest -= weight) < 0);
  }
}

// Coins that replay one path through a sampler and note the choices along it.
class Path {
  constructor(prefix) {
    this.prefix = prefix;
    this.steps = [];
  }

  take(chances) {
    const chosen = this.prefix[this.steps.length] ?? chances.findIndex((chance) => chance > 0);
    this.steps.push({ chosen, chances });
    return chosen;
  }

  chance(numerator) {
    return this.take([numerator / ONE, (ONE - numerator) / ONE]) === 0;
  }

  below(n) {
    return this.take(new Array(n).fill(1 / n));
  }

  odds(part, whole) {
    return this.take([part / whole, (whole - part) / whole]) === 0;
  }

  choose(weights) {
    return this.take(weights.map((weight) => weight / ONE));
  }

  get probability() {
    return this.steps.reduce((product, step) => product * step.chances[step.chosen], 1);
  }

  // The choices that lead to the next unvisited branch, or null after the last.
  next() {
    for (let depth = this.steps.length - 1; depth >= 0; depth -= 1) {
      const { chosen, chances } = this.steps[depth];
      const after = chances.findIndex((chance, index) => index > chosen && chance > 0);
      if (after >= 0) return [...this.steps.slice(0, depth).map((step) => step.chosen), after];
    }
    return null;
  }
}

// Every outcome of a sampler with its chance: {outcome, probability}, one entry per branch.
export function* everyOutcome(sampler) {
  let prefix = [];
  while (prefix !== null) {
    const path = new Path(prefix);
    const outcome = sampler(path);
    yield { outcome, probability: path.probability };
    prefix = path.next();
  }
}
