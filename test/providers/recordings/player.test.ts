import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LaneId, ModelId, TaskId } from "../../../src/domain/ids.ts";
import { createUpstream, NoAnswer } from "../../../src/providers/kit/http.ts";
import type { Network } from "../../../src/providers/kit/network.ts";
import { type Context, createContext } from "../../../src/providers/recordings/context.ts";
import { readLibrary } from "../../../src/providers/recordings/library.ts";
import { createPlayer } from "../../../src/providers/recordings/player.ts";
import { createRecorder } from "../../../src/providers/recordings/recorder.ts";
import { createSystemClock } from "../../../src/runtime/clock.ts";
import { type Arrived, type Scripted, startUpstream } from "../../helpers/scripted-upstream.ts";

const clock = createSystemClock();
const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

const MODEL = "canary-1" as ModelId;
const taskOf = (last: string) => ({ id: `task_01m84gnmgyecz9fa6kmvwh781${last}` as TaskId, model: MODEL });
const ATTEMPTS = ["att_01m84gnmh1ek0th8b9x8m0c6ma", "att_01m84gnmh1ek0th8b9x8m0c6mb"] as const;
const HOOK =
  "https://svc.example/hooks/01m84gnmh1ek0th8b9x8m0c6ma-0123456789012345678901234567890123456789012";

interface Call {
  readonly method?: "GET" | "POST";
  readonly url: string;
  readonly body?: unknown;
  readonly form?: FormData;
}

/** Sends calls for a task, and gives each answer, or the error. */
async function send(
  { context, network, origin }: { context: Context; network: Network; origin: string },
  task: ReturnType<typeof taskOf>,
  calls: readonly Call[],
): Promise<unknown[]> {
  const upstream = createUpstream({
    ...{ name: "Canary", baseUrl: origin, clock, network, credentials: {}, secrets: [] },
    limits: { connectMs: 5_000, answerMs: 300, bodyMs: 300 },
  });
  const account = { lane: "canary" as LaneId, terms: { base: origin } };
  const one = async ({ method = "POST", url, body, form }: Call) => {
    const encoded = form && new Response(form);
    const type = encoded?.headers.get("content-type") ?? "application/json";
    const bytes = (await encoded?.bytes()) ?? Buffer.from(JSON.stringify(body ?? {}));
    const given = method === "GET" ? {} : { body: { type, bytes } };
    const sent = upstream.send(
      { ...{ method, url, maxBytes: 1_000_000 }, ...given },
      new AbortController().signal,
    );
    const { status, headers, json } = await sent;
    return { status, json, after: headers.get("retry-after") };
  };
  return await context.within(task, () =>
    context.inAccount(account, async () => {
      const answers: unknown[] = [];
      for (const call of calls) answers.push(await one(call).catch((error: unknown) => error));
      return answers;
    }),
  );
}

/** Records tasks, and opens a player of them whose upstream is gone. */
async function recorded(answer: (call: Arrived) => Scripted, tasks: readonly (readonly Call[])[]) {
  const scripted = await startUpstream(answer);
  const folder = mkdtempSync(join(tmpdir(), "svc-player-"));
  cleanUps.push(scripted.stop, () => rmSync(folder, { recursive: true, force: true }));
  const context = createContext();
  const recorder = createRecorder({ folder, clock, context, onTrouble: () => undefined });
  const { origin } = scripted;
  const answers: unknown[][] = [];
  for (const [i, calls] of tasks.entries()) {
    const task = taskOf("abcdefgh"[i] ?? "");
    answers.push(await send({ context, network: recorder.network, origin }, task, calls));
    recorder.ended(task.id);
  }
  await recorder.stop();
  scripted.stop();
  const playing = createContext();
  const open = async () => {
    const library = await readLibrary(folder);
    return { library, player: createPlayer({ library, context: playing, clock }) };
  };
  const { player, library } = await open();
  const play = (last: string, calls: readonly Call[]) =>
    send({ context: playing, network: player.network, origin }, taskOf(last), calls);
  return { folder, answers, play, library, open };
}

