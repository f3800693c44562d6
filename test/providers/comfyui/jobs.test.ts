import { afterEach, expect, test } from "bun:test";
import type { Json } from "../../../src/domain/json.ts";
import type { ProviderError } from "../../../src/domain/ports/provider.ts";
import { operationOf, rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Comfy, SAVED, startComfy } from "./engine.ts";
import { createProvider, NODES, submission, wordingOf } from "./harness.ts";

const signal = new AbortController().signal;
const started: Comfy[] = [];
afterEach(async () => {
  for (const comfy of started.splice(0)) await comfy.stop();
});

async function setup() {
  const comfy = await startComfy();
  started.push(comfy);
  const clock = fakeClock();
  const provider = createProvider({ baseUrl: comfy.origin, clock });
  const submit = async (request = submission()) => operationOf(await provider.submit(request, signal));
  const poll = async (operation: Json) => provider.poll?.(operation, signal);
  const cancel = async (operation: Json) => provider.cancel?.(operation, signal);
  return { comfy, clock, provider, submit, poll, cancel };
}

const PENDING = { kind: "pending" } as const;
const LOST = {
  kind: "failed",
  code: "UPSTREAM_ERROR",
  message: "The provider no longer has this job.",
  isLost: true,
} as const;
const file = (filename: string, subfolder?: string, kind = "image") => ({
  kind: "remote" as const,
  ref: { filename, ...(subfolder !== undefined && { subfolder }), kind },
});

test("a prompt waits, runs and ends with what its nodes saved", async () => {
  const { comfy, submit, poll } = await setup();
  const operation = await submit();
  expect(await poll(operation)).toEqual(PENDING);
  comfy.begin();
  expect(await poll(operation)).toEqual(PENDING);
  comfy.end({ outputs: SAVED });
  expect(await poll(operation)).toEqual({ kind: "succeeded", outputs: [file("ComfyUI_00001_.png")] });
});

test("a prompt has ended also where its graph has numbers that are none, as nodes that always run again leave there", async () => {
  const { comfy, submit, poll } = await setup();
  const operation = await submit();
  comfy.begin();
  comfy.end({ outputs: SAVED });
  comfy.instead = (path) => {
    const [id = "", entry] = [...comfy.history][0] ?? [];
    if (path !== `GET /history/${id}`) return undefined;
    const text = JSON.stringify({ [id]: entry }).replace('"class_type"', '"is_changed":[NaN],"class_type"');
    expect(text).toContain("NaN");
    return new Response(text, { headers: { "Content-Type": "application/json" } });
  };
  expect(await poll(operation)).toEqual({ kind: "succeeded", outputs: [file("ComfyUI_00001_.png")] });
});

test("a prompt that ends between the questions is not lost", async () => {
  const { comfy, submit, poll } = await setup();
  const operation = await submit();
  comfy.begin();
  comfy.instead = (path) => {
    // The history was asked, and did not have it yet.
    if (path === "GET /queue" && comfy.running.length > 0) comfy.end({ outputs: SAVED });
    return undefined;
  };
  expect(await poll(operation)).toMatchObject({ kind: "succeeded" });
});

test("a server that was restarted in the middle has lost the prompt", async () => {
  const { comfy, submit, poll, clock } = await setup();
  const operation = await submit();
  comfy.begin();
  expect(await poll(operation)).toEqual(PENDING);
  comfy.instead = () => new Response("starting", { status: 503 });
  expect(await rejection(poll(operation))).toMatchObject({ disposition: "retry" });
  comfy.instead = () => undefined;
  comfy.restart();
  clock.advance(60_000);
  expect(await poll(operation)).toEqual(LOST);
});

test("whoever lost a prompt makes it again on a server of one's own, and fails in the cloud", () => {
  const to = { baseUrl: "http://127.0.0.1:1", clock: fakeClock() };
  expect(createProvider(to).repeatIsSafe).toBe(true);
  expect(createProvider({ ...to, restarts: "charged" }).repeatIsSafe).toBe(false);
});

