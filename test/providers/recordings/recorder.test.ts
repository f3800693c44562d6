import { afterEach, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LaneId, ModelId, ProviderId, TaskId } from "../../../src/domain/ids.ts";
import type { ProviderAdapter, SubmitRequest } from "../../../src/domain/ports/provider.ts";
import { createUpstream, type Upstream } from "../../../src/providers/kit/http.ts";
import { fetchMedia } from "../../../src/providers/kit/media.ts";
import { createContext } from "../../../src/providers/recordings/context.ts";
import { createRecorder } from "../../../src/providers/recordings/recorder.ts";
import { createSystemClock } from "../../../src/runtime/clock.ts";
import { type Scripted, startUpstream } from "../../helpers/scripted-upstream.ts";

const KEY = "canary-key-51c0ffee8f3a";
const TASK = { id: "task_01m84gnmgyecz9fa6kmvwh781w" as TaskId, model: "canary-1" as ModelId };
const HOOK =
  "https://svc.example/hooks/01m84gnmh1ek0th8b9x8m0c6ma-0123456789012345678901234567890123456789012";

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

async function setup(answer: (path: string) => Scripted) {
  const scripted = await startUpstream(({ path }) => answer(path));
  const folder = mkdtempSync(join(tmpdir(), "svc-recorder-"));
  cleanUps.push(scripted.stop, () => rmSync(folder, { recursive: true, force: true }));
  const [context, clock, troubles] = [createContext(), createSystemClock(), [] as string[]];
  const open = () => createRecorder({ folder, clock, context, onTrouble: (why) => troubles.push(why) });
  const upstreamOf = (recorder: ReturnType<typeof open>) =>
    createUpstream({
      ...{ name: "Canary", baseUrl: scripted.origin, clock, network: recorder.network },
      ...{ credentials: { Authorization: `Bearer ${KEY}` }, secrets: [KEY] },
      limits: { connectMs: 5_000, answerMs: 5_000, bodyMs: 5_000 },
    });
  const path = join(folder, `${TASK.id}.jsonl`);
  const lines = () =>
    readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line): Record<string, unknown> => JSON.parse(line));
  return { folder, path, context, troubles, open, upstreamOf, lines, origin: scripted.origin };
}

const { signal } = new AbortController();
const post = (upstream: Upstream, url: string, body = "{}") =>
  upstream.send(
    {
      method: "POST",
      url,
      body: { type: "application/json", bytes: Buffer.from(body) },
      maxBytes: 1_000_000,
    },
    signal,
  );

