import { afterEach, expect, test } from "bun:test";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import type { PollResult, Previews } from "../../../src/domain/ports/provider.ts";
import { createProgress } from "../../../src/providers/comfyui/progress.ts";
import { operationOf } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Comfy, type QueuedPrompt, SAVED, startComfy } from "./engine.ts";
import { createProvider, submission } from "./harness.ts";

const signal = new AbortController().signal;
const started: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of started.splice(0)) await stop();
});

async function setup() {
  const comfy = await startComfy();
  const fake = fakeClock();
  const delays: number[] = [];
  const after = (ms: number, run: () => void) => {
    delays.push(ms);
    return fake.after(ms, run);
  };
  const clock = { ...fake, after };
  const provider = createProvider({ baseUrl: comfy.origin, clock });
  started.push(async () => provider.stop?.(), comfy.stop);
  const submit = async (previews?: Previews) =>
    operationOf(await provider.submit({ ...submission(), previews }, signal));
  const poll = async (operation: Json, previews?: Previews): Promise<PollResult> => {
    const answer = await provider.poll?.(operation, signal, previews);
    if (answer === undefined) throw new Error("It does not poll.");
    return answer;
  };
  /** Polls until the answer is like this. Each poll lets the connection's messages in. */
  const until = async (operation: Json, holds: (answer: PollResult) => boolean, previews?: Previews) => {
    for (let i = 0; i < 500; i += 1) {
      const answer = await poll(operation, previews);
      if (holds(answer)) return answer;
    }
    throw new Error("It never said so.");
  };
  const connected = () => comfy.until(() => comfy.clients.size > 0);
  return { comfy, clock, delays, provider, submit, poll, until, connected };
}

const running = (comfy: Comfy): QueuedPrompt => {
  const current = comfy.begin();
  if (current === undefined) throw new Error("Nothing runs.");
  return current;
};
const tell = (comfy: Comfy, to: QueuedPrompt, type: string, data: JsonObject = {}) =>
  comfy.tell(to, type, { prompt_id: to.id, ...data });
const isAt = (progress: number) => (answer: PollResult) =>
  answer.kind === "pending" && answer.progress === progress;

test("how far a prompt is follows from its nodes, most of it from the one that samples", async () => {
  const { comfy, submit, until, connected } = await setup();
  const operation = await submit();
  await connected();
  const current = running(comfy);
  tell(comfy, current, "execution_start");
  await until(operation, isAt(0));
  // Seven nodes, of which one is as much work as twenty: four of 26.
  tell(comfy, current, "execution_cached", { nodes: ["4", "5", "6", "7"] });
  await until(operation, isAt(15));
  tell(comfy, current, "executing", { node: "3", display_node: "3" });
  tell(comfy, current, "progress", { node: "3", value: 10, max: 20 });
  await until(operation, isAt(53));
  tell(comfy, current, "executing", { node: "8" });
  await until(operation, isAt(92));
  tell(comfy, current, "execution_cached", { nodes: [] });
  tell(comfy, current, "executed", { node: "8" });
  tell(comfy, current, "executed", { node: "9" });
  await until(operation, isAt(99));
  comfy.end({ outputs: SAVED });
  await until(operation, ({ kind }) => kind === "succeeded");
});

test("states of all nodes come to the same", () => {
  const progress = createProgress({ nodes: 7, heavy: new Set(["3"]) });
  const state = (state: string, value = 0, max = 1, of = {}) => ({ state, value, max, ...of });
  const nodes = { "4": state("finished"), "3": state("running", 5, 20), "6": state("pending") };
  expect(progress.event("progress_state", { nodes })).toBe(true);
  expect(progress.percent()).toBe(23);
  // A node of a group counts as the group, and no sum goes beyond the end or back.
  const group = Object.fromEntries(
    Array.from({ length: 90 }, (_, i) => [`3.${i}`, state("finished", 1, 1, { display_node_id: "3" })]),
  );
  progress.event("progress_state", { nodes: group });
  expect(progress.percent()).toBe(80);
  progress.event("progress", { node: "3", value: 0, max: 20 });
  expect(progress.percent()).toBe(80);
  for (let i = 10; i < 40; i += 1) progress.event("executed", { node: String(i) });
  expect(progress.percent()).toBe(99);
  for (const broken of [{}, { nodes: 7 }, { node: "8", value: "x", max: 0 }])
    for (const type of ["progress", "progress_state", "executing", "executed", "execution_cached"])
      progress.event(type, broken as JsonObject);
  expect(progress.percent()).toBe(99);
});

