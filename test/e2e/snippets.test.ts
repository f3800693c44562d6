import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { SNIPPETS } from "../../src/snippets/all.ts";
import type { Snippet } from "../../src/snippets/snippet.ts";
import {
  cleanEnvironment,
  emptyFolder,
  type Server,
  SVC,
  startServer,
  stopServers,
} from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { arranged, svc, svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(stopServers);

const PNG = [0x89, 0x50, 0x4e, 0x47];
const of = (...languages: Snippet["language"][]) =>
  SNIPPETS.filter(({ language }) => languages.includes(language)).map(({ id }) => id);

/** What the command prints for a program, with the key in it or without. */
async function snippet(id: string, withSecret = false): Promise<string> {
  const args = ["keys", "snippet", "default", "--for", id, "--data-dir", server.dataDir, "--url", server.url];
  const env = withSecret ? { SVC_API_KEY: server.firstKey() } : {};
  const { exitCode, stdout, stderr } = await svc([...args, ...(withSecret ? ["--with-secret"] : [])], {
    env,
  });
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringContaining(String(SNIPPETS.find((each) => each.id === id)?.place)),
  ]);
  return stdout;
}

/** Runs a text in a folder where libraries and the program are installed. @returns what it printed */
async function run(
  command: readonly string[],
  { name, text, env = {} }: { name: string; text: string; env?: Record<string, string> },
) {
  const folder = emptyFolder("snippet");
  symlinkSync(join(import.meta.dir, "../../node_modules"), join(folder, "node_modules"));
  mkdirSync(join(folder, "bin"));
  symlinkSync(SVC, join(folder, "bin/svc"));
  writeFileSync(join(folder, name), text);
  const child = Bun.spawn([...command, name], {
    cwd: folder,
    env: cleanEnvironment({
      PATH: `${join(folder, "bin")}:${dirname(process.execPath)}:${process.env.PATH}`,
      ...env,
    }),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, trouble] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect([await child.exited, trouble]).toEqual([0, expect.any(String)]);
  return { folder, out };
}

const languageOf = (id: string) => SNIPPETS.find((each) => each.id === id)?.language ?? "text";
const PARSERS: Partial<Record<Snippet["language"], (text: string) => unknown>> = {
  json: JSON.parse,
  toml: Bun.TOML.parse,
  yaml: Bun.YAML.parse,
};

/** The variable with the key as each program has it, replaced by the key, as the program does. */
const expanded = (text: string) =>
  text.replace(
    /\$?\{+ ?(?:env:|input:|secrets\.)?(?:SVC_API_KEY|svc-api-key) ?\}+|\$SVC_API_KEY|YOUR_SVC_API_KEY/g,
    server.firstKey(),
  );
const PYTHON = Bun.which("python3");
const withKey = () => ({ SVC_API_KEY: server.firstKey() });

describe.each(["from the variable", "from the text"])("with the key %s", (from) => {
  const isInText = from === "from the text";
  const env = () => (isInText ? {} : withKey());

  test.concurrent.each(of("js"))("the code for %s makes a picture", async (id) => {
    const { folder } = await run([process.execPath], {
      name: "snippet.mjs",
      text: await snippet(id, isInText),
      env: env(),
    });
    expect([...readFileSync(join(folder, "lighthouse.png")).subarray(0, 4)] as unknown).toEqual(PNG);
  });

  test.concurrent("the command of curl answers the picture's address", async () => {
    const { out } = await run(["sh"], {
      name: "snippet.sh",
      text: await snippet("curl", isInText),
      env: env(),
    });
    const { data } = JSON.parse(out) as { data: { url: string }[] };
    expect((await fetch(String(data[0]?.url))).headers.get("content-type")).toBe("image/png");
  });

  test.concurrent("the commands of svc save a picture", async () => {
    const { folder } = await run(["sh"], {
      name: "snippet.sh",
      text: await snippet("svc", isInText),
      env: env(),
    });
    expect([...readFileSync(join(folder, "lighthouse.png")).subarray(0, 4)] as unknown).toEqual(PNG);
  });

  test.concurrent("the settings for Claude Desktop start a program that has the tools", async () => {
    const { mcpServers } = JSON.parse(expanded(await snippet("mcp-claude-desktop", isInText)));
    const {
      command,
      args,
      env: variables,
    } = mcpServers.svc as { command: "svc"; args: string[]; env: Record<string, string> };
    expect(command).toBe("svc");
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({ command: SVC, args, env: cleanEnvironment(variables), stderr: "ignore" }),
    );
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("generate_image");
    await client.close();
  });

  test.concurrent.each(of("json", "toml", "yaml").filter((id) => id !== "mcp-claude-desktop"))(
    "the settings for %s lead an agent to the tools",
    async (id) => {
      const text = await snippet(id, isInText);
      const { url, authorization } = serverIn(PARSERS[languageOf(id)]?.(text));
      if (isInText && id !== "mcp-codex") expect(authorization).toBe(`Bearer ${server.firstKey()}`);
      const requestInit = { headers: { Authorization: expanded(authorization) } };
      const client = new Client({ name: "test", version: "1" });
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }) as never);
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain("generate_image");
      await client.close();
    },
  );

  test.concurrent("the settings for SillyTavern list the model and draw", async () => {
    const text = expanded(await snippet("sillytavern", isInText));
    const [, url, auth, model] = /URL:\s+(\S+)\nAuthentication:\s+(\S+)\nModel:\s+(\S+)/.exec(text) ?? [];
    const headers = { Authorization: `Basic ${btoa(String(auth))}`, "Content-Type": "application/json" };
    const models = (await (await fetch(`${url}/sdapi/v1/sd-models`, { headers })).json()) as {
      title: string;
    }[];
    expect(models.map(({ title }) => title)).toContain(String(model));
    const body = JSON.stringify({
      prompt: "x",
      width: 64,
      height: 64,
      override_settings: { sd_model_checkpoint: model },
    });
    const made = await fetch(`${url}/sdapi/v1/txt2img`, { method: "POST", headers, body });
    expect(((await made.json()) as { images: string[] }).images).toHaveLength(1);
  });

  test.concurrent.each(of("env", "text").filter((id) => id !== "sillytavern"))(
    "the settings for %s have an address that takes the key and the model",
    async (id) => {
      const text = expanded(await snippet(id, isInText));
      const base = /http\S+/.exec(text)?.[0] ?? "";
      const key = /sk-svc-\w+/.exec(text)?.[0] ?? "";
      const { status, body } = await createApi(base.replace("/compat/v1", ""), key).send(
        "/compat/v1/images/generations",
        {
          method: "POST",
          body: JSON.stringify({ model: /sandbox-image/.exec(text)?.[0], prompt: "x", size: "64x64" }),
          headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        },
      );
      expect([status, (body as { data?: unknown[] }).data?.length]).toEqual([200, 1]);
    },
  );
});

