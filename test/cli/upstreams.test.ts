import { afterAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mergeDocuments, withInlineExamples, withoutNullable } from "../../cli/dev/published-documents.ts";
import { emptyFolder } from "./support.ts";

const SCRIPT = join(import.meta.dir, "../../cli/dev/upstreams.ts");

const stops: (() => void)[] = [];
afterAll(() => {
  for (const stop of stops) stop();
});

/** Runs the script against answers by host, with everything else missing. */
async function upstreams(answers: Readonly<Record<string, (path: string) => Response>>) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      const [, host = "", ...rest] = pathname.split("/");
      return answers[host]?.(`/${rest.join("/")}${search}`) ?? new Response("not found", { status: 404 });
    },
  });
  stops.push(() => void server.stop(true));
  const folder = emptyFolder();
  const command = [process.execPath, SCRIPT, "--from", `http://127.0.0.1:${server.port}`, "--to", folder];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe", stdin: "ignore" });
  const [said, exitCode] = await Promise.all([child.stderr.text(), child.exited]);
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8"));
  return { said, exitCode, folder, read };
}

const document = (paths: object, schemas: object = {}) =>
  Response.json({ openapi: "3.1.0", paths, components: { schemas } });

test("what is published is written, and the rest is named with its reason", async () => {
  const { exitCode, said, read, folder } = await upstreams({
    "api.bfl.ai": () => document({ "/v1/flux": {} }),
    "api.replicate.com": () => new Response("<html>maintenance</html>"),
  });
  expect(exitCode).toBe(0);
  expect(read("bfl/openapi.json").paths).toEqual({ "/v1/flux": {} });
  expect(said).toContain("fetched  bfl/openapi.json\n");
  expect(said).toMatch(/failed {3}replicate\/openapi\.json: https:\/\/api\.replicate\.com\/openapi\.json: /);
  expect(said).toContain("ideogram.ai/openapi.json: HTTP 404");
  expect(readdirSync(folder)).toEqual(["bfl"]);
  expect(readdirSync(join(folder, "bfl"))).toEqual(["openapi.json"]);
});

test("YAML is kept as JSON", async () => {
  const { read } = await upstreams({
    "external.api.recraft.ai": () => new Response("openapi: 3.0.3\npaths:\n  /v1/images: {}\n"),
  });
  expect(read("recraft/openapi.json")).toEqual({ openapi: "3.0.3", paths: { "/v1/images": {} } });
});

test("the endpoints of fal's models become one document", async () => {
  const asked: string[] = [];
  const { read } = await upstreams({
    "fal.ai": (path) => {
      const id = new URLSearchParams(path.split("?")[1]).get("endpoint_id") ?? "";
      asked.push(id);
      return document({ [`/${id}`]: {} });
    },
  });
  expect(asked).toContain("fal-ai/flux/schnell");
  expect(Object.keys(read("fal/openapi.json").paths).sort()).toEqual(asked.map((id) => `/${id}`).sort());
});

test("when nothing can be had, the exit code says so and no file is left", async () => {
  const { exitCode, folder } = await upstreams({});
  expect(exitCode).toBe(1);
  expect(existsSync(folder)).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});

test("schemas of the same name that differ are kept apart", () => {
  const one = {
    openapi: "3.1.0",
    paths: { "/a": { $ref: "#/components/schemas/In" } },
    components: { schemas: { In: { type: "string" } } },
  };
  const other = {
    openapi: "3.1.0",
    paths: { "/b": { $ref: "#/components/schemas/In" } },
    components: { schemas: { In: { type: "number" } } },
  };
  const merged = mergeDocuments([one, other]);
  expect(merged.paths).toEqual({
    "/a": { $ref: "#/components/schemas/In" },
    "/b": { $ref: "#/components/schemas/In2" },
  });
  expect(merged.components?.schemas).toEqual({ In: { type: "string" }, In2: { type: "number" } });
});

test("examples of OpenAI's own field are moved to where OpenAPI has them", () => {
  const moved = withInlineExamples({
    openapi: "3.1.0",
    paths: {
      "/images/generations": {
        post: {
          responses: { "200": { content: { "application/json": {}, "text/event-stream": {} } } },
          "x-oaiMeta": {
            examples: [
              { title: "Generate image", response: '{"created":1}' },
              { title: "Streaming", response: "event: image_generation.completed\n" },
            ],
          },
        },
      },
    },
  });
  expect(moved.paths["/images/generations"]).toMatchObject({
    post: {
      responses: {
        "200": {
          content: {
            "application/json": { examples: { "generate-image": { value: { created: 1 } } } },
            "text/event-stream": {
              examples: { "streaming-1": { value: "event: image_generation.completed\n" } },
            },
          },
        },
      },
    },
  });
});

test("a nullable schema becomes one that JSON Schema knows", () => {
  const of = (property: object) => ({ properties: { nullable: { type: "string" }, size: property } });
  expect(withoutNullable(of({ type: "string", nullable: true }))).toEqual(
    of({ anyOf: [{ type: "string" }, { type: "null" }] }),
  );
  expect(withoutNullable(of({ type: "string", nullable: false }))).toEqual(of({ type: "string" }));
});
