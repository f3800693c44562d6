import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "../../src/domain/json.ts";
import { png } from "../helpers/media.ts";
import {
  cleanEnvironment,
  emptyFolder,
  type Server,
  SVC,
  startServer,
  stopServers,
} from "../helpers/server.ts";
import { type Agent, ask, calledOf, connectAgent } from "../http/facades/mcp/agent.ts";
import { arranged } from "./support/command.ts";

// It waits for videos.
setDefaultTimeout(120_000);

let server: Server;
let folder: string;

beforeAll(async () => {
  server = await startServer();
  folder = emptyFolder("pictures");
  writeFileSync(join(folder, "fox.png"), await png(64, 64));
  writeFileSync(join(folder, "notes.txt"), "not a picture");
  const outside = emptyFolder("outside");
  writeFileSync(join(outside, "secret.png"), await png(64, 64));
  symlinkSync(join(outside, "secret.png"), join(folder, "link.png"));
  mkdirSync(join(folder, "made"));
});

afterAll(stopServers);

const SMALL = { model: "sandbox-image", prompt: "A fox", size: "64x64", sandbox: { delay_ms: 0 } };

/** An agent that starts the executable as its local server. */
async function startAgent(
  ...args: readonly string[]
): Promise<Pick<Agent, "client" | "call" | "stop"> & { pid: number }> {
  const client = new Client({ name: "tests", version: "1.0.0" });
  const env = cleanEnvironment({ SVC_SERVER: server.url, SVC_API_KEY: server.firstKey() });
  const transport = new StdioClientTransport({ command: SVC, args: ["mcp", ...args], env, stderr: "ignore" });
  await client.connect(transport);
  return {
    client,
    pid: transport.pid ?? 0,
    async call(name, given, options) {
      const result = await client.callTool({ name, arguments: given }, undefined, options);
      return calledOf(result as CallToolResult);
    },
    stop: () => client.close(),
  };
}

describe("svc mcp", () => {
  test("relays every tool, with progress, pictures and links", async () => {
    const agent = await startAgent();
    const { tools } = await agent.client.listTools();
    expect(tools).toHaveLength(7);
    const models = (await agent.call("list_models", { kind: "image" })).structured.models as JsonObject[];
    expect(models.map(({ id }) => id)).toContain("sandbox-image");
    expect((await agent.call("estimate", SMALL)).structured.max_cost).toBe("0.010000");
    const told: number[] = [];
    const slow = { ...SMALL, sandbox: { delay_ms: 300 } };
    const made = await agent.call("generate_image", slow, {
      onprogress: ({ progress }) => told.push(progress),
    });
    expect([made.content[0]?.type, told[0]]).toEqual(["image", 0]);
    const first = String(made.structured.task_id);
    const edited = await agent.call("edit_image", { ...SMALL, images: [first] });
    expect(edited.structured.status).toBe("completed");
    const video = {
      model: "sandbox-video",
      prompt: "A fox",
      duration: 1,
      image_url: first,
      sandbox: { delay_ms: 0 },
    };
    expect((await agent.call("generate_video", video)).content[0]?.type).toBe("resource_link");
    expect((await agent.call("get_task", { task_id: first })).structured.status).toBe("completed");
    expect((await agent.call("cancel_task", { task_id: first })).error.code).toBe("task_not_cancellable");
    const dear = await agent.call("generate_image", { ...SMALL, max_cost: "0.001" });
    expect(dear.error.param).toBe("max_cost");
    await agent.stop();
  });

  test("passes on that a call is cancelled", async () => {
    const agent = await startAgent();
    const controller = new AbortController();
    const call = agent.call(
      "generate_image",
      { ...SMALL, sandbox: { outcome: "hang" } },
      { signal: controller.signal },
    );
    call.catch(() => {});
    const live = async () =>
      (await ask(server, server.firstKey(), "/v1/tasks?status=processing")).tasks as JsonObject[];
    while ((await live()).length === 0) await Bun.sleep(10);
    const id = String((await live())[0]?.task_id);
    controller.abort();
    await expect(call).rejects.toThrow();
    const { structured } = await agent.call("get_task", { task_id: id, wait: 20 });
    expect(structured.status).toBe("cancelled");
    await agent.stop();
  });

  test("reads the files that it may, and saves what was made", async () => {
    const made = join(folder, "made");
    const agent = await startAgent("--allow-files", folder, "--save-to", made);
    const { tools } = await agent.client.listTools();
    expect(JSON.stringify(tools)).toContain(`Or the path of a file below ${folder}.`);
    for (const path of [join(folder, "fox.png"), "fox.png", `file://${join(folder, "fox.png")}`]) {
      const { structured, content } = await agent.call("edit_image", { ...SMALL, images: [path] });
      const [result] = structured.results as JsonObject[];
      const saved = String(result?.saved_to);
      expect(saved).toStartWith(made);
      expect(content.at(-1)).toEqual({ type: "text", text: `Saved as ${saved}.` });
      const bytes = await (await fetch(String(result?.url))).bytes();
      expect(readFileSync(saved).equals(bytes)).toBe(true);
    }
    await agent.stop();
  });

  test("a call that is sent again with its idempotency_key is the same task, also with a file, and from another process", async () => {
    const ids = [];
    for (const path of ["fox.png", join(folder, "fox.png")]) {
      const agent = await startAgent("--allow-files", folder);
      const call = { ...SMALL, images: [path, path], idempotency_key: "foxes" };
      const { structured } = await agent.call("edit_image", call);
      ids.push(structured.task_id);
      await agent.stop();
    }
    expect(ids).toEqual([expect.any(String), ids[0]]);
  });

  test("reads no other file, wherever a link leads, and nothing that is no picture", async () => {
    const agent = await startAgent("--allow-files", folder);
    const refused = {
      "/etc/passwd": "is not below a folder that --allow-files names",
      "../../etc/passwd": "cannot be read",
      [join(folder, "link.png")]: "is not below a folder that --allow-files names",
      [join(folder, "notes.txt")]: "is no image, video or recording",
      [join(folder, "none.png")]: "cannot be read",
      [folder]: "is not below a folder that --allow-files names",
    };
    for (const [path, reason] of Object.entries(refused)) {
      const { isError, error } = await agent.call("edit_image", { ...SMALL, images: [path] });
      expect([path, isError, error.code]).toEqual([path, true, "file_not_readable"]);
      expect(String(error.message)).toContain(path.startsWith("..") ? "" : reason);
    }
    await agent.stop();
    const without = await startAgent();
    const { error } = await without.call("edit_image", { ...SMALL, images: [join(folder, "fox.png")] });
    expect(error.message).toContain("--allow-files FOLDER");
    await without.stop();
  });
});

