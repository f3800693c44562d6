/** The variables that expressions know, by where they stand. */

/** What is being asked for. */
const REQUEST = ["params", "fields", "prompt", "n", "model", "mode", "kind", "attempt"];
const ALWAYS = ["tables", "region", "now"];
const ANSWER = ["status", "headers", "body"];

const set = (...names: string[]): ReadonlySet<string> => new Set([...names, ...ALWAYS]);

/** Choosing a flow, and a submission. `hook` is where the upstream may call; it is a secret, so nothing that is stored may hold it. */
export const OF_REQUEST = set(...REQUEST, "hook");
/** An upload before the submission. It is kept for other tasks with the same file, so it knows nothing of what this one asks for. */
export const OF_UPLOAD = set("attempt", "file");
export const OF_UPLOADED = set("attempt", "file", ...ANSWER);
/** The answer to a submission, or to the question what became of one. */
export const OF_SUBMITTED = set(...REQUEST, ...ANSWER);
/** A question about a job. */
export const OF_JOB = set("operation");
export const OF_JOB_ANSWER = set("operation", ...ANSWER);
/** The call for what a finished job has made. */
export const OF_RESULT = set("operation", "polled");
export const OF_RESULT_ANSWER = set("operation", "polled", ...ANSWER);
/** An answer to whatever call: what counts as a success, and what a refusal means. */
export const OF_ANSWER = set(...ANSWER);
/** The same, once the upstream's own word and message are known: `code` and `message`, empty where there is none. */
export const OF_FAILURE = set(...ANSWER, "code", "message");
/** Headers of every call. */
export const OF_ANY = set();

/** One of several outputs beside what the rest of the answer says. */
export function withItem(names: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...names, "item"]);
}
