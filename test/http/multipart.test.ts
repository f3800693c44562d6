import { expect, test } from "bun:test";
import fc from "fast-check";
import { END, file, inPieces, named, part, read, request, TYPE } from "../helpers/multipart.ts";

const fields = (...pairs: [name: string, value: string][]) => ({
  said: { fields: pairs.map(([name, value]) => ({ name, value })), files: [] },
  abandoned: [],
});

test("fields and files come in order, those of one name too, however the body is cut", async () => {
  const body =
    named("prompt", "a\r\n--b\r\n-") +
    file("image", "one\r\n--A\r\n\r") +
    named("prompt", "") +
    file("image[]", "") +
    file("image", "\r\n\r\n") +
    END;
  const expected = {
    said: {
      fields: [
        { name: "prompt", value: "a\r\n--b\r\n-" },
        { name: "prompt", value: "" },
      ],
      files: [
        { field: "image", value: "one\r\n--A\r\n\r" },
        { field: "image[]", value: "" },
        { field: "image", value: "\r\n\r\n" },
      ],
    },
    abandoned: [],
  };
  for (let size = 1; size <= body.length; size += 1) {
    expect(await read(request(inPieces(body, size)))).toEqual(expected);
  }
});

test("a form that Bun writes is read as it was meant, in pieces of any size", async () => {
  const name = fc
    .string({ minLength: 1, maxLength: 20, unit: "grapheme-ascii" })
    .filter((text) => !/["\\%]/.test(text));
  const value = fc.string({ maxLength: 60, unit: "grapheme" }).filter((text) => !/[\0\r\n]/.test(text));
  const bytes = fc.uint8Array({ maxLength: 300 });
  const parts = fc.array(fc.tuple(name, fc.oneof(value, bytes)), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(parts, fc.integer({ min: 1, max: 200 }), async (given, size) => {
      const form = new FormData();
      for (const [field, content] of given) {
        if (typeof content === "string") form.append(field, content);
        else form.append(field, new Blob([new Uint8Array(content)]), 'größe;\u00e9 "x".png');
      }
      const written = new Response(form);
      const type = written.headers.get("content-type") ?? "";
      const body = Buffer.from(await written.bytes()).toString("latin1");
      const limits = { maxFields: 10, maxFiles: 10 };
      const { said } = await read(request(inPieces(body, size), type), { limits });
      const texts = given.filter(([, content]) => typeof content === "string");
      const files = given.filter(([, content]) => typeof content !== "string");
      expect(said).toEqual({
        fields: texts.map(([field, content]) => ({ name: field, value: String(content) })),
        files: files.map(([field, content]) => ({
          field,
          value: Buffer.from(content as Uint8Array).toString("latin1"),
        })),
      });
    }),
    { numRuns: 150 },
  );
});

const boundaries: [type: string, boundary: string][] = [
  ["multipart/form-data; boundary=B", "B"],
  ["Multipart/Form-Data ; charset=utf-8 ; Boundary=B;", "B"],
  ['multipart/form-data; boundary="a b:c=d?e"', "a b:c=d?e"],
  ["multipart/form-data; boundary====1==", "===1=="],
  [`multipart/form-data; boundary=${"x".repeat(70)}`, "x".repeat(70)],
];
test.each(boundaries)("%s is a form", async (type, boundary) => {
  const body = (named("a", "1") + END).replaceAll("--B", `--${boundary}`);
  expect(await read(request(body, type))).toEqual(fields(["a", "1"]));
});

const refusedTypes: [type: string, said: RegExp][] = [
  ["", /^unsupported_media_type: Content-Type must be multipart\/form-data\.$/],
  ["application/json", /^unsupported_media_type: .*, got "application\/json"\.$/],
  ["multipart/mixed; boundary=B", /^unsupported_media_type: /],
  ["multipart/form-data", /^invalid_request: Content-Type must name one boundary\.$/],
  ["multipart/form-data; boundary=", /^invalid_request: .*must name one boundary/],
  ["multipart/form-data; boundary=B; boundary=C", /^invalid_request: .*must name one boundary/],
  ['multipart/form-data; boundary="B', /^invalid_request: .*must name one boundary/],
  [`multipart/form-data; boundary=${"x".repeat(71)}`, /^invalid_request: .*71 characters.*at most 70/],
  ["multipart/form-data; boundary=a<b>", /^invalid_request: .*must be of letters/],
  ['multipart/form-data; boundary="a "', /^invalid_request: .*must be of letters/],
];
test.each(refusedTypes)('the Content-Type "%s" is refused', async (type, said) => {
  expect((await read(request(named("a", "1") + END, type))).said).toMatch(said);
});

test("an encoded body is refused", async () => {
  const gzip = request(named("a", "1") + END, TYPE, { "Content-Encoding": "gzip" });
  expect((await read(gzip)).said).toMatch(/^unsupported_media_type: Content-Encoding "gzip"/);
});

const disposition = "Content-Disposition: form-data";
const taken: [what: string, body: string, outcome: ReturnType<typeof fields>][] = [
  ["a form without parts", END, fields()],
  ["an empty line before the first boundary", `\r\n${named("a", "1")}${END}`, fields(["a", "1"])],
  ["text before the first boundary", `hello\r\n${named("a", "1")}${END}`, fields(["a", "1"])],
  ["anything after the last boundary", `${named("a", "1")}${END}${named("b", "2")}`, fields(["a", "1"])],
  ["a form without a last line end", named("a", "1") + END.trim(), fields(["a", "1"])],
  ["spaces after a boundary", named("a", "1").replace("--B", "--B \t") + END, fields(["a", "1"])],
  ["a name without quotes", part(`${disposition}; name=a`, "1") + END, fields(["a", "1"])],
  ["an escaped quote in a name", part(`${disposition}; name="a\\"b"`, "1") + END, fields(['a"b', "1"])],
  ["headers nobody knows", part(`X-a: b\r\n${disposition}; name="a"`, "1") + END, fields(["a", "1"])],
  ["UTF-8 in names and values", named("\xc3\xa9", "\xe2\x82\xac") + END, fields(["é", "€"])],
  [
    "a type and a charset of UTF-8",
    part(`${disposition}; name="a"\r\nContent-Type: text/plain; charset="UTF-8"`, "1") + END,
    fields(["a", "1"]),
  ],
  [
    "Content-Transfer-Encoding: binary",
    part(`${disposition}; name="a"\r\ncontent-transfer-encoding: Binary`, "1") + END,
    fields(["a", "1"]),
  ],
];
test.each(taken)("%s is taken", async (_, body, outcome) => {
  expect(await read(request(body))).toEqual(outcome);
});

const withHeader = (...headers: string[]) =>
  part([`${disposition}; name="a"`, ...headers].join("\r\n"), "1") + END;
const malformed: [what: string, body: string, said: RegExp][] = [
  ["an empty body", "", /^invalid_request: (The body is empty|The form ends before its last boundary)/],
  ["a body without a boundary", "x".repeat(90), /^invalid_request: The form ends before its last boundary/],
  [
    "a long body of something else",
    "x".repeat(900),
    /^invalid_request: The body does not start with the boundary/,
  ],
  ["a form without a last boundary", named("a", "1"), /^invalid_request: The form ends before its last/],
  ["a form cut in a header", named("a", "1").slice(0, 20), /^invalid_request: The form ends before its last/],
  ["a form cut in a field", named("a", "1").slice(0, -3), /^invalid_request: The form ends before its last/],
  ["a form cut in a file", file("a", "123").slice(0, -3), /^invalid_request: The form ends before its last/],
  ["a form cut in its last boundary", `${named("a", "1")}--B-`, /^invalid_request: The form ends before/],
  ["lines ended by LF alone", (named("a", "1") + END).replaceAll("\r", ""), /^invalid_request: /],
  ["a boundary that goes on", named("a", "1").replace("--B", "--Bx") + END, /Part 1 .* a line of its own/],
  ["a part without headers", `--B\r\n\r\n1\r\n${END}`, /Part 1 .*no Content-Disposition/],
  ["a part without a blank line", `--B\r\n${disposition}; name="a"\r\n${END}`, /^invalid_request: /],
  ["a long header", withHeader(`X: ${"x".repeat(500)}`), /Part 1 .* header of more than 500 bytes/],
  ["an endless header", `--B\r\nX: ${"x".repeat(99_000)}`, /Part 1 .* header of more than 500 bytes/],
  ["a line that is no header", withHeader("hello"), /Part 1 .*malformed header/],
  ["a header over two lines", withHeader("X: a", " b"), /Part 1 .*malformed header/],
  ["a header without a name", withHeader(": a"), /Part 1 .*malformed header/],
  ["a header twice", withHeader(`${disposition}; name="b"`), /Part 1 .*header twice/],
  ["another disposition", part('Content-Disposition: attachment; name="a"', "1") + END, /no Content-Disp/],
  ["a malformed disposition", part(`${disposition}; name="a`, "1") + END, /malformed Content-Disposition/],
  ["two names", part(`${disposition}; name="a"; name="b"`, "1") + END, /malformed Content-Disposition/],
  ["no name", part(disposition, "1") + END, /Part 1 of the form has no name/],
  ["a file without a name", part(`${disposition}; filename="a"`, "1") + END, /Part 1 .*no name/],
  ["an empty name", named("a", "1") + named("", "1") + END, /Part 2 of the form has no name/],
  ["NUL in a name", named("a\0b", "1") + END, /Part 1 .*malformed header/],
  ["a bare CR in a name", named("a\rb", "1") + END, /Part 1 .*malformed header/],
  ["CR and LF in a name", named("a\r\nb", "1") + END, /Part 1 .*malformed header/],
  ["a name that is not UTF-8", named("\xff", "1") + END, /Part 1 .*name that is not valid UTF-8/],
  ["a value that is not UTF-8", named("a", "\xff\xfe") + END, /Field "a" is not valid UTF-8/],
  ["NUL in a value", named("a", "1\x002") + END, /Field "a" contains a NUL/],
];
test.each(malformed)("%s is refused", async (_, body, said) => {
  const { said: first } = await read(request(body));
  expect(first).toMatch(/^invalid_request: /);
  expect(first).toMatch(said);
  if (body !== "") expect((await read(request(inPieces(body, 7)))).said).toBe(first);
});

const unsupported: [what: string, headers: string[], said: RegExp][] = [
  ["a form in a form", ["Content-Type: multipart/mixed; boundary=C"], /Part 1 of the form is a form itself/],
  ["another charset", ["Content-Type: text/plain; charset=utf-16"], /charset "utf-16", where UTF-8/],
  ["base64", ["Content-Transfer-Encoding: base64"], /Content-Transfer-Encoding "base64"/],
  ["quoted-printable", ["Content-Transfer-Encoding: quoted-printable"], /Content-Transfer-Encoding/],
];
test.each(unsupported)("a part in %s is not supported", async (_, headers, said) => {
  const { said: refusal } = await read(request(withHeader(...headers)));
  expect(refusal).toMatch(/^unsupported_media_type: /);
  expect(refusal).toMatch(said);
});

test.each(['filename="\xff;\xfe"', 'filename=""', "filename*=UTF-8''a%20b"])(
  "a part with %s is a file, whatever its name and charset",
  async (name) => {
    const body = part(`${disposition}; name="a"; ${name}\r\nContent-Type: text/html; charset=utf-16`, "\xff");
    expect((await read(request(body + END))).said).toEqual({
      fields: [],
      files: [{ field: "a", value: "\xff" }],
    });
  },
);
