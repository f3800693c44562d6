import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { JsonObject } from "../../src/domain/json.ts";
import { cleanEnvironment, type Server, SVC, startServer, stopServers } from "../helpers/server.ts";
import { ask } from "../http/facades/mcp/agent.ts";

// It waits for a cancellation.
setDefaultTimeout(120_000);

let server: Server;

beforeAll(async () => {
  server = await startServer();
});

afterAll(stopServers);

const VERSION = "2026-07-28";
const SMALL = { model: "sandbox-image", prompt: "A fox", size: "64x64" };

const TRANSPORTS = {
  "/mcp": () => {
    const headers = { Authorization: `Bearer ${server.firstKey()}` };
    return new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } });
  },
  "svc mcp": () => {
    const env = cleanEnvironment({ SVC_SERVER: server.url, SVC_API_KEY: server.firstKey() });
    return new StdioClientTransport({ command: SVC, args: ["mcp"], env, stderr: "ignore" });
  },
};

for (const [name, connect] of Object.entries(TRANSPORTS)) {
  test(`the official client of version ${VERSION} insists on it, and gets on with ${name}`, async () => {
    const client = new Client(
      { name: "tests", version: "1.0.0" },
      { versionNegotiation: { mode: { pin: VERSION } } },
    );
    await client.connect(connect());
    expect([client.getNegotiatedProtocolVersion(), client.getServerVersion()?.name]).toEqual([
      VERSION,
      "svc",
    ]);
    expect((await client.listTools()).tools).toHaveLength(7);
    const told: number[] = [];
    const made = await client.callTool(
      { name: "generate_image", arguments: { ...SMALL, sandbox: { delay_ms: 300 } } },
      { onprogress: ({ progress }) => told.push(progress) },
    );
    expect([made.content[0]?.type, told[0]]).toEqual(["image", 0]);
    await expect(client.callTool({ name: "sudo" })).rejects.toThrow("Unknown tool: sudo");
    const hanging = new AbortController();
    const call = client.callTool(
      { name: "generate_image", arguments: { ...SMALL, sandbox: { outcome: "hang" } } },
      { signal: hanging.signal },
    );
    call.catch(() => {});
    const key = server.firstKey();
    const live = async () => (await ask(server, key, "/v1/tasks?status=processing")).tasks as JsonObject[];
    while ((await live()).length === 0) await Bun.sleep(10);
    const [task] = await live();
    hanging.abort();
    await expect(call).rejects.toThrow();
    const ended = await ask(server, key, `/v1/images/status/${String(task?.task_id)}?wait=30`);
    expect(ended.status).toBe("cancelled");
    await client.close();
  });
}