describe("of a key for videos alone", () => {
  const film = (id: string) => ["keys", "snippet", "films", "--for", id, ...at()];
  const at = () => ["--data-dir", server.dataDir, "--url", server.url];
  let key = "";
  beforeAll(async () => {
    const limited = ["keys", "create", "--name", "films", "--models", "sandbox-vid*"];
    const made = (await arranged([...limited, "--data-dir", server.dataDir])) as { key: string };
    ({ key } = made);
  });

  const makes = (language: Snippet["language"]) =>
    SNIPPETS.filter((each) => each.language === language && each.film !== undefined).map(({ id }) => id);

  test.concurrent.each([...makes("js"), "svc"])("what %s is told makes a film", async (id) => {
    const { stdout } = await svc(film(id));
    const [command, name] = id === "svc" ? ["sh", "snippet.sh"] : [process.execPath, "snippet.mjs"];
    const { folder } = await run([command], { name, text: stdout, env: { SVC_API_KEY: key } });
    expect(readFileSync(join(folder, "lighthouse.mp4")).subarray(4, 8).toString()).toBe("ftyp");
  });

  test.concurrent("the command of curl begins a film, whose place is told", async () => {
    const { stdout, stderr } = await svc(film("curl"));
    expect(stderr).toContain("/compat/v1/videos/ID/content");
    const { out } = await run(["sh"], { name: "snippet.sh", text: stdout, env: { SVC_API_KEY: key } });
    expect(JSON.parse(out)).toMatchObject({ object: "video", model: "sandbox-video" });
  });

  test.skipIf(PYTHON === null).each(makes("python"))("the code for %s is Python", async (id) => {
    const { stdout } = await svc(film(id));
    await run(["python3", "-m", "py_compile"], { name: "snippet.py", text: stdout });
  });

  test("is refused for a program that makes pictures alone", async () => {
    const { exitCode, stderr } = await svc(film("open-webui"));
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining("Open WebUI makes pictures alone, and sandbox-video makes videos."),
    ]);
    const asked = await svcJson([...film("open-webui"), "--model", "sandbox-image"]);
    expect(asked).toMatchObject({ model: "sandbox-image" });
  });
});

