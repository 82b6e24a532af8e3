// What the page was given: the definition under its link, and what the server says of the survey.

const read = (id) => JSON.parse(document.getElementById(id).textContent);

export const definition = read("definition");
export const status = read("status");
export const pageWords = read("words");
export const fingerprint = location.pathname.split("/")[2];

// What a person answers once: a survey, or each wave of a series.
export const isSeries = definition.waves !== undefined;
export const surveyId = isSeries ? definition.series : fingerprint;
export const wave = isSeries ? definition.wave : 1;