test("a lost answer is asked for: the prompt is there under the id of its attempt, and is queued once", async () => {
  const { comfy, provider, poll } = await setup();
  const request = submission();
  comfy.instead = async (path, asked) => {
    if (path !== "POST /prompt") return undefined;
    comfy.instead = () => undefined;
    await fetch(asked.url, { method: "POST", body: await asked.text() });
    return new Response("What stands before it lost the answer.", { status: 502 });
  };
  const error = (await rejection(provider.submit(request, signal))) as ProviderError;
  expect(error.disposition).toBe("unknown");
  const found = await provider.recover?.(request, signal);
  expect(found?.kind).toBe("found");
  expect(comfy.prompts).toHaveLength(1);
  comfy.begin();
  comfy.end({ outputs: SAVED });
  if (found?.kind === "found") expect(await poll(found.operation)).toMatchObject({ kind: "succeeded" });
  expect(await provider.recover?.(request, signal)).toEqual(found);
  expect(await provider.recover?.(submission(), signal)).toEqual({ kind: "absent" });
});

test("a lost answer is asked for also when the model is gone", async () => {
  const { provider } = await setup();
  const request = submission();
  await provider.submit(request, signal);
  const found = await provider.recover?.({ ...request, wording: undefined }, signal);
  expect(found?.kind).toBe("found");
});

test("a prompt that moves while it is asked for is found", async () => {
  const { comfy, provider } = await setup();
  const request = submission();
  await provider.submit(request, signal);
  comfy.begin();
  comfy.instead = (path) => {
    const queue = { queue_running: [], queue_pending: [] };
    // The server says nowhere once, as if an extension had it between the queue and the history.
    if (path !== "GET /queue") return undefined;
    comfy.instead = () => undefined;
    return Response.json(queue);
  };
  expect(await provider.recover?.(request, signal)).toMatchObject({ kind: "found" });
});

test("a release that does not let us name prompts cannot be asked for one", async () => {
  const { comfy, provider, poll } = await setup();
  comfy.version = "0.3.44";
  const request = submission();
  const operation = operationOf(await provider.submit(request, signal));
  expect(await poll(operation)).toEqual(PENDING);
  expect(await provider.recover?.(request, signal)).toEqual({ kind: "unable" });
});

test("a thousand prompts of others with large graphs leave ours to be found, and are read seldom", async () => {
  const { comfy, submit, poll, clock } = await setup();
  const large = { "1": { class_type: "Other", inputs: { text: 'a "]}[{," '.repeat(401) } } };
  comfy.addOthers(1000, large);
  const operation = await submit();
  for (let i = 0; i < 5; i += 1) expect(await poll(operation)).toEqual(PENDING);
  expect(comfy.asked.filter((path) => path === "GET /queue")).toHaveLength(1);
  clock.advance(60_000);
  expect(await poll(operation)).toEqual(PENDING);
  expect(comfy.asked.filter((path) => path === "GET /queue")).toHaveLength(2);
});

test("what others call their prompts is no place of ours", async () => {
  const { comfy, submit, poll } = await setup();
  const operation = await submit();
  const [ours] = comfy.pending.splice(0);
  for (const id of ["__proto__", `x","${ours?.id}`, "queue_running"])
    comfy.pending.push({
      id,
      graph: { [String(ours?.id)]: { class_type: "x", inputs: {} } },
      clientId: undefined,
    });
  expect(await poll(operation)).toEqual(LOST);
});

test("a cancelled prompt that waits is taken out alone", async () => {
  const { comfy, submit, poll, cancel } = await setup();
  comfy.addOthers(2);
  const [operation, other] = [await submit(), await submit()];
  await cancel(operation);
  expect(comfy.pending).toHaveLength(3);
  expect(await poll(operation)).toEqual({ kind: "cancelled" });
  expect(await poll(other)).toEqual(PENDING);
});