test.skipIf(PYTHON === null).each(of("python"))("the code for %s is Python", async (id) => {
  for (const isInText of [true, false])
    await run(["python3", "-m", "py_compile"], { name: "snippet.py", text: await snippet(id, isInText) });
});

/** The address and the header of the one server in an agent's settings, wherever they stand there. */
function serverIn(settings: unknown): { url: string; authorization: string } {
  const texts = new Map<string, string>();
  JSON.stringify(settings, (name, value: unknown) => {
    if (typeof value === "string") texts.set(name, value);
    return value;
  });
  const variable = texts.get("bearer_token_env_var");
  return {
    url: texts.get("url") ?? texts.get("httpUrl") ?? "",
    authorization: texts.get("Authorization") ?? `Bearer $${variable}`,
  };
}

describe("svc keys snippet", () => {
  const local = (...args: string[]) => ["keys", "snippet", ...args, "--data-dir", server.dataDir];

  test("takes no other key's secret, and none where there is none", async () => {
    const other = (await arranged(["keys", "create", "--name", "other", "--data-dir", server.dataDir])) as {
      key: string;
    };
    const tries = [{}, { SVC_API_KEY: other.key }].map((env) =>
      svc(local("default", "--for", "curl", "--with-secret"), { env }),
    );
    const [none, wrong] = await Promise.all(tries);
    expect([none?.exitCode, none?.stderr]).toEqual([2, expect.stringContaining("SVC_API_KEY is not set")]);
    expect([wrong?.exitCode, wrong?.stderr]).toEqual([
      2,
      expect.stringContaining("another key than default"),
    ]);
    expect(`${wrong?.stdout}${wrong?.stderr}`).not.toContain(other.key);
  });

  test("has a model that the key may use", async () => {
    await svcJson([
      "keys",
      "create",
      "--name",
      "narrow",
      "--models",
      "flux-*,flux-dev",
      "--data-dir",
      server.dataDir,
    ]);
    expect(await svcJson(local("narrow", "--for", "curl"))).toMatchObject({ model: "flux-dev" });
    const wide = ["keys", "create", "--name", "wide", "--models", "flux-*"];
    await svcJson([...wide, "--data-dir", server.dataDir]);
    expect(await svcJson(local("wide", "--for", "curl"))).toMatchObject({
      model: expect.stringMatching(/^flux-/),
    });
    expect(await svcJson(local("narrow", "--for", "curl", "--model", "veo3"))).toMatchObject({
      model: "veo3",
    });
  });
});

test("/docs/clients has every program whose API is spoken, with this address and no script", async () => {
  const page = await fetch(`${server.url}/docs/clients`);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  const html = await page.text();
  const ids = [...html.matchAll(/<h2 id="([\w-]+)"/g)].map(([, id]) => String(id));
  expect(ids).toEqual(SNIPPETS.map(({ id }) => id));
  expect(html).toContain(`-s ${server.url}/compat/v1/images/generations`);
  expect(html).not.toContain("<script");
  const silent = await startServer({ args: ["--facades", "none"] });
  const rest = await (await fetch(`${silent.url}/docs/clients`)).text();
  expect(rest).not.toMatch(/id="(?:mcp-|genai|fal|replicate|sillytavern)/);
  expect(rest).toContain('id="curl"');
});
