import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import fc from "fast-check";
import { typeOf } from "../../console/screens/playground/files.ts";
import { type ModelInFull, placeFor, requestOf, sketchOf } from "../../console/screens/playground/request.ts";
import { findingsOf, type Rule, sentenceOf } from "../../console/screens/playground/schema.ts";
import type { Snippet } from "../../console/screens/playground/snippet-parts.ts";
import { snippetsOf } from "../../console/screens/playground/snippets.ts";
import { type PublishedService, startPublished } from "../http/openapi-service.ts";

const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const HOSTILE = "It's \"$HOME\" `id` \\ 'END'\n${1} </script> \u202e\u2066 émoji 🦊";

let service: PublishedService;
let models: ModelInFull[];
beforeAll(async () => {
  service = await startPublished();
  const read = async (path: string) => {
    const response = await fetch(service.url + path, { headers: { Authorization: `Bearer ${service.key}` } });
    return ((await response.json()) as { data: unknown }).data;
  };
  const { models: listed } = (await read("/v1/models?all=true")) as { models: { id: string }[] };
  models = await Promise.all(
    listed.map(async ({ id }) => (await read(`/v1/models/${id}?all=true`)) as ModelInFull),
  );
});
afterAll(() => service?.stop());

const modelOf = (id: string) => models.find((model) => model.id === id) as ModelInFull;

describe("what the form says of a request", () => {
  test("is what a validator says, for requests of every model of the catalogue", () => {
    const ajv = new Ajv2020({
      strict: false,
      allErrors: false,
      formats: { uri: (text: string) => URL.canParse(text) },
    });
    expect(models.length).toBeGreaterThan(100);
    for (const { id, schema } of models) {
      const isValid = ajv.compile(schema as object);
      fc.assert(
        fc.property(bodies(schema), (body) => {
          const given = { model: id, ...body };
          expect([given, findingsOf(schema, given)]).toEqual([
            given,
            isValid(given) ? [] : expect.arrayContaining([expect.anything()]),
          ]);
        }),
        { numRuns: 12, seed: 7 },
      );
    }
  });

  test("names the field and what it must be, in the model's own words where it has some", () => {
    const said = (body: object) =>
      findingsOf(modelOf("sandbox-image").schema, { model: "sandbox-image", ...body }).map((finding) => [
        finding.param,
        sentenceOf(finding),
      ]);
    expect(said({})).toEqual([["prompt", "prompt is needed."]]);
    expect(said({ prompt: "x", n: 11 })).toEqual([["n", "n must be from 1 to 10."]]);
    expect(said({ prompt: "x", n: "2x" })).toEqual([["n", "n must be a whole number from 1 to 10."]]);
    expect(said({ prompt: "x", size: "64x64", aspect_ratio: "1:1" })).toEqual([
      ["aspect_ratio", "Give size or aspect_ratio with resolution, not both."],
    ]);
    expect(said({ prompt: "x", sandbox: { error_code: "UPSTREAM_ERROR" } })).toEqual([
      ["sandbox.error_code", 'sandbox.error_code is valid only together with sandbox.outcome "failed".'],
    ]);
    expect(said({ prompt: "x", image_urls: ["https://a.example/a.png", "b"] })).toEqual([
      [
        "image_urls[1]",
        "image_urls[1] must be an https URL, a base64 data URI, or the id of an uploaded file.",
      ],
    ]);
  });

  test("for a model that is compared leaves out what it has not, or has not like this", () => {
    const values = { prompt: "x", resolution: "2K", size: "64x64", n: 3, duration: 4, unknown: "" };
    const { body, leftOut } = requestOf(modelOf("sandbox-video"), values, true);
    expect(body).toEqual({ model: "sandbox-video", prompt: "x", n: 3, duration: 4 });
    expect([...leftOut].sort()).toEqual(["resolution", "size"]);
  });

  test("takes a result in a field of a preferred model, of the first that has one, or not at all", () => {
    const model = (id: string, ...inputs: readonly (readonly [string, string, "image" | "video"])[]) => ({
      id,
      inputs: inputs.map(([field, role, media]) => ({ field, role, media })),
    });
    const listed = [
      model("text"),
      model("masked", ["mask_url", "mask", "image"], ["image_url", "image", "image"]),
      model("frames", ["first", "first_frame", "image"]),
    ];
    const places = [["text", "frames"], ["text"], ["gone"]].map((ids) => placeFor("image", listed, ids));
    expect(places.map((place) => `${place?.model}.${place?.field}`)).toEqual([
      ...["frames.first", "masked.image_url", "masked.image_url"],
    ]);
    expect(placeFor("video", listed, ["frames"])).toBeUndefined();
  });

  test("goes to the price without the content of files", () => {
    const long = `data:image/png;base64,${"A".repeat(2_000_000)}`;
    expect(sketchOf({ image_url: long, image_urls: [long], prompt: "p".repeat(4_000) })).toEqual({
      ...{ image_url: "data:image/png;base64,AAAA", image_urls: ["data:image/png;base64,AAAA"] },
      prompt: "p".repeat(4_000),
    });
  });

  test("tells files by their first bytes", () => {
    const of = (text: string) => typeOf(Uint8Array.from(text, (character) => character.charCodeAt(0)));
    expect(of("\x89PNG\r\n\x1a\n")).toBe("image/png");
    expect(of("\0\0\0\x18ftypheic")).toBe("image/heic");
    expect(of("\0\0\0\x18ftypisom")).toBe("video/mp4");
    expect(of("\0\0\0\x18ftypM4A ")).toBe("audio/mp4");
    expect(of("<svg>")).toBeUndefined();
  });
});

