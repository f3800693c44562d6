import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import {
  cleanEnvironment,
  emptyFolder,
  type Server,
  SVC,
  startServer,
  stopServers,
} from "../helpers/server.ts";

// Each call is a process of its own.
setDefaultTimeout(120_000);

/** The command of `@modelcontextprotocol/inspector`, unmodified. */
const INSPECTOR = Bun.which("mcp-inspector");
const HANG = '{"outcome":"hang"}';

let server: Server;
const home = emptyFolder("inspector");

beforeAll(async () => {
  server = await startServer();
});
afterAll(stopServers);

const overHttp = (era: string) => [
  ...[`${server.url}/mcp`, "--transport", "http", "--protocol-era", era],
  ...["--header", `Authorization: Bearer ${server.firstKey()}`],
];
const byCommand = (era: string) => [
  ...["-e", `SVC_SERVER=${server.url}`, "-e", `SVC_API_KEY=${server.firstKey()}`],
  ...["--protocol-era", era, SVC, "mcp"],
];

/** How it reaches the service, by name. Modern is version 2026-07-28 of the protocol. */
const targets = {
  "/mcp": () => overHttp("legacy"),
  "/mcp, modern": () => overHttp("modern"),
  "svc mcp": () => byCommand("legacy"),
  "svc mcp, modern": () => byCommand("modern"),
};

async function inspect(target: readonly string[], args: readonly string[]) {
  const child = Bun.spawn([INSPECTOR ?? "", "--cli", ...target, ...args], {
    env: { ...cleanEnvironment(), PATH: process.env.PATH ?? "", HOME: home },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, stdout, stderr };
}

describe.skipIf(INSPECTOR === null).each(Object.keys(targets) as (keyof typeof targets)[])(
  "the official inspector, over %s,",
  (name) => {
    const call = async (tool: string, given: Readonly<Record<string, string | number>>) => {
      const pairs = Object.entries(given).map(([field, value]) => `${field}=${value}`);
      const args = ["--method", "tools/call", "--tool-name", tool, "--tool-arg", ...pairs];
      const { exitCode, stdout, stderr } = await inspect(targets[name](), args);
      const { structuredContent = {}, content = [] } = JSON.parse(stdout || "{}") as {
        structuredContent?: JsonObject;
        content?: { type: string }[];
      };
      return { exitCode, stderr, ...structuredContent, first: content[0]?.type } as JsonObject;
    };

    test("finds the tools, and nothing to say against their schemas", async () => {
      const { exitCode, stdout, stderr } = await inspect(targets[name](), [
        "--method",
        "tools/list",
        "--strict",
      ]);
      expect([exitCode, stderr]).toEqual([0, ""]);
      expect((JSON.parse(stdout) as { tools: unknown[] }).tools).toHaveLength(7);
    });

    test("runs every tool", async () => {
      expect(await call("list_models", { kind: "image" })).toMatchObject({ exitCode: 0 });
      const asked = { model: "sandbox-image", prompt: "A fox", size: "64x64" };
      expect(await call("estimate", asked)).toMatchObject({ max_cost: "0.010000" });
      const made = await call("generate_image", asked);
      expect(made).toMatchObject({ status: "completed", first: "image" });
      const id = String(made.task_id);
      const edited = await call("edit_image", { ...asked, images: JSON.stringify([id]) });
      expect(edited).toMatchObject({ status: "completed", first: "image" });
      const video = { model: "sandbox-video", prompt: "A fox", duration: 1, image_url: id };
      expect(await call("generate_video", video)).toMatchObject({ cost: "0.020000", first: "resource_link" });
      const lasting = await call("generate_image", { ...asked, wait: 0, sandbox: HANG });
      const task_id = String(lasting.task_id);
      expect(await call("cancel_task", { task_id })).toMatchObject({ exitCode: 0 });
      expect(await call("get_task", { task_id, wait: 20 })).toMatchObject({ status: "cancelled" });
      expect(await call("generate_image", { ...asked, max_cost: "0.001" })).toMatchObject({ exitCode: 5 });
    });
  },
);
