import { expect, test } from "bun:test";
import { readMultipart } from "../../src/http/multipart/read.ts";
import {
  type Content,
  END,
  file,
  inPieces,
  intakeOf,
  LIMITS,
  latin1,
  named,
  part,
  read,
  request,
  TYPE,
  textOf,
} from "../helpers/multipart.ts";

const atLimits: [what: string, body: string, more: string, refusal: string][] = [
  [
    "three files",
    file("a", "1").repeat(3),
    file("b", "1"),
    "invalid_request: The form has more than 3 files.",
  ],
  [
    "three files that were not chosen",
    part('Content-Disposition: form-data; name="a"; filename=""', "").repeat(3),
    part('Content-Disposition: form-data; name="a"; filename=""', ""),
    "invalid_request: The form has more than 3 files.",
  ],
  [
    "four fields",
    named("a", "1").repeat(4),
    named("b", "1"),
    "invalid_request: The form has more than 4 fields.",
  ],
  [
    "a field of 1000 bytes",
    named("a", "x".repeat(1_000)),
    named("b", "x".repeat(1_001)),
    'request_too_large: Field "b" has more than 1000 bytes; a file needs a file name.',
  ],
];
test.each(atLimits)("%s is the limit", async (_, body, more, refusal) => {
  expect((await read(request(body + END))).said).toBeObject();
  expect((await read(request(body + more + END))).said).toBe(refusal);
});

test("a header of the limit is taken, and one byte more is not", async () => {
  const header = 'Content-Disposition: form-data; name="a"\r\nX: ';
  // The end of the boundary's line counts too.
  const room = 500 - header.length - 2;
  const of = (bytes: number) => request(part(header + "x".repeat(bytes), "1") + END);
  expect((await read(of(room))).said).toBeObject();
  expect((await read(of(room + 1))).said).toMatch(/more than 500 bytes/);
});

test("a body of the limit is taken, and one byte more is not, announced or not", async () => {
  const body = file("a", "x".repeat(500)) + END;
  const atLimit = { maxTotalBytes: body.length };
  const below = { maxTotalBytes: body.length - 1 };
  const announced = { "Content-Length": String(body.length) };
  const refusal = `request_too_large: The body is larger than ${body.length - 1} bytes.`;
  for (const make of [() => request(body, TYPE, announced), () => request(inPieces(body, 60))]) {
    expect((await read(make(), atLimit)).said).toBeObject();
    expect((await read(make(), below)).said).toBe(refusal);
  }
});

test("an announced body that is too large is refused before any of it is read", async () => {
  let isRead = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull() {
        isRead = true;
      },
    },
    { highWaterMark: 0 },
  );
  const given = request(stream, TYPE, { "Content-Length": "100001" });
  expect((await read(given)).said).toMatch(/^request_too_large: /);
  expect(isRead).toBe(false);
});

test("what a file's reader leaves is skipped, and it never sees the next part", async () => {
  const left: Content[] = [];
  const body = file("a", "x".repeat(300)) + file("b", "2") + named("c", "3") + END;
  const { said } = await read(request(inPieces(body, 50)), {
    async onFile(field, content) {
      left.push(content);
      if (field === "b") return textOf(content);
      for await (const chunk of content) return `${chunk.length > 0}`;
      return "nothing";
    },
  });
  expect(said).toEqual({
    fields: [{ name: "c", value: "3" }],
    files: [
      { field: "a", value: "true" },
      { field: "b", value: "2" },
    ],
  });
  for (const content of left) expect(await textOf(content)).toBe("");
});

test("one file is read at a time, and no further than it is asked for", async () => {
  const body = file("a", "x".repeat(1_000)) + file("b", "y".repeat(1_000)) + END;
  let sent = 0;
  const source = inPieces(body, 100).getReader();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await source.read();
        if (done) return controller.close();
        sent += value.length;
        controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
  const events: string[] = [];
  await read(request(stream), {
    async onFile(field, content) {
      events.push(`${field} starts`);
      let seen = 0;
      for await (const chunk of content) {
        seen += chunk.length;
        // At most the piece at hand and the one that Bun's stream has asked for.
        if (field === "a") expect(sent).toBeLessThanOrEqual(seen + 300);
      }
      events.push(`${field} ends`);
      return field;
    },
  });
  expect(events).toEqual(["a starts", "a ends", "b starts", "b ends"]);
});

const failures: [what: string, tail: string, said: RegExp][] = [
  ["the form is cut", file("c", "3").slice(0, -10), /ends before its last boundary/],
  ["a later part is malformed", `${part("hello", "1")}${END}`, /malformed header/],
  ["a later file is one too many", file("c", "3") + file("d", "4") + END, /more than 3 files/],
];
test.each(failures)("what was made of files is abandoned when %s", async (_, tail, said) => {
  const outcome = await read(request(file("a", "1") + file("b", "2") + tail));
  expect(outcome.said).toMatch(said);
  expect(outcome.abandoned.slice(0, 2)).toEqual(["1", "2"]);
});

test("a file's own failure comes through unchanged, and the rest of the body is left", async () => {
  let isLeft = false;
  const body = file("a", "1") + file("b", "2");
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(latin1(body));
      // Never ends: whoever reads on waits for ever.
      return new Promise(() => undefined);
    },
    cancel() {
      isLeft = true;
    },
  });
  const failure = new Error("no room");
  const abandoned: string[] = [];
  const given = request(stream);
  const reading = intakeOf(given).receive(100_000, (incoming) =>
    readMultipart(
      given,
      incoming,
      LIMITS,
      async (field, content) => {
        if (field === "b") throw failure;
        return textOf(content);
      },
      async (value) => {
        abandoned.push(value);
        throw new Error("this one is not heard of");
      },
    ),
  );
  expect(await reading.catch((error: unknown) => error)).toBe(failure);
  expect({ isLeft, abandoned }).toEqual({ isLeft: true, abandoned: ["1"] });
});

test("a reader that hears nothing of a cut body does not make it whole", async () => {
  const { said, abandoned } = await read(request(file("a", "12").slice(0, -3)), {
    onFile: (_, content) => textOf(content).catch(() => "made up"),
  });
  expect(said).toMatch(/ends before its last boundary/);
  expect(abandoned).toEqual(["made up"]);
});

test("a sender that keeps no pace after ten seconds is told so, and what was made of its files is let go", async () => {
  let now = 0;
  let sweep = () => {};
  const clocks = {
    clock: {
      elapsed: () => now,
      after(_: number, callback: () => void) {
        sweep = callback;
        return () => {};
      },
    },
  };
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(latin1(file("a", "A")));
      controller.enqueue(latin1(file("b", "B").slice(0, -2)));
    },
  });
  const outcome = read(request(stream), { clocks });
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  // The first pieces came at once; then nothing does.
  now = 10_100;
  sweep();
  const { said, abandoned } = await outcome;
  expect(said).toContain("16 KB a second");
  expect(abandoned).toEqual(["A"]);
});

test("an empty file without a name is one that was not chosen; one with a name, or with content, is a file", async () => {
  const unnamed = (name: string, content: string) =>
    part(`Content-Disposition: form-data; name="${name}"; filename=""`, content);
  const body = [unnamed("mask", ""), named("prompt", "x"), file("image", ""), unnamed("more", "1")].join("");
  expect((await read(request(body + END))).said).toEqual({
    fields: [{ name: "prompt", value: "x" }],
    files: [
      { field: "image", value: "" },
      { field: "more", value: "1" },
    ],
  });
});