test("a cancelled prompt that runs is interrupted alone", async () => {
  const { comfy, submit, poll, cancel } = await setup();
  const operation = await submit();
  comfy.begin();
  expect(await cancel(operation)).toBeUndefined();
  expect(comfy.interrupted).toHaveLength(1);
  expect(await poll(operation)).toEqual({ kind: "cancelled" });
});

test("a prompt that ends before the interrupt arrives costs nobody else theirs", async () => {
  const { comfy, submit, poll, cancel } = await setup();
  const operation = await submit();
  comfy.addOthers(1);
  comfy.begin();
  comfy.instead = (path) => {
    if (path !== "POST /interrupt") return undefined;
    comfy.end({ outputs: SAVED });
    comfy.begin();
    return undefined;
  };
  await cancel(operation);
  expect(comfy.interrupted).toEqual([]);
  expect(comfy.running).toHaveLength(1);
  expect(await poll(operation)).toMatchObject({ kind: "succeeded" });
});

test("a prompt that begins while it is taken out of the queue is interrupted", async () => {
  const { comfy, submit, poll, cancel } = await setup();
  const operation = await submit();
  comfy.instead = (path) => {
    if (path === "POST /queue") comfy.begin();
    return undefined;
  };
  await cancel(operation);
  expect(comfy.interrupted).toHaveLength(1);
  expect(await poll(operation)).toEqual({ kind: "cancelled" });
});

test.each(["0.3.56", "0.2.99", "nightly"])(
  "release %s, whose interrupt stops whatever runs, is never asked for one",
  async (version) => {
    const { comfy, submit, poll, cancel } = await setup();
    comfy.version = version;
    const operation = await submit();
    comfy.begin();
    expect(await cancel(operation)).toBe("unable");
    expect(comfy.asked).not.toContain("POST /interrupt");
    expect(await poll(operation)).toEqual(PENDING);
  },
);

test("no request clears the queue, interrupts without a name, or frees the memory", async () => {
  const { comfy, submit, poll, cancel } = await setup();
  const bodies: string[] = [];
  comfy.instead = async (path, request) => {
    if (path.startsWith("POST") && path !== "POST /prompt")
      bodies.push(`${path} ${await request.clone().text()}`);
    return undefined;
  };
  const [one, two] = [await submit(), await submit()];
  comfy.begin();
  for (const operation of [one, two]) {
    await cancel(operation);
    await poll(operation);
  }
  const [first, second] = [one, two].map((operation) => (operation as { prompt_id: string }).prompt_id);
  expect(bodies).toEqual([
    `POST /interrupt {"prompt_id":"${first}"}`,
    `POST /queue {"delete":["${second}"]}`,
  ]);
});

test.each([
  [
    { exception_type: "torch.OutOfMemoryError", exception_message: "Allocation on device" },
    "UPSTREAM_CAPACITY_EXHAUSTED",
  ],
  [
    { exception_type: "RuntimeError", exception_message: "CUDA error: out of memory" },
    "UPSTREAM_CAPACITY_EXHAUSTED",
  ],
  [
    { exception_type: "RuntimeError", exception_message: "Expected all tensors on one device" },
    "UPSTREAM_ERROR",
  ],
  [{}, "UPSTREAM_ERROR"],
])("an exception of the server goes another way, uncharged: %j", async (exception, code) => {
  const { comfy, submit, poll } = await setup();
  const operation = await submit();
  comfy.begin();
  comfy.end({ exception });
  expect(await poll(operation)).toMatchObject({ kind: "failed", code, mayReroute: true });
});

test("a picture that cannot be read is the caller's, and no path of the server is told to anybody", async () => {
  const { comfy, submit, poll } = await setup();
  const operation = await submit();
  comfy.begin();
  comfy.end({
    exception: {
      exception_type: "PIL.UnidentifiedImageError",
      exception_message:
        "cannot identify image file '/home/ann/ComfyUI/input/svc/ab.png' or C:\\ai\\models\\b.png",
    },
  });
  const answer = await poll(operation);
  expect(answer).toMatchObject({ kind: "failed", code: "UPSTREAM_REJECTED" });
  expect(answer).not.toHaveProperty("mayReroute");
  expect(JSON.stringify(answer)).not.toMatch(/home|ComfyUI\/|models/);
  expect(answer).toHaveProperty(
    "detail",
    `ComfyUI: PIL.UnidentifiedImageError in node 3 (KSampler): "cannot identify image file '…/ab.png' or …/b.png"`,
  );
});