test("events of other prompts and what is no event change nothing", async () => {
  const { comfy, submit, until, connected } = await setup();
  const operation = await submit();
  await connected();
  const current = running(comfy);
  const send = (data: string | Uint8Array) => comfy.clients.get(current.clientId ?? "")?.send(data);
  comfy.tell(current, "progress", { prompt_id: "another", node: "3", value: 20, max: 20 });
  comfy.tell(current, "progress", { node: "3", value: 20, max: 20 });
  comfy.tell(current, "crystools.monitor", { prompt_id: current.id, cpu: 3 });
  for (const text of ["", "{", "[]", '{"type":"progress"}', '{"type":"progress","data":null}']) send(text);
  for (const bytes of [[], [0, 0, 0, 1], [0, 0, 0, 4, 255, 255, 255, 255, 123]]) send(Uint8Array.from(bytes));
  tell(comfy, current, "execution_start");
  await until(operation, isAt(0));
});

test("without a connection a prompt is made all the same", async () => {
  const { comfy, submit, poll } = await setup();
  comfy.instead = (path) => (path === "GET /ws" ? new Response("no", { status: 403 }) : undefined);
  const operation = await submit();
  comfy.begin();
  expect(await poll(operation)).toEqual({ kind: "pending" });
  comfy.end({ outputs: SAVED });
  expect(await poll(operation)).toMatchObject({ kind: "succeeded" });
});

test("a connection that is lost is opened again, later each time, and only while there is a prompt", async () => {
  const { comfy, clock, delays, submit, until, connected, poll } = await setup();
  const operation = await submit();
  let asked = 0;
  await connected();
  const [client] = comfy.clients.keys();
  comfy.instead = (path) => {
    if (path !== "GET /ws") return undefined;
    asked += 1;
    return new Response("no", { status: 503 });
  };
  comfy.clients.get(client ?? "")?.close();
  await comfy.until(() => comfy.clients.size === 0);
  // Only tries after a loss come so soon.
  const waits = () => delays.filter((ms) => ms <= 10_000);
  const lost = async (count: number) => {
    for (let i = 0; i < 500 && waits().length < count; i += 1) await poll(operation);
    clock.advance(waits().at(-1) ?? 0);
    for (let i = 0; i < 500 && asked < count; i += 1) await poll(operation);
  };
  for (const count of [1, 2, 3]) await lost(count);
  for (let i = 0; i < 500 && waits().length < 4; i += 1) await poll(operation);
  expect([asked, waits()]).toEqual([3, [1_000, 2_000, 4_000, 8_000]]);
  comfy.instead = () => undefined;
  clock.advance(8_000);
  await connected();
  expect([...comfy.clients.keys()]).toEqual([String(client)]);
  const current = running(comfy);
  tell(comfy, current, "execution_start");
  await until(operation, isAt(0));
  comfy.end({ outputs: SAVED });
  await poll(operation);
  clock.advance(60_000);
  await comfy.until(() => comfy.clients.size === 0);
});

test("a connection has the account's key, and ends when nobody asks for its prompts any more", async () => {
  const { comfy, clock } = await setup();
  const headers: (string | null)[] = [];
  comfy.instead = (path, request) => {
    if (path === "GET /ws") headers.push(request.headers.get("authorization"));
    return undefined;
  };
  const provider = createProvider({ baseUrl: comfy.origin, clock, apiKey: "key-of-the-proxy" });
  started.push(async () => provider.stop?.());
  await provider.submit(submission(), signal);
  await comfy.until(() => comfy.clients.size > 0);
  expect(headers).toEqual(["Bearer key-of-the-proxy"]);
  clock.advance(60_000);
  await comfy.until(() => comfy.clients.size === 0);
});

