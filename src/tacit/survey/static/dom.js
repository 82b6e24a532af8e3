// Elements are made here and filled with text only: nothing that comes from a questionnaire is ever read as markup.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// Blank lines part paragraphs, as in the questionnaire's file.
export function paragraphs(text, attributes = {}) {
  return text.split(/\n\s*\n/).map((part) => element("p", attributes, part.trim()));
}

// What can wait until the reader sees what was drawn.
export const afterPaint = (task) => requestAnimationFrame(() => setTimeout(task));
