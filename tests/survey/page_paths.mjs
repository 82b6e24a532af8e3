// Every draw that a program of the page could make, one path after the other.
const ONE = 2 ** 32;

// Draws that replay one path and note the choices along it.
export class Path {
  constructor(prefix) {
    this.prefix = prefix;
    this.steps = [];
  }

  take(chances) {
    const chosen = this.prefix[this.steps.length] ?? chances.findIndex((chance) => chance > 0);
    this.steps.push({ chosen, chances });
    return chosen;
  }

  coin(low, high) {
    const heads = (low + high) / (2 * ONE);
    return this.take([heads, 1 - heads]) === 0;
  }

  below(bound) {
    return this.take(new Array(bound).fill(1 / bound));
  }

  choose(weights) {
    return this.take(weights.map((weight) => weight / ONE));
  }

  get probability() {
    return this.steps.reduce((product, { chosen, chances }) => product * chances[chosen], 1);
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
