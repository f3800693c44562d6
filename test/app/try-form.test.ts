import { afterAll, beforeEach, expect, test } from "bun:test";
import { openTrial, POLL_MS } from "../../src/app/try-form.ts";
import type { Clock } from "../../src/domain/ports/runtime.ts";
import { PICTURE } from "../../src/providers/declared/rehearsal/upstream.ts";
import { fakeClock } from "../helpers/engine.ts";

/** The answers of the next questions; when they are used up, the job is done. */
let answers: Response[] = [];
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch({ url, method }) {
    const { pathname, origin } = new URL(url);
    if (method === "POST") return Response.json({ id: "7" });
    if (pathname === "/made.png") return new Response(PICTURE);
    return answers.shift() ?? Response.json({ state: "done", url: `${origin}/made.png` });
  },
});
beforeEach(() => {
  answers = [];
});
afterAll(() => upstream.stop(true));

const FORM = `provider: plain
form: 1
base: http://127.0.0.1:${upstream.port}
auth: { header: x-key, value: "\${key}", key_env: PLAIN_KEY }
submit:
  post: /pictures
  json: { prompt: "\${prompt}" }
  operation: { id: "\${body.id}" }
poll:
  get: /pictures/\${operation.id}
  status: \${body.state}
  words: { done: succeeded }
  outputs: { url: "\${body.url}" }
`;

const OPERATION = expect.objectContaining({ values: { id: "7" } });
const broken = (count: number) => Array.from({ length: count }, () => new Response("", { status: 503 }));

/** Runs a trial whose waits pass at once. */
async function run() {
  const opened = openTrial("plain.yaml", FORM, { PLAIN_KEY: "key-0123456789" });
  if (!("run" in opened)) throw new Error(JSON.stringify(opened));
  const clock = fakeClock();
  const waits: number[] = [];
  let isWaiting = false;
  const noting: Clock = {
    ...clock,
    after(delayMs, callback) {
      if (isWaiting) waits.push(delayMs);
      if (isWaiting || delayMs === POLL_MS) setImmediate(() => clock.advance(delayMs));
      isWaiting = false;
      return clock.after(delayMs, callback);
    },
  };
  const end = await opened.run(
    { model: "m", kind: "image", mode: "text-to-image", prompt: "A fox", parameters: {} },
    {
      ...{ signal: new AbortController().signal, clock: noting, onExchange() {}, onUnknownWord() {} },
      onRetry() {
        isWaiting = true;
      },
    },
  );
  return { end, waits };
}

test("a question without an answer is asked again, after growing waits", async () => {
  answers = broken(4);
  const { end, waits } = await run();
  expect(end).toMatchObject({ kind: "succeeded", missing: 0, operation: OPERATION });
  expect(waits).toHaveLength(4);
  expect(waits).toEqual([...waits].sort((a, b) => a - b));
});

test("a job that is never answered for is left with its operation and the cause", async () => {
  answers = broken(50);
  const { end } = await run();
  expect(end).toEqual({ kind: "left", operation: OPERATION, cause: expect.stringContaining("503") });
  expect(answers.length).toBeGreaterThan(0);
});

test("a refusal of the question is not asked again, and leaves the operation", async () => {
  answers = [Response.json({}, { status: 401 })];
  const { end, waits } = await run();
  expect(end).toEqual({ kind: "left", operation: OPERATION, cause: expect.stringContaining("401") });
  expect(waits).toEqual([]);
});