/** Bodies of a schema's fields: right and wrong values, some of them, in any combination. */
function bodies(schema: Rule) {
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => name !== "model");
  return fc
    .record(Object.fromEntries(fields.map(([name, rule]) => [name, valuesOf(rule)])), { requiredKeys: [] })
    .map((body) => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)));
}

function valuesOf(rule: Rule): fc.Arbitrary<unknown> {
  if (rule.enum !== undefined) return fc.constantFrom(...rule.enum, "no such value");
  if (rule.type === "boolean") return fc.boolean();
  if (rule.type === "integer" || rule.type === "number") {
    const { minimum = 0, maximum = 10 } = rule;
    return fc.constantFrom(minimum, maximum, minimum - 1, maximum + 1, (minimum + maximum) / 2, "1");
  }
  if (rule.type === "array")
    return fc.array(valuesOf(rule.items ?? {}), { maxLength: Math.min(12, (rule.maxItems ?? 4) + 1) });
  if (rule.type === "object" && rule.properties !== undefined) return bodies(rule);
  const right = [...(rule.examples ?? []), "https://a.example/a.png"];
  return fc.constantFrom(...right, ...right, "", "a b", "x".repeat((rule.maxLength ?? 10) + 1));
}

describe("a request as code", () => {
  const FILES = new Map([[PNG, "It's a ../picture; rm.png"]]);
  const asCode = (id: string, body: object): readonly Snippet[] =>
    snippetsOf({
      ...{ root: `${service.url}/`, kind: modelOf(id).kind, inputs: modelOf(id).inputs, names: FILES },
      body: { model: id, ...body },
    });
  const textOf = (snippets: readonly Snippet[], title: string) =>
    snippets.find((each) => each.title === title)?.text ?? "";
  const BODIES: Readonly<Record<string, object>> = {
    plain: { prompt: HOSTILE, n: 2, size: "64x64", seed: 7, sandbox: { delay_ms: 0, outputs_lost: false } },
    "with files": { prompt: HOSTILE, image_urls: [PNG, PNG], mask_url: PNG, size: "64x64" },
    "with a dash": { prompt: "--help", size: "64x64" },
  };
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "svc-snippets-"));
    await Bun.write(join(folder, "It-s-a-picture-rm.png"), Buffer.from(PNG.split(",")[1] ?? "", "base64"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function run(command: readonly string[]): Promise<string> {
    const child = Bun.spawn([...command], {
      ...{ cwd: folder, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
      env: { PATH: process.env.PATH ?? "", HOME: folder, SVC_API_KEY: service.key, NO_COLOR: "1" },
    });
    const [out, trouble, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    expect([command.at(-1), exitCode, exitCode === 0 ? "" : trouble + out]).toEqual([command.at(-1), 0, ""]);
    return out;
  }

  /** The prompt and the inputs that the service has got. */
  async function received(out: string) {
    const [id] = /task_[0-9a-z]{26}/.exec(out) ?? [out];
    const path = `${service.url}/v1/tasks/${id}`;
    const response = await fetch(path, { headers: { Authorization: `Bearer ${service.key}` } });
    const { data } = (await response.json()) as {
      data: { request: { prompt: string; inputs: { field: string }[]; n: number } };
    };
    return {
      prompt: data.request.prompt,
      inputs: data.request.inputs.map(({ field }) => field),
      n: data.request.n,
    };
  }

  test.each(Object.entries(BODIES))("reaches the service as it is: %s", async (_, body) => {
    const { prompt, n = 1, ...rest } = body as { prompt: string; n?: number; image_urls?: unknown };
    const inputs = rest.image_urls === undefined ? [] : ["image_urls[0]", "image_urls[1]", "mask_url"];
    const snippets = asCode("sandbox-image", body);
    const svc = `svc() { ${process.execPath} ${join(import.meta.dir, "../../cli/main.ts")} "$@" --field task_id; }\n`;
    await Bun.write(join(folder, "ask.mjs"), logging(textOf(snippets, "JavaScript")));
    const outs = await Promise.all([
      run(["bash", "-c", textOf(snippets, "curl")]),
      run(["bash", "-c", svc + textOf(snippets, "svc")]),
      run([process.execPath, "ask.mjs"]),
    ]);
    for (const out of outs) expect(await received(out)).toEqual({ prompt, n, inputs });
  });

  /** Python's package as far as the snippet uses it. */
  const REQUESTS = `import json, urllib.parse, urllib.request
class Answer:
    ok = True
    def __init__(self, text): self.text = text
    def json(self): return json.loads(self.text)
class Session:
    def __init__(self): self.headers = {}
    def request(self, method, url, json=None, params={}):
        url += "?" + urllib.parse.urlencode(params)
        body = None if json is None else globals()["json"].dumps(json).encode()
        headers = {**self.headers, "Content-Type": "application/json"}
        asked = urllib.request.Request(url, body, headers, method=method)
        return Answer(urllib.request.urlopen(asked).read())
`;

  test.skipIf(Bun.which("python3") === null)("is Python that reaches the service, too", async () => {
    await Bun.write(join(folder, "requests.py"), REQUESTS);
    for (const [name, body] of Object.entries(BODIES)) {
      const { prompt } = body as { prompt: string };
      const text = `${textOf(asCode("sandbox-image", body), "Python")}\nprint(made["task_id"])\n`;
      const { prompt: got } = await received(await run(["python3", "-c", text]));
      expect([name, got]).toEqual([name, prompt]);
    }
  });

  /** The id of the task is not what the code prints; here it is needed. */
  const logging = (text: string) => text.replace("let task;", "console.log(task_id);\nlet task;");

  test.skipIf(Bun.which("python3") === null)("is Python that can be read", async () => {
    const all = Object.values(BODIES).flatMap((body) => asCode("sandbox-image", body));
    for (const { title, text } of all.filter(({ title }) => title.includes("Python")))
      expect([
        title,
        await run(["python3", "-c", "import ast, sys; ast.parse(sys.argv[1]); print('read')", text]),
      ]).toEqual([title, "read\n"]);
  });

  test("is JavaScript that can be read, for the client library too", () => {
    for (const body of Object.values(BODIES))
      for (const { title, text } of asCode("sandbox-image", body).filter(({ title }) =>
        title.includes("JavaScript"),
      ))
        expect([title, new Bun.Transpiler({ loader: "js" }).transformSync(text).length > 0]).toEqual([
          title,
          true,
        ]);
  });

  test("is offered for client libraries where they can send it: pictures only as files, no videos", () => {
    const titles = (id: string, body: object) => asCode(id, body).map(({ title }) => title);
    const all = ["curl", "JavaScript", "Python", "openai (JavaScript)", "openai (Python)", "svc"];
    expect(titles("sandbox-image", { prompt: "x" })).toEqual(all);
    expect(titles("sandbox-image", { prompt: "x", image_url: PNG })).toEqual(all);
    const plain = ["curl", "JavaScript", "Python", "svc"];
    expect(titles("sandbox-image", { prompt: "x", image_url: "https://a.example/a.png" })).toEqual(plain);
    expect(titles("sandbox-video", { prompt: "x" })).toEqual(plain);
  });

  test("never has the key, nor a character that hides what it says", () => {
    for (const { title, text } of asCode("sandbox-image", { prompt: HOSTILE })) {
      expect([title, text.includes(service.key)]).toEqual([title, false]);
      if (title !== "svc") expect([title, /[\u202a-\u202e\u2066-\u2069]/.test(text)]).toEqual([title, false]);
    }
  });
});