test("all prompts of an account share a connection, and two of us on one server have one each", async () => {
  const { comfy, clock, submit, connected } = await setup();
  await submit();
  await submit();
  await connected();
  const other = createProvider({ baseUrl: comfy.origin, clock });
  started.push(async () => other.stop?.());
  await other.submit(submission(), signal);
  await comfy.until(() => comfy.clients.size === 2);
  const named = comfy.pending.map(({ clientId }) => clientId);
  expect(named[0]).toBe(named[1]);
  expect(new Set(comfy.clients.keys())).toEqual(new Set([String(named[0]), String(named[2])]));
});

test("a prompt that is told of just now needs no look into the queue", async () => {
  const { comfy, clock, submit, until, connected, poll } = await setup();
  const operation = await submit();
  await connected();
  tell(comfy, running(comfy), "execution_start");
  await until(operation, isAt(0));
  clock.advance(5_000);
  comfy.asked.splice(0);
  await poll(operation);
  expect(comfy.asked).not.toContain("GET /queue");
  clock.advance(60_000);
  await poll(operation);
  expect(comfy.asked).toContain("GET /queue");
});

test("a server that was restarted after it told of a prompt has lost it", async () => {
  const { comfy, clock, submit, until, connected } = await setup();
  const operation = await submit();
  await connected();
  const current = running(comfy);
  tell(comfy, current, "execution_start");
  await until(operation, isAt(0));
  comfy.restart();
  // What was read of the queue is old by then, and what was told is not.
  clock.advance(3_000);
  for (const client of comfy.clients.values()) client.close();
  const end = await until(operation, ({ kind }) => kind !== "pending");
  expect(end).toMatchObject({ kind: "failed", isLost: true });
});

const PICTURE = Buffer.from("\xff\xd8\xff picture", "latin1");

/** A frame of a kind, as the server packs it. */
function frame(kind: number, second: number, ...parts: (string | Uint8Array)[]): Uint8Array {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(kind, 0);
  head.writeUInt32BE(second, 4);
  return new Uint8Array(Buffer.concat([head, ...parts.map((part) => Buffer.from(part))]));
}
const withMetadata = (metadata: JsonObject, picture: Uint8Array = PICTURE) => {
  const text = JSON.stringify(metadata);
  return frame(4, Buffer.byteLength(text), text, picture);
};

test("pictures of a prompt are shown as often as is wanted, spread over its sampling, to those who watch", async () => {
  const { comfy, submit, connected, until } = await setup();
  const shown: [index: number, text: string][] = [];
  let isWatched = true;
  const previews: Previews = {
    wanted: 3,
    isWatched: () => isWatched,
    show: ({ index, bytes }) => void shown.push([index, Buffer.from(bytes).toString("latin1")]),
  };
  const operation = await submit(previews);
  await connected();
  const current = running(comfy);
  const send = (bytes: Uint8Array) => comfy.clients.get(current.clientId ?? "")?.send(bytes);
  let told = 0;
  const at = async (value: number, bytes: Uint8Array) => {
    tell(comfy, current, "progress", { node: "3", value, max: 20 });
    send(bytes);
    // What was sent after it shows that it was read.
    tell(comfy, current, "executed", { node: String(100 + value) });
    told += 1;
    await until(operation, isAt(Math.min(99, Math.floor((100 * (value + told)) / 26))), previews);
  };
  await at(2, frame(1, 1, PICTURE));
  await at(5, withMetadata({ prompt_id: current.id, node_id: "3" }));
  await at(6, frame(1, 1, PICTURE));
  await at(11, withMetadata({ prompt_id: "another" }, Buffer.from("of another")));
  await at(12, frame(2, 1, PICTURE));
  await at(13, frame(1, 1, PICTURE));
  isWatched = false;
  await at(16, frame(1, 1, PICTURE));
  isWatched = true;
  await at(17, frame(1, 2, PICTURE));
  await at(20, frame(1, 1, PICTURE));
  const picture = PICTURE.toString("latin1");
  expect(shown).toEqual([
    [0, picture],
    [1, picture],
    [2, picture],
  ]);
});
