// What the page was given: the definition under its link, and what the server says of the survey.

const read = (id) => JSON.parse(document.getElementById(id).textContent);

export const definition = read("definition");
export const status = read("status");
export const pageWords = read("words");
export const fingerprint = location.pathname.split("/")[2];