test("answers of every kind come as they were: statuses, waits, refused connections, lost answers", async () => {
  let count = 0;
  const calls: Call[] = [
    { url: "/jobs" },
    { url: "/jobs" },
    { url: "/jobs" },
    { method: "GET", url: "/jobs/1" },
    { method: "GET", url: "/jobs/1" },
  ];
  const { answers, play } = await recorded(() => {
    const given: Scripted[] = [
      { status: 503, headers: { "retry-after": "7" }, json: { detail: "busy" } },
      (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"data":['),
      { json: { id: "1" } },
      { json: { state: "open" } },
      { json: { state: "done" } },
    ];
    return given[count++] ?? { status: 500, json: {} };
  }, [calls]);
  const replayed = await play("z", calls);
  expect(replayed).toEqual(answers[0] ?? []);
  expect(replayed).toMatchObject([
    { status: 503, after: "7" },
    { isLate: true, isUnsent: false },
    ...[{ json: { id: "1" } }, { json: { state: "open" } }, { json: { state: "done" } }],
  ]);
  expect(replayed[1]).toBeInstanceOf(NoAnswer);
});

test("ids, times, places to call and boundaries of forms differ, and answers say the present ids", async () => {
  const formOf = (attempt: string) => {
    const form = new FormData();
    form.append("image", new Blob([Buffer.from([0, 1, 2])], { type: "image/png" }), "1.png");
    form.append("user", attempt);
    return form;
  };
  const callsOf = (attempt: string, hook: object, at: number): Call[] => [
    { url: `/jobs?id=${attempt}`, body: { prompt: "a fox", user: attempt, made: at, ...hook } },
    { url: "/edits", form: formOf(attempt) },
  ];
  const now = Math.floor(clock.now() / 1000);
  const { play } = await recorded(
    ({ body }) => ({ json: { mine: /att_\w+/.exec(body.toString("latin1"))?.[0] ?? "" } }),
    [callsOf(ATTEMPTS[0], { hook: HOOK }, now)],
  );
  expect(await play("z", callsOf(ATTEMPTS[1], {}, now + 60))).toMatchObject([
    { json: { mine: ATTEMPTS[1] } },
    { json: { mine: ATTEMPTS[1] } },
  ]);
});

test("equal requests are answered by their recordings in order, and again from the first", async () => {
  let count = 0;
  const { play } = await recorded(
    () => ({ json: { id: ++count } }),
    [[{ url: "/jobs" }], [{ url: "/jobs" }]],
  );
  const ids = [];
  for (const last of ["x", "y", "z"]) ids.push(...(await play(last, [{ url: "/jobs" }])));
  expect(ids).toMatchObject([{ json: { id: 1 } }, { json: { id: 2 } }, { json: { id: 1 } }]);
});

test("a recording is told from another by all that was asked before, equal uploads and questions notwithstanding", async () => {
  const callsOf = (prompt: string): Call[] => [
    { url: "/upload", body: { file: "x" } },
    { url: "/jobs", body: { prompt } },
    { method: "GET", url: "/result" },
  ];
  let count = 0;
  const tasks = [callsOf("a fox"), callsOf("a wolf")];
  const { play, answers } = await recorded(() => ({ json: { count: ++count } }), tasks);
  expect((await play("z", callsOf("a wolf"))).slice(1)).toEqual(answers[1]?.slice(1) ?? []);
});

test("what is not recorded ends the task, and says what differs, or that there is no more", async () => {
  const { play, folder } = await recorded(
    () => ({ json: {} }),
    [[{ url: "/jobs", body: { prompt: "a fox", size: [1, 2] } }]],
  );
  const [other, , again] = await play("z", [
    { url: "/jobs", body: { prompt: "a fox", size: [1, 3] } },
    { url: "/jobs", body: { prompt: "a fox", size: [1, 2] } },
    { url: "/jobs", body: { prompt: "a fox", size: [1, 2] } },
  ]);
  expect(other).toMatchObject({ disposition: "fail", code: "UPSTREAM_ERROR" });
  expect(String(other)).toContain(`.jsonl:3, but body.size[1] is 2 there, and 3 here.`);
  expect(String(again)).toContain("has no more of it.");
  expect(String(again)).toContain(folder);
});

test("what is wrong with recordings is told with file and line, and the rest is read", async () => {
  const { folder, library, open } = await recorded(
    () => ({ json: {} }),
    [[{ url: "/a" }], [{ url: "/b" }], [{ url: "/c" }]],
  );
  expect(library.faults).toEqual([]);
  const [first = "", second = "", third = ""] = readdirSync(folder).sort();
  const text = readFileSync(join(folder, first), "utf8");
  writeFileSync(join(folder, first), text.slice(0, -10));
  writeFileSync(
    join(folder, second),
    readFileSync(join(folder, second), "utf8").split("\n").slice(0, 3).join("\n"),
  );
  writeFileSync(join(folder, "z.jsonl"), '{"recording":2,"task":"t","model":"m"}\n');
  const { faults, recordings } = (await open()).library;
  expect(faults).toEqual([
    { file: first, line: 4, message: "is cut off, or is no JSON" },
    { file: second, line: 3, message: "is the last line: what came after it was not recorded" },
    { file: "z.jsonl", line: 1, message: "is of another version (2, not 1)" },
  ]);
  expect(recordings.map(({ file, cutAfter }) => [file, cutAfter])).toEqual([
    [first, 3],
    [second, 3],
    [third, undefined],
  ]);
});