test("a recording has what was sent and answered without keys, addresses of ours, or signatures, and ends with its task", async () => {
  const said = { key: KEY, url: "https://cdn.example/1.png?X-Amz-Signature=abc&w=1" };
  const { context, open, upstreamOf, lines, path, origin } = await setup(() => ({
    headers: { "set-cookie": "session=abc", "x-request-id": "r1", "x-auth": "abc" },
    json: said,
  }));
  const recorder = open();
  await context.within(TASK, () =>
    post(upstreamOf(recorder), `/jobs?sig=abc&page=1`, JSON.stringify({ prompt: "Key lime", hook: HOOK })),
  );
  recorder.ended(TASK.id);
  await recorder.stop();
  const [head, exchange, end] = lines();
  expect(head).toMatchObject({ recording: 1, task: TASK.id, model: "canary-1" });
  expect(exchange).toMatchObject({
    use: "call",
    sent: {
      method: "POST",
      url: `${origin}/jobs?sig=masked&page=1`,
      headers: { accept: "application/json", "content-type": "application/json" },
      body: { text: '{"prompt":"Key lime","hook":"masked-hook"}' },
    },
    answer: {
      status: 200,
      headers: {
        "content-type": "application/json",
        "x-request-id": "r1",
        "content-length": expect.any(String),
      },
      body: { text: '{"key":"[secret]","url":"https://cdn.example/1.png?X-Amz-Signature=masked&w=1"}' },
    },
  });
  expect(Object.keys(end ?? {})).toEqual(["ended"]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("what is sent outside of a task is not recorded", async () => {
  const { open, upstreamOf, folder } = await setup(() => ({ json: {} }));
  const recorder = open();
  await post(upstreamOf(recorder), "/jobs");
  await recorder.stop();
  expect(readdirSync(folder)).toEqual([]);
});

test("equal files are stored once, under their hashes; one with the key in it is withheld", async () => {
  const picture = Buffer.from([0, 1, 2, 3, ...Buffer.alloc(40_000, 7)]);
  const stolen = Buffer.concat([Buffer.alloc(70_000), Buffer.from(KEY)]);
  const { context, open, upstreamOf, lines, folder, origin } = await setup((path) => ({
    body: path === "/stolen" ? stolen : picture,
  }));
  const recorder = open();
  const source = { upstream: upstreamOf(recorder), hosts: [] };
  const fetched = await context.within(TASK, async () => {
    const sizes: number[] = [];
    for (const name of ["one", "two", "stolen"]) {
      const pieces = await fetchMedia(source, `${origin}/${name}`, 1_000_000, signal);
      sizes.push(Buffer.concat(await Array.fromAsync(pieces)).length);
    }
    return sizes;
  });
  await recorder.stop();
  const sha256 = new Bun.CryptoHasher("sha256").update(picture).digest("hex");
  expect(fetched).toEqual([picture.length, picture.length, stolen.length]);
  expect(lines().flatMap(({ answer }) => (answer as { body?: unknown })?.body ?? [])).toEqual([
    { file: sha256, bytes: picture.length },
    { file: sha256, bytes: picture.length },
    { withheld: "a secret is in it" },
  ]);
  expect(readdirSync(join(folder, "files"))).toEqual([sha256]);
});

test("a connection that is refused and an answer that breaks off are recorded as such", async () => {
  const { context, open, upstreamOf, lines } = await setup(() => (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"data":[');
    socket.end();
  });
  const recorder = open();
  const upstream = upstreamOf(recorder);
  const nobody = createUpstream({
    ...{
      name: "Nobody",
      baseUrl: "http://127.0.0.1:9",
      clock: createSystemClock(),
      credentials: {},
      secrets: [],
    },
    ...{ limits: { connectMs: 5_000, answerMs: 5_000, bodyMs: 5_000 }, network: recorder.network },
  });
  await context.within(TASK, async () => {
    await post(upstream, "/jobs").catch(() => undefined);
    await post(nobody, "/jobs").catch(() => undefined);
  });
  await recorder.stop();
  expect(lines().slice(1)).toMatchObject([
    { answer: { status: 200, broken: { why: "ECONNRESET" } } },
    { none: { why: "ECONNREFUSED", isUnsent: true } },
  ]);
});

test("a recording that an earlier process left with half a line goes on without that line", async () => {
  const { context, open, upstreamOf, lines, path } = await setup(() => ({ json: {} }));
  const first = open();
  await context.within(TASK, () => post(upstreamOf(first), "/one"));
  await first.stop();
  truncateSync(path, statSync(path).size - 5);
  const second = open();
  await context.within(TASK, () => post(upstreamOf(second), "/two"));
  second.ended(TASK.id);
  await second.stop();
  expect(lines().map((line) => Object.keys(line)[0])).toEqual(["recording", "use", "ended"]);
});

test("where nothing can be written, tasks go on, and it is told once", async () => {
  const { context, open, upstreamOf, folder, troubles } = await setup(() => ({ json: { id: 1 } }));
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "");
  const recorder = open();
  const upstream = upstreamOf(recorder);
  const answers = await context.within(TASK, () => Promise.all([post(upstream, "/a"), post(upstream, "/b")]));
  await context.within({ ...TASK, id: "task_01m84gnmgyecz9fa6kmvwh781x" as TaskId }, () =>
    post(upstream, "/c"),
  );
  await recorder.stop();
  expect(answers.map(({ json }) => json)).toEqual([{ id: 1 }, { id: 1 }]);
  expect(troubles).toEqual(["a part of its path is a file, and must be a folder"]);
});

test("a call of an adapter is written after what it exchanged, with what it came to", async () => {
  const { context, open, upstreamOf, lines } = await setup(() => ({ json: { id: "job-1" } }));
  const recorder = open();
  const upstream = upstreamOf(recorder);
  const adapter: ProviderAdapter = {
    ...{ id: "canary" as ProviderId, lane: "canary" as LaneId, submitIsIdempotent: false, concurrency: 1 },
    terms: () => ({ base: upstream.origin }),
    async submit() {
      const { json } = await post(upstream, "/jobs");
      return { kind: "operation", operation: json ?? null };
    },
  };
  const request = {
    ...{ attempt: "att_01m84gnmh1ek0th8b9x8m0c6ma", taskId: TASK.id, upstreamModel: "m" },
    ...{ request: { model: TASK.model, prompt: "a fox", inputs: [] }, inputs: [] },
  };
  const taped = recorder.adapter(adapter);
  await context.within(TASK, () => taped.submit(request as unknown as SubmitRequest, signal));
  await recorder.stop();
  expect(lines().slice(1)).toMatchObject([
    { account: "canary", terms: { base: upstream.origin } },
    { lane: "canary", use: "call" },
    {
      ...{ call: "submit", lane: "canary", with: { upstreamModel: "m", request: { prompt: "a fox" } } },
      came: { kind: "operation", operation: { id: "job-1" } },
    },
  ]);
});

test("a download that is interrupted leaves neither a line nor a part of a file; old parts of other processes go", async () => {
  const { context, open, upstreamOf, lines, folder, origin } = await setup((path) =>
    path === "/slow"
      ? (socket) =>
          void socket.write("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 99\r\n\r\nabc")
      : { body: Buffer.from([0, 1, 2]) },
  );
  mkdirSync(join(folder, "files"));
  writeFileSync(join(folder, "files", ".1-1-0.part"), "half");
  utimesSync(join(folder, "files", ".1-1-0.part"), 1, 1);
  const recorder = open();
  const source = { upstream: upstreamOf(recorder), hosts: [] };
  const stopping = new AbortController();
  await context.within(TASK, async () => {
    const pieces = await fetchMedia(source, `${origin}/slow`, 1_000, stopping.signal);
    const read = async () => {
      for await (const _piece of pieces) stopping.abort(new Error("The service is stopping."));
    };
    await read().catch(() => undefined);
    await Array.fromAsync(await fetchMedia(source, `${origin}/1.png`, 1_000, signal));
  });
  await recorder.stop();
  expect(lines().map(({ sent }) => (sent as { url?: string })?.url)).toEqual([undefined, `${origin}/1.png`]);
  expect(readdirSync(join(folder, "files"))).toEqual([
    new Bun.CryptoHasher("sha256").update(Buffer.from([0, 1, 2])).digest("hex"),
  ]);
});
