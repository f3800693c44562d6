import { afterEach, expect, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import type { InputFile, SubmitRequest } from "../../../src/domain/ports/provider.ts";
import { fetchAll, operationOf, rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Comfy, startComfy } from "./engine.ts";
import { createProvider, NODES, SLOTS, submission, wordingOf } from "./harness.ts";

const signal = new AbortController().signal;
const started: Comfy[] = [];
afterEach(async () => {
  for (const comfy of started.splice(0)) await comfy.stop();
});

async function setup() {
  const comfy = await startComfy();
  started.push(comfy);
  const provider = createProvider({ baseUrl: comfy.origin, clock: fakeClock() });
  return { comfy, provider };
}

/** The inputs of the nodes of the graph that this request is sent as. */
async function sent(request: SubmitRequest) {
  const { comfy, provider } = await setup();
  await provider.submit(request, signal);
  const [{ prompt } = { prompt: {} }] = comfy.prompts;
  const graph = isJsonObject(prompt) ? prompt : {};
  const inputs = (node: string): JsonObject => {
    const { inputs: own } = isJsonObject(graph[node]) ? graph[node] : {};
    return isJsonObject(own) ? own : {};
  };
  return { comfy, graph, inputs };
}

test("a request goes into the slots, and everything else stays as the workflow has it", async () => {
  const parameters = { negative_prompt: "", size: "832x1216", steps: 0, seed: 4294967295 };
  const { graph } = await sent(submission({ prompt: 'A "fox"', n: 3, parameters }));
  expect(graph).toEqual({
    ...NODES,
    "3": { ...NODES["3"], inputs: { ...NODES["3"].inputs, seed: 4294967295, steps: 0 } },
    "5": { ...NODES["5"], inputs: { width: 832, height: 1216, batch_size: 3 } },
    "6": { ...NODES["6"], inputs: { ...NODES["6"].inputs, text: 'A "fox"' } },
    "7": { ...NODES["7"], inputs: { ...NODES["7"].inputs, text: "" } },
  });
});

test("a value goes to every place of its slot, and its parts where the manifest says what they are", async () => {
  const slots = {
    ...SLOTS,
    prompt: [SLOTS.prompt, { node: "9", input: "filename_prefix" }],
    shape: { width: [{ node: 5, input: "width" }], height: { node: "5", input: "height" } },
  };
  const shape = { values: { wide: { width: 1344, height: 768 } } };
  const wording = wordingOf({ slots }, { shape });
  const { inputs } = await sent(submission({ wording, parameters: { shape: "wide" } }));
  expect(inputs("6").text).toBe("A red fox");
  expect(inputs("9").filename_prefix).toBe("A red fox");
  expect(inputs("5")).toMatchObject({ width: 1344, height: 768 });
});

test("without a seed each attempt has one of its own, and the same when it is sent again", async () => {
  const request = submission();
  const seeds = [request, request, submission()].map(async (each) => (await sent(each)).inputs("3").seed);
  const [first, again, other] = await Promise.all(seeds);
  expect(first).toBe(again);
  expect(first).not.toBe(other);
  expect(first).toBeWithin(0, 4294967296);
  expect(first).not.toBe(NODES["3"].inputs.seed);
});

test("what has no slot is not sent without it", async () => {
  const { comfy, provider } = await setup();
  for (const request of [
    submission({ parameters: { strength: 0.5 } }),
    submission({ parameters: { size: "large" } }),
    submission({ wording: wordingOf({ slots: { prompt: SLOTS.prompt } }), n: 2 }),
    submission({ wording: wordingOf({ slots: { seed: SLOTS.seed } }) }),
    { ...submission(), wording: {} },
    { ...submission(), wording: undefined },
  ])
    expect(await rejection(provider.submit(request, signal))).toMatchObject({ disposition: "reroute" });
  expect(comfy.asked).toEqual([]);
});

test("early versions of a picture are a matter of watching, not of the graph", async () => {
  const { graph } = await sent(submission({ parameters: { partial_images: 2, seed: 1 } }));
  expect(JSON.stringify(graph)).not.toContain("partial");
});

function picture(role: InputFile["role"], name: string): InputFile {
  const file: InputFile = {
    role,
    ...{ type: "image/png", width: 8, height: 8, sizeBytes: name.length },
    sha256: new Bun.CryptoHasher("sha256").update(name).digest("hex"),
    content: new Blob([name]),
  };
  return role === "mask" ? { ...file, painted: async (colour) => new Blob([`${name} in ${colour}`]) } : file;
}

const LOADING = {
  ...NODES,
  "20": { class_type: "LoadImage", inputs: { image: "example.png" } },
  "21": { class_type: "LoadImageMask", inputs: { image: "mask.png", channel: "red" } },
  "22": { class_type: "LoadImage", inputs: { image: "other.png" } },
};
const load = (node: string) => ({ node, input: "image" });
const stem = (name: string) => picture("image", name).sha256.slice(0, 40);

test("an input is uploaded into a folder of ours under a name of its content, and its node loads it from there", async () => {
  const wording = wordingOf({ nodes: LOADING, slots: { ...SLOTS, image: load("20") } });
  const { comfy, inputs } = await sent(submission({ wording, inputs: [picture("image", "cat")] }));
  expect(comfy.uploads).toEqual([
    { path: "/upload/image", fields: { image: `${stem("cat")}.png`, type: "input", subfolder: "svc" } },
  ]);
  expect(inputs("20").image).toBe(`svc/${stem("cat")}.png`);
});

test("the server's own name for an upload counts", async () => {
  const { comfy, provider } = await setup();
  comfy.instead = (path) =>
    path === "POST /upload/image"
      ? Response.json({ name: "cat (1).png", subfolder: "svc", type: "input" })
      : undefined;
  const wording = wordingOf({ nodes: LOADING, slots: { ...SLOTS, image: load("20") } });
  await provider.submit(submission({ wording, inputs: [picture("image", "cat")] }), signal);
  expect(JSON.stringify(comfy.prompts[0])).toContain('"svc/cat (1).png"');
});

test("several files go to as many places, in their order, and no fewer", async () => {
  const slots = { ...SLOTS, reference: [load("20"), load("22")] };
  const wording = wordingOf({ nodes: LOADING, slots });
  const inputs = ["cat", "dog"].map((name) => picture("reference", name));
  const { inputs: of } = await sent(submission({ wording, inputs }));
  expect([of("20").image, of("22").image]).toEqual([`svc/${stem("cat")}.png`, `svc/${stem("dog")}.png`]);
  const { provider } = await setup();
  const one = submission({ wording, inputs: inputs.slice(1) });
  expect(await rejection(provider.submit(one, signal))).toMatchObject({ disposition: "reroute" });
});

test("a mask in a node of its own has the colour that the node reads", async () => {
  const slots = { ...SLOTS, image: load("20"), mask: load("21") };
  const files = [picture("mask", "hole"), picture("image", "cat")];
  const asked = async (nodes: typeof LOADING) => {
    const wording = wordingOf({ nodes, slots });
    const { comfy, inputs } = await sent(submission({ wording, inputs: files }));
    return { names: comfy.uploads.map(({ fields }) => fields.image), image: inputs("21").image };
  };
  expect(await asked(LOADING)).toEqual({
    names: [`${stem("cat")}.png`, `${stem("hole")}-white.png`],
    image: `svc/${stem("hole")}-white.png`,
  });
  const alpha = {
    ...LOADING,
    "21": { class_type: "LoadImageMask", inputs: { image: "x", channel: "alpha" } },
  };
  expect((await asked(alpha)).image).toBe(`svc/${stem("hole")}.png`);
});

test("a mask at the node of its image becomes the image's transparency", async () => {
  const slots = { ...SLOTS, image: load("20"), mask: load("20") };
  const wording = wordingOf({ nodes: LOADING, slots });
  const files = [picture("mask", "hole"), picture("image", "cat")];
  const { comfy, inputs } = await sent(submission({ wording, inputs: files }));
  const name = `${stem("cat")}-${stem("hole")}.png`;
  const original = JSON.stringify({ filename: `${stem("cat")}.png`, subfolder: "svc", type: "input" });
  expect(comfy.uploads[1]).toEqual({
    path: "/upload/mask",
    fields: { image: name, type: "input", subfolder: "svc", original_ref: original },
  });
  expect(inputs("20").image).toBe(`svc/${name}`);
});

test.each([
  [new Response("", { status: 400 }), "fail"],
  [new Response("busy", { status: 503 }), "retry"],
  [new Response("oops", { status: 500 }), "retry"],
  [Response.json({}), "retry"],
])("an upload that fails means that nothing was submitted: %#", async (answer, disposition) => {
  const { comfy, provider } = await setup();
  comfy.instead = (path) => (path === "POST /upload/image" ? answer : undefined);
  const wording = wordingOf({ nodes: LOADING, slots: { ...SLOTS, image: load("20") } });
  const request = submission({ wording, inputs: [picture("image", "cat")] });
  expect(await rejection(provider.submit(request, signal))).toMatchObject({ disposition });
  expect(comfy.prompts).toEqual([]);
});

const fault = (node: string, input_name: string, message: string, details = "") => ({
  [node]: {
    errors: [{ type: "x", message, details, extra_info: { input_name } }],
    dependent_outputs: ["9"],
    class_type: "Some",
  },
});
const invalid = (node_errors: JsonObject) => ({
  error: {
    type: "prompt_outputs_failed_validation",
    message: "Prompt outputs failed validation",
    details: "",
    extra_info: {},
  },
  node_errors,
});

async function refusedWith(answer: JsonObject) {
  const { comfy, provider } = await setup();
  comfy.refuse = () => answer;
  return rejection(provider.submit(submission(), signal));
}

test("a node that the server lacks is a fault of the route, told to the operator", async () => {
  const message = "Cannot execute because node FluxGuider does not exist.";
  for (const type of ["invalid_prompt", "missing_node_type"])
    expect(
      await refusedWith({
        error: { type, message, details: "Node ID '#3'", extra_info: {} },
        node_errors: {},
      }),
    ).toMatchObject({
      disposition: "reroute",
      code: "NO_ROUTE_AVAILABLE",
      details: { refused: "route" },
      message: expect.stringContaining("node FluxGuider does not exist. Node ID '#3'"),
    });
});

test("a checkpoint that the server lacks is a fault of the route, told without its folder", async () => {
  const details = "ckpt_name: 'sdxl.safetensors' not in ['/srv/comfy/models/other.safetensors']";
  const error = await refusedWith(invalid(fault("4", "ckpt_name", "Value not in list", details)));
  expect(error).toMatchObject({ disposition: "reroute", details: { refused: "route" } });
  expect(error).toMatchObject({
    message:
      "ComfyUI answered 400 prompt_outputs_failed_validation \"node 4 (Some): Value not in list: ckpt_name: 'sdxl.safetensors' not in ['…/other.safetensors']\"",
  });
});

test("a value of the caller's that the node does not take is the caller's", async () => {
  const error = await refusedWith(
    invalid(fault("5", "width", "Value 20000 bigger than max of 16384", "width")),
  );
  expect(error).toMatchObject({
    disposition: "fail",
    code: "UPSTREAM_REJECTED",
    publicMessage: "The provider refused this request: size: Value 20000 bigger than max of 16384: width",
  });
  const both = { ...fault("5", "width", "Bigger"), ...fault("4", "ckpt_name", "Not in list") };
  expect(await refusedWith(invalid(both))).toMatchObject({ disposition: "reroute" });
});

test("a seed that the node does not take is no fault of the caller's", async () => {
  expect(await refusedWith(invalid(fault("3", "seed", "Bigger")))).toMatchObject({ disposition: "reroute" });
});

test("an error in the server's own handler came before the queue", async () => {
  const { comfy, provider } = await setup();
  const text = "500 Internal Server Error\n\nServer got itself in trouble";
  comfy.instead = () => new Response(text, { status: 500 });
  expect(await rejection(provider.submit(submission(), signal))).toMatchObject({
    disposition: "retry",
    details: { isFailure: true },
  });
});

test("a file is fetched where its node put it", async () => {
  const { provider } = await setup();
  const bytes = await fetchAll(provider, { filename: "a&b #1.png", subfolder: "x/y", kind: "image" });
  expect(new TextDecoder().decode(bytes)).toBe("bytes of x/y/a&b #1.png");
});

test("the cloud chooses ids, is asked for the status of a job, and interrupts nothing", async () => {
  const comfy = await startComfy();
  started.push(comfy);
  const provider = createProvider({
    baseUrl: comfy.origin,
    clock: fakeClock(),
    apiKey: "key-of-ours",
    isCloud: true,
  });
  const id = "0b7e2a52-5a3f-4bd5-9f3e-2c5e6d1f7a10";
  let status = "pending";
  const bodies: string[] = [];
  const answers: Record<string, () => Response> = {
    "POST /api/prompt": () => Response.json({ prompt_id: id, number: 1, node_errors: {} }),
    [`GET /api/job/${id}/status`]: () => Response.json({ id, status, created_at: "", updated_at: "" }),
    [`GET /api/jobs/${id}`]: () =>
      Response.json({
        id,
        status,
        outputs: { "9": { images: [{ filename: "ab12.png", subfolder: "", type: "output" }] } },
      }),
    "POST /api/queue": () => Response.json({ deleted: [id] }),
  };
  comfy.instead = async (path, request) => {
    if (path.startsWith("POST")) bodies.push(await request.text());
    expect(request.headers.get("x-api-key")).toBe("key-of-ours");
    return answers[path]?.() ?? new Response("no", { status: 418 });
  };
  const operation = operationOf(await provider.submit(submission(), signal));
  expect(Object.keys(JSON.parse(bodies[0] ?? "{}"))).toEqual(["prompt"]);
  expect(await provider.poll?.(operation, signal)).toEqual({ kind: "pending" });
  expect(await provider.cancel?.(operation, signal)).toBeUndefined();
  expect(bodies[1]).toBe(JSON.stringify({ delete: [id] }));
  status = "in_progress";
  expect(await provider.cancel?.(operation, signal)).toBe("unable");
  expect(bodies).toHaveLength(2);
  status = "completed";
  const outputs = [{ kind: "remote" as const, ref: { filename: "ab12.png", kind: "image" } }];
  expect(await provider.poll?.(operation, signal)).toEqual({ kind: "succeeded", outputs });
  status = "cancelled";
  expect(await provider.poll?.(operation, signal)).toEqual({ kind: "cancelled" });
  expect(provider.recover).toBeUndefined();
});

test.each(["job/p-1/status", "jobs/p-1"])(
  "what the cloud says of another job in %s is not believed",
  async (mixed) => {
    const comfy = await startComfy();
    started.push(comfy);
    const provider = createProvider({
      baseUrl: comfy.origin,
      clock: fakeClock(),
      apiKey: "k",
      isCloud: true,
    });
    const images = [{ filename: "a.png", subfolder: "", type: "output" }];
    const job = { id: "p-1", status: "completed", outputs: { "9": { images } } };
    comfy.instead = (path) =>
      Response.json(
        path === "POST /api/prompt"
          ? { prompt_id: "p-1" }
          : path.endsWith(mixed)
            ? { ...job, id: "p-2" }
            : job,
      );
    const operation = operationOf(await provider.submit(submission(), signal));
    await expect(provider.poll?.(operation, signal)).rejects.toMatchObject({ disposition: "retry" });
  },
);

test.each([
  ["OOMError", { code: "UPSTREAM_CAPACITY_EXHAUSTED", mayReroute: true }],
  ["InsufficientFundsError", { code: "NO_ROUTE_AVAILABLE", mayReroute: true }],
  ["ValidationError", { code: "UPSTREAM_REJECTED" }],
])("a job that failed in the cloud by %s says so", async (exception_type, told) => {
  const comfy = await startComfy();
  started.push(comfy);
  const provider = createProvider({ baseUrl: comfy.origin, clock: fakeClock(), apiKey: "k", isCloud: true });
  comfy.instead = (path) => {
    if (path === "POST /api/prompt") return Response.json({ prompt_id: "p-1" });
    if (path === "GET /api/job/p-1/status") return Response.json({ status: "error" });
    return Response.json({
      execution_error: { exception_type, exception_message: "x", node_id: "3", node_type: "y" },
    });
  };
  const operation = operationOf(await provider.submit(submission(), signal));
  expect(await provider.poll?.(operation, signal)).toMatchObject({ kind: "failed", ...told });
});
