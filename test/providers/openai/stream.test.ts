import { afterEach, describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import { ProviderError, type Submitted } from "../../../src/domain/ports/provider.ts";
import { rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { recordPreviews } from "../../helpers/previews.ts";
import { openPublished } from "../../helpers/published.ts";
import { type Scripted, type ScriptedUpstream, startUpstream } from "../../helpers/scripted-upstream.ts";
import { inputFile } from "../sandbox/harness.ts";
import { createProvider, fieldsOf, pictures, refusal, type Submission, submission } from "./harness.ts";

const signal = new AbortController().signal;
const published = openPublished("openai/openapi.json");

const started: ScriptedUpstream[] = [];
afterEach(() => {
  for (const upstream of started.splice(0)) upstream.stop();
});

const FACTS = {
  created_at: 1_790_000_000,
  size: "1024x1024",
  quality: "high",
  background: "opaque",
  output_format: "png",
};
const USAGE = {
  total_tokens: 1269,
  input_tokens: 13,
  output_tokens: 1256,
  input_tokens_details: { text_tokens: 13, image_tokens: 0 },
};

type Event = JsonObject & { readonly type: string };

const partial = (index: number, kind = "image_generation"): Event => ({
  type: `${kind}.partial_image`,
  b64_json: btoa(`early ${index}`),
  partial_image_index: index,
  ...FACTS,
});
const completed = (text = "picture", kind = "image_generation"): Event => ({
  type: `${kind}.completed`,
  b64_json: btoa(text),
  ...FACTS,
  usage: USAGE,
});
const failure = (error: JsonObject): Event => ({ type: "error", error });

const textOf = (events: readonly Event[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");

/** Checks that what the script sends is what the published document says, then sends it. */
function events(...all: readonly Event[]): Scripted {
  for (const event of all) {
    if (event.type === "error") continue;
    const name = event.type.startsWith("image_edit") ? "ImageEditStreamEvent" : "ImageGenStreamEvent";
    expect(published.problems(["components", "schemas", name], event)).toEqual([]);
  }
  return { headers: { "content-type": "text/event-stream; charset=utf-8" }, body: textOf(all) };
}

/** Sends events in a body that never ends as it should: its connection is closed in the middle of a chunk. */
function cutOff(...all: readonly Event[]): Scripted {
  return (socket) => {
    const text = textOf(all);
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    socket.write(`${text.length.toString(16)}\r\n${text}\r\n400\r\nevent: image`);
    socket.end();
  };
}

async function submit(answer: Scripted, given: Submission = {}, isIdempotent = false) {
  const upstream = await startUpstream(() => answer);
  started.push(upstream);
  const provider = createProvider({ baseUrl: upstream.origin, clock: fakeClock(), isIdempotent });
  const previews = recordPreviews(2);
  const parameters = { partial_images: 2, ...given.parameters };
  const request = { ...submission({ ...given, parameters }), previews };
  const submitting = provider.submit(request, signal);
  return { upstream, previews, request, submitting };
}

function picturesOf(submitted: Submitted): string[] {
  if (submitted.kind !== "outputs") throw new Error("There are no outputs.");
  return submitted.outputs.map((output) =>
    output.kind === "bytes" ? Buffer.from(output.bytes).toString() : JSON.stringify(output),
  );
}

describe("early versions", () => {
  test("are asked for by a stream, as the published document says, and shown as they come", async () => {
    const { upstream, previews, submitting, request } = await submit(
      events(partial(0), partial(1), completed()),
      { parameters: { size: "1024x1024" } },
    );
    const submitted = await submitting;
    expect(picturesOf(submitted)).toEqual(["picture"]);
    expect(submitted).toMatchObject({ usage: { inputTokens: 13, outputTokens: 1256 } });
    expect(previews.shown).toEqual([
      { index: 0, outputIndex: 0, bytes: Buffer.from("early 0") },
      { index: 1, outputIndex: 0, bytes: Buffer.from("early 1") },
    ]);
    const [arrived] = upstream.arrived;
    const fields = await fieldsOf(arrived!);
    expect(fields).toMatchObject({ stream: true, partial_images: 2, size: "1024x1024", n: 1 });
    expect(arrived?.headers.get("idempotency-key")).toBe(request.attempt);
    const place = ["paths", "/images/generations", "post", "requestBody", "content", "application/json"];
    expect(published.problems([...place, "schema"], fields)).toEqual([]);
  });

  test("of an edit are asked for in its form, and told in its words", async () => {
    const { upstream, previews, submitting } = await submit(
      events(partial(0, "image_edit"), completed("edited", "image_edit")),
      { inputs: [inputFile("image", new TextEncoder().encode("first"))] },
    );
    expect(picturesOf(await submitting)).toEqual(["edited"]);
    expect(previews.shown).toHaveLength(1);
    expect(upstream.arrived[0]?.path).toBe("/images/edits");
    const { image: _file, ...fields } = await fieldsOf(upstream.arrived[0]!);
    expect(fields).toMatchObject({ stream: "true", partial_images: "2" });
    const place = ["paths", "/images/edits", "post", "requestBody", "content", "multipart/form-data"];
    expect(published.problems([...place, "schema"], { ...fields, image: "file" }, true)).toEqual([]);
  });

  test("that nobody wants are not asked for, whatever else the request says", async () => {
    const upstream = await startUpstream(() => pictures(1));
    started.push(upstream);
    const provider = createProvider({ baseUrl: upstream.origin, clock: fakeClock() });
    await provider.submit(submission({ parameters: { partial_images: 0 } }), signal);
    expect(Object.keys(await fieldsOf(upstream.arrived[0]!)).sort()).toEqual(["model", "n", "prompt"]);
    expect(upstream.arrived[0]?.headers.get("accept")).toBe("application/json");
  });

  test("that nobody looks at are not decoded, and the picture comes all the same", async () => {
    const { previews, submitting } = await submit((socket) => {
      previews.watched = false;
      const body = textOf([partial(0), completed()]);
      socket.end(`HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n${body}`);
    });
    expect(picturesOf(await submitting)).toEqual(["picture"]);
    expect(previews.shown).toEqual([]);
  });

  test("of several pictures do not say whose they are, and every picture is waited for", async () => {
    const { previews, submitting } = await submit(
      events(partial(0), partial(0), completed("a"), completed("b")),
      { n: 2 },
    );
    expect(picturesOf(await submitting)).toEqual(["a", "b"]);
    expect(previews.shown.map(({ outputIndex }) => outputIndex)).toEqual([undefined, undefined]);
  });

  test("that make no sense harm nothing, nor do events nobody has heard of", async () => {
    const { previews, submitting } = await submit(
      {
        headers: { "content-type": "text/event-stream" },
        body: [
          ": hello",
          "retry: soon",
          "event: image_generation.partial_image\ndata: {not json}",
          'event: image_generation.partial_image\ndata: {"partial_image_index":"first","b64_json":"AA=="}',
          'event: image_generation.partial_image\ndata: {"partial_image_index":0,"b64_json":7}',
          "event: image_generation.completed\ndata: null",
          'data: {"type":"image_generation.completed"}',
          "event: image_generation.dreaming\ndata: [1,2,3]",
          "data: [DONE]",
          `data: ${JSON.stringify(completed("after all"))}`,
          "",
        ].join("\n\n"),
      },
      {},
    );
    expect(picturesOf(await submitting)).toEqual(["after all"]);
    expect(previews.shown).toEqual([]);
  });
});

describe("the end of the stream", () => {
  test("is not waited for once the pictures are there", async () => {
    const { submitting } = await submit((socket) => {
      const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
      socket.write(head + textOf([partial(0), completed()]));
    });
    expect(picturesOf(await submitting)).toEqual(["picture"]);
  });

  test("may lack its last line break", async () => {
    const { submitting } = await submit({
      headers: { "content-type": "text/event-stream" },
      body: textOf([completed()]).trimEnd(),
    });
    expect(picturesOf(await submitting)).toEqual(["picture"]);
  });

  test.each([
    ["without an event", []],
    ["after early versions", [partial(0), partial(1)]],
  ] as [string, Event[]][])("%s leaves open what became of it, and nothing is sent again", async (_, all) => {
    for (const answer of [events(...all), cutOff(...all)]) {
      const { submitting, upstream } = await submit(answer);
      expect(await rejection(submitting)).toMatchObject({ disposition: "unknown", code: "UPSTREAM_ERROR" });
      expect(upstream.arrived).toHaveLength(1);
    }
  });

  test.each([
    [false, ["a"]],
    [true, "unknown"],
  ])(
    "after one of two pictures leaves that, unless the rest can be asked for: %p",
    async (isIdempotent, left) => {
      const { promise: connection, resolve } = Promise.withResolvers<Socket>();
      const upstream = await startUpstream(() => (socket) => {
        resolve(socket);
        socket.write(
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        const text = textOf([completed("a"), partial(0)]);
        socket.write(`${text.length.toString(16)}\r\n${text}\r\n`);
      });
      started.push(upstream);
      const provider = createProvider({ baseUrl: upstream.origin, clock: fakeClock(), isIdempotent });
      // What was sent before has been read by then.
      const show = () => void connection.then((socket) => socket.destroy());
      const previews = { ...recordPreviews(), show };
      const submitted = await provider
        .submit({ ...submission({ n: 2 }), previews }, signal)
        .catch((error) => error);
      const outcome: unknown =
        submitted instanceof ProviderError ? submitted.disposition : picturesOf(submitted);
      expect(outcome).toEqual(left);
    },
  );

  test("is an error when an event is larger than any picture", async () => {
    const { submitting } = await submit((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: ");
      const chunk = Buffer.alloc(1024 * 1024, "A");
      const write = () => {
        if (socket.writable && socket.writableLength < 4 * chunk.length) socket.write(chunk);
        if (socket.writable) setImmediate(write);
      };
      write();
    });
    const error = await rejection(submitting);
    expect(error).toMatchObject({ disposition: "unknown" });
    expect((error as Error).message).toContain("larger than");
  }, 20_000);

  test("is waited for no longer than an answer and its body may take", async () => {
    const upstream = await startUpstream(() => (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
      socket.write(textOf([partial(0)]));
    });
    started.push(upstream);
    const clock = fakeClock();
    const provider = createProvider({ baseUrl: upstream.origin, clock });
    const { promise: shown, resolve } = Promise.withResolvers<void>();
    const previews = { ...recordPreviews(), show: () => resolve() };
    const failing = rejection(provider.submit({ ...submission(), previews }, signal));
    await shown;
    let hasEnded = false;
    void failing.then(() => {
      hasEnded = true;
    });
    // A picture may take its time, though the head of its answer has come.
    clock.advance(1_199_000);
    await Bun.sleep(20);
    expect(hasEnded).toBe(false);
    clock.advance(2_000);
    expect(await failing).toMatchObject({ disposition: "unknown" });
  });
});

describe("an error in the stream", () => {
  test.each([
    [{ code: "moderation_blocked", type: "image_generation_user_error" }, "fail", "CONTENT_MODERATED"],
    [{ code: "invalid_value", type: "invalid_request_error" }, "fail", "UPSTREAM_REJECTED"],
    [{ code: "rate_limit_exceeded", type: "requests" }, "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
    [{ type: "authentication_error" }, "reroute", "NO_ROUTE_AVAILABLE"],
    [{ code: "sync_image_timeout", type: "server_error" }, "unknown", "UPSTREAM_TIMEOUT"],
    [{ type: "server_error" }, "unknown", "UPSTREAM_ERROR"],
    [{}, "unknown", "UPSTREAM_ERROR"],
  ] as const)(
    "before anything was made is judged by its word: %j is %s, %s",
    async (error, disposition, code) => {
      const said = { message: "No.", ...error };
      const { submitting } = await submit(events(failure(said)));
      expect(await rejection(submitting)).toMatchObject({ disposition, code });
    },
  );

  test.each([
    'event: error\ndata: {"type":"error","code":"moderation_blocked","message":"No."}',
    'event: error\ndata: {"error":{"code":"moderation_blocked","message":"No."}}',
    'data: {"error":{"code":"moderation_blocked","message":"No."}}',
  ])("is understood in other forms: %s", async (text) => {
    const { submitting } = await submit({
      headers: { "content-type": "text/event-stream" },
      body: `${text}\n\n`,
    });
    expect(await rejection(submitting)).toMatchObject({ code: "CONTENT_MODERATED" });
  });

  test.each([
    [{ code: "rate_limit_exceeded" }, "unknown"],
    [{ type: "authentication_error" }, "unknown"],
    [{ code: "billing_hard_limit_reached" }, "unknown"],
    [{ code: "moderation_blocked" }, "fail"],
    [{ type: "invalid_request_error" }, "fail"],
  ] as const)("after an early version, which may be charged for, %j is %s", async (error, disposition) => {
    const { submitting } = await submit(events(partial(0), failure({ message: "No.", ...error })));
    expect(await rejection(submitting)).toMatchObject({ disposition });
  });

  test("after some of the pictures leaves those", async () => {
    const { submitting } = await submit(events(completed("a"), failure({ message: "No." })), { n: 2 });
    expect(picturesOf(await submitting)).toEqual(["a"]);
  });
});

describe("a server that does not stream", () => {
  test("is understood", async () => {
    const { submitting, previews } = await submit(pictures(1));
    expect(picturesOf(await submitting)).toEqual(["picture 0"]);
    expect(previews.shown).toEqual([]);
  });

  test("refuses as it does otherwise", async () => {
    const { submitting } = await submit(refusal(400, { code: "unknown_parameter" }));
    expect(await rejection(submitting)).toMatchObject({ disposition: "reroute" });
    const other = await submit({
      ...{ status: 400, headers: { "content-type": "text/event-stream" } },
      body: textOf([completed()]),
    });
    expect(await rejection(other.submitting)).toMatchObject({ disposition: "fail" });
  });
});

test.skipIf(!published.isHere)("the published examples are understood", async () => {
  for (const [path, inputs] of [
    ["/images/generations", []],
    ["/images/edits", [inputFile("image", new Uint8Array(1))]],
  ] as const) {
    const place = ["paths", path, "post", "responses", "200", "content", "text/event-stream", "examples"];
    const example = published.at([...place, "streaming-1", "value"]) as Json;
    // What stands for a picture there is no base64.
    const body = String(example).replaceAll('"..."', `"${btoa("picture")}"`);
    const { submitting, previews } = await submit(
      { headers: { "content-type": "text/event-stream" }, body },
      { inputs },
    );
    expect(picturesOf(await submitting)).toEqual(["picture"]);
    expect(previews.shown).toHaveLength(1);
  }
});