/** Runs it with these lines on standard input, which is closed then. */
async function run(lines: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn([SVC, "mcp"], {
    env: cleanEnvironment({ SVC_SERVER: server.url, SVC_API_KEY: server.firstKey(), ...env }),
    stdin: new Blob([lines.join("\n")]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const messages = stdout.split("\n").filter((line) => line !== "");
  return {
    exitCode: await child.exited,
    messages: messages.map((line) => JSON.parse(line) as JsonObject),
    stderr,
  };
}

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

describe("what no client sends", () => {
  test("standard output has messages alone, and its end is the end of the command", async () => {
    const { exitCode, messages } = await run([PING, "", "{", '"text"', PING.replace("1,", '"two \u2028",')]);
    expect(exitCode).toBe(0);
    expect(messages.map(({ id }) => id)).toEqual(expect.arrayContaining([1, null, null, "two \u2028"]));
    expect(messages).toHaveLength(4);
  });

  test("a call that nobody waits for any more ends with the command, and its task goes on", async () => {
    const call = { name: "generate_image", arguments: { ...SMALL, sandbox: { delay_ms: 4000 } } };
    const line = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call });
    const { exitCode, messages } = await run([line]);
    expect([exitCode, messages.length]).toEqual([0, 1]);
    const [task] = (await ask(server, server.firstKey(), "/v1/tasks?limit=1")).tasks as JsonObject[];
    const { status } = await ask(server, server.firstKey(), `/v1/images/status/${task?.task_id}?wait=30`);
    expect(status).toBe("completed");
  });

  test("a server that refuses the key, or is not there, is told of in the answer", async () => {
    const refused = await run([PING], { SVC_API_KEY: "sk-svc-none" });
    expect(refused.messages).toMatchObject([{ id: 1, error: { code: -32000 } }]);
    const nobody = await run([PING], { SVC_SERVER: "http://127.0.0.1:9" });
    expect(nobody.messages).toMatchObject([
      { id: 1, error: { message: expect.stringContaining("Cannot reach") } },
    ]);
    const keyless = await run([PING], { SVC_API_KEY: "" });
    expect([keyless.exitCode, keyless.messages]).toEqual([4, []]);
  });
});

test("a hundred agents at once get their pictures over HTTP, and never spend more than their key's quota", async () => {
  const quota = ["--quota", "0.600000", "--quota-reset", "total", "--data-dir", server.dataDir];
  const { key } = (await arranged(["keys", "create", "--name", "hundred", ...quota])) as { key: string };
  const agents = await Promise.all(Array.from({ length: 100 }, () => connectAgent(server, key)));
  const made = await Promise.all(
    agents.map((agent) => agent.call("generate_image", { ...SMALL, size: "16x16" })),
  );
  expect(made.filter(({ content }) => content[0]?.type === "image")).toHaveLength(60);
  const refused = made.filter(({ isError }) => isError);
  expect(refused.map(({ error }) => error.code)).toEqual(Array(40).fill("insufficient_quota"));
  await Promise.all(agents.map((agent) => agent.stop()));
});

test("the facade can be left out", async () => {
  const without = await startServer({ args: ["--facades", "none"] });
  const headers = { Authorization: `Bearer ${without.firstKey()}` };
  const response = await fetch(`${without.url}/mcp`, { method: "POST", headers, body: PING });
  expect(response.status).toBe(404);
  expect(existsSync(without.dataDir)).toBe(true);
});