const saved = (filename: string, more = {}) => ({ filename, subfolder: "", type: "output", ...more });

test("previews and files of another kind are no outputs; folders are kept; the order is that of the nodes", async () => {
  const { comfy, submit, poll } = await setup();
  const operation = await submit();
  comfy.begin();
  comfy.end({
    outputs: {
      "12": { images: [saved("last.webp", { subfolder: "a/b" })] },
      "9": { images: [saved("first.png"), saved("preview.png", { type: "temp" })], text: ["a caption"] },
      "10": { gifs: [saved("film.mp4", { format: "video/h264-mp4" })], audio: [saved("sound.flac")] },
    },
  });
  expect(await poll(operation)).toEqual({
    kind: "succeeded",
    outputs: [file("first.png"), file("last.webp", "a/b")],
  });
});

test("a video is taken from wherever its node puts it", async () => {
  const { comfy, submit, poll } = await setup();
  const operation = await submit(submission({ kind: "video" }));
  comfy.begin();
  const outputs = {
    "9": { images: [saved("one.mp4", { subfolder: "video" })], animated: [true] },
    "10": { gifs: [saved("two.webm"), saved("two.png")] },
    "11": { video: [saved("three.mp4")] },
  };
  comfy.end({ outputs });
  expect(await poll(operation)).toEqual({
    kind: "succeeded",
    outputs: [
      file("one.mp4", "video", "video"),
      file("two.webm", undefined, "video"),
      file("three.mp4", undefined, "video"),
    ],
  });
});

test("only the nodes count that a manifest names, in its order", async () => {
  const { comfy, submit, poll } = await setup();
  const nodes = { ...NODES, "10": NODES["9"], "11": NODES["9"] };
  const operation = await submit(submission({ wording: wordingOf({ nodes, outputs: [11, "9"] }) }));
  comfy.begin();
  const outputs = {
    "9": { images: [saved("9.png")] },
    "10": { images: [saved("10.png")] },
    "11": { images: [saved("11.png")] },
  };
  comfy.end({ outputs });
  expect(await poll(operation)).toMatchObject({ outputs: [file("11.png"), file("9.png")] });
});

test("a prompt that saves nothing fails, and another route may do better", async () => {
  const { comfy, submit, poll } = await setup();
  const operation = await submit();
  comfy.begin();
  comfy.end({ outputs: { "9": { images: [saved("x.png", { type: "temp" })] } } });
  expect(await poll(operation)).toMatchObject({ kind: "failed", code: "UPSTREAM_ERROR", mayReroute: true });
});

test.each([
  new Response("<html>"),
  Response.json({}),
  Response.json({ queue_running: [] }),
  new Response('{"queue_running": [], "queue_pending": ['),
  Response.json({ error: "x" }, { status: 500 }),
])("a queue that cannot be read loses no prompt: %#", async (queue) => {
  const { comfy, submit, poll } = await setup();
  const operation = await submit();
  comfy.instead = (path) => (path === "GET /queue" ? queue : undefined);
  expect(await rejection(poll(operation))).toMatchObject({ disposition: "retry" });
});

test("a word for the end of a prompt that nobody has told us of is neither success nor failure", async () => {
  const { comfy, submit, poll } = await setup();
  const operation = await submit();
  const [{ id } = { id: "" }] = comfy.pending.splice(0);
  const status = { status_str: "paused", completed: false, messages: [] };
  comfy.instead = (path) =>
    path.startsWith("GET /history/")
      ? Response.json({ [id]: { prompt: [], outputs: {}, status } })
      : undefined;
  expect(await poll(operation)).toEqual(PENDING);
});
