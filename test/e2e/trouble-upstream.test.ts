import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Scripted, type ScriptedUpstream, startUpstream } from "../helpers/scripted-upstream.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const MODEL = { model: "gpt-image-2", size: "1024x1024", quality: "low" };
/** The answer that holds a picture. */
const MADE = "made";
const upstreams: ScriptedUpstream[] = [];

afterAll(async () => {
  for (const upstream of upstreams) upstream.stop();
  await stopServers();
});

interface Given {
  readonly args?: readonly string[];
  /** What is answered to each submission of a prompt, in turn; the last one again and again; a picture where nothing is said. */
  readonly answers: Readonly<Record<string, readonly (Scripted | typeof MADE)[]>>;
}

const picture = plainImage(16, 16).then((bytes) => Buffer.from(bytes).toString("base64"));

async function start({ args = [], answers }: Given) {
  const made = { json: { data: [{ b64_json: await picture }], size: "1024x1024" } };
  const counts = new Map<string, number>();
  const openai = await startUpstream(({ body }) => {
    const { prompt = "" } = JSON.parse(body.toString() || "{}") as { prompt?: string };
    const count = counts.get(prompt) ?? 0;
    counts.set(prompt, count + 1);
    const script = answers[prompt] ?? [MADE];
    const answer = script[Math.min(count, script.length - 1)] ?? MADE;
    return answer === MADE ? made : answer;
  });
  upstreams.push(openai);
  const server: Server = await startServer({
    env: { OPENAI_API_KEY: "sk-upstream-0123456789", SVC_PROVIDERS_OPENAI_BASE_URL: openai.origin },
    args: ["--no-sandbox", ...args],
  });
  const api: Api = createApi(server.url, server.firstKey());
  const submissions = (prompt: string) => counts.get(prompt) ?? 0;
  const accept = (prompt: string) => api.accept({ ...MODEL, prompt });
  return { openai, server, api, submissions, accept };
}

const reset: Scripted = (socket) => void socket.resetAndDestroy();
const failure = (status: number, json: unknown, headers: Record<string, string> = {}): Scripted => ({
  ...{ status, json, headers },
});
const OUT_OF_MEMORY = { error: "generate_image returned no results" };

test.concurrent("cancelling a task whose answer was lost sends nothing again, and the task ends", async () => {
  const { openai, api, submissions, accept } = await start({
    args: ["--openai-idempotent"],
    answers: { lost: [reset] },
  });
  const id = await accept("lost");
  await openai.until(2);
  for (let times = 0; times < 5; times += 1) await api.send(`/v1/tasks/${id}/cancel`, { method: "POST" });
  const task = await api.wait(id, "image", 10);
  expect(task.status).toBe("cancelled");
  expect(submissions("lost")).toBeLessThan(4);
});

test.concurrent.each([
  ["fails for good", failure(500, OUT_OF_MEMORY)],
  ["asks to wait", failure(503, { error: "loading" }, { "retry-after": "1" })],
])("a task sent again to an upstream that %s gives its place to others", async (_what, again) => {
  const { openai, accept, api } = await start({
    args: ["--openai-idempotent", "--openai-concurrency", "1"],
    answers: { bad: [reset, again] },
  });
  await accept("bad");
  await openai.until(2);
  const others = await Promise.all(["a", "b", "c"].map(accept));
  const statuses = await Promise.all(others.map(async (id) => (await api.wait(id, "image", 10)).status));
  expect(statuses).toEqual(["completed", "completed", "completed"]);
});

/** Answers of an upstream without settings of its own, and what becomes of the task. */
const CASES = [
  ["a 500 that says why in a string", failure(500, OUT_OF_MEMORY), "UPSTREAM_ERROR", 5],
  [
    "a 500 that says why beside a word",
    failure(500, { error: "x", message: "no memory" }),
    "UPSTREAM_ERROR",
    5,
  ],
  ["a 500 that says why without a type", failure(500, { error: { message: "x" } }), "UPSTREAM_ERROR", 5],
  ["a 500 that says why in a list", failure(500, { errors: [{ message: "x" }] }), "UPSTREAM_ERROR", 5],
  ["a 500 that says why as a detail", failure(500, { detail: "x" }), "UPSTREAM_ERROR", 5],
  ["a cut connection", reset, "OUTCOME_UNKNOWN", 1],
  ["a proxy's 502", { status: 502, body: "<title>502 Bad Gateway</title>" }, "OUTCOME_UNKNOWN", 1],
  ["an empty 500", { status: 500, body: "" }, "OUTCOME_UNKNOWN", 1],
  ["a page in place of a result", { status: 200, body: "<html>It works!</html>" }, "UPSTREAM_ERROR", 1],
  ["a result of another shape", { json: { images: [] } }, "UPSTREAM_ERROR", 1],
] as const satisfies readonly (readonly [string, Scripted, string, number])[];

describe("without settings of its own, an upstream", () => {
  // Each has a server of its own: one that fails several tasks in a row gets no more.
  const started = new Map<string, Awaited<ReturnType<typeof start>> & { readonly id: string }>();

  beforeAll(async () => {
    await Promise.all(
      CASES.map(async ([what, answer]) => {
        const plain = await start({ answers: { [what]: [answer] } });
        started.set(what, { ...plain, id: await plain.accept(what) });
      }),
    );
  });

  test.concurrent.each(CASES)("that answers with %s", async (what, _answer, code, submissions) => {
    const plain = started.get(what);
    const task = await plain?.api.wait(plain.id, "image", 20);
    expect([task?.status, task?.error_code, plain?.submissions(what)]).toEqual(["failed", code, submissions]);
    expect(task?.error_message).not.toMatch(/interrupted|service/i);
  });

  test.concurrent("is quoted in the log", async () => {
    await started.get(CASES[0][0])?.server.says(/generate_image returned no results/);
  });
});

test.concurrent("with restarts that are safe, what an engine lost or was too busy for is made again", async () => {
  const busy = failure(503, { error: "loading model" }, { "retry-after": "1" });
  const { accept, api, submissions } = await start({
    args: ["--openai-restarts", "safe"],
    answers: { died: [reset, reset, MADE], loading: [busy, busy, busy, busy, busy, MADE] },
  });
  const [died, loading] = await Promise.all(["died", "loading"].map(accept));
  expect((await api.wait(died ?? "", "image", 20)).status).toBe("completed");
  expect((await api.wait(loading ?? "", "image", 40)).status).toBe("completed");
  expect([submissions("died"), submissions("loading")]).toEqual([3, 6]);
});

test.concurrent("a finished job whose result is a page ends its task after a few tries", async () => {
  const queue = await startUpstream(({ method, path }): Scripted => {
    if (method === "POST") return { json: { request_id: "job-1", status: "IN_QUEUE" } };
    return path.endsWith("/status") ? { json: { status: "COMPLETED" } } : { status: 200, body: "<html>" };
  });
  upstreams.push(queue);
  const server = await startServer({
    env: { FAL_KEY: "id:0123456789abcdef", SVC_PROVIDERS_FAL_BASE_URL: queue.origin },
    args: ["--no-sandbox"],
  });
  const api = createApi(server.url, server.firstKey());
  const task = await api.make({ model: "flux-schnell", prompt: "x" });
  expect([task.status, task.error_code]).toEqual(["failed", "UPSTREAM_ERROR"]);
  expect(task.error_message).toBe("The provider answered without a usable result.");
});
