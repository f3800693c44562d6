import { expect, test } from "bun:test";
import { createServer } from "node:net";
import { freePort } from "../helpers/free-port.ts";
import { svc } from "./support.ts";

const CALL = {
  jsonrpc: "2.0",
  id: 7,
  method: "tools/call",
  params: { name: "generate_image", arguments: {} },
};

/** What an agent is told that sends one call. */
async function told(port: number): Promise<string> {
  const env = { SVC_SERVER: `http://127.0.0.1:${port}`, SVC_API_KEY: "sk-svc-test" };
  const { stdout } = await svc(["mcp"], { env, stdin: `${JSON.stringify(CALL)}\n` });
  const { id, error } = JSON.parse(stdout) as { id: number; error: { message: string } };
  expect(id).toBe(7);
  return error.message;
}

test("a connection that is lost after the call was sent is told as a call that may go on", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  expect(await told(typeof address === "object" ? (address?.port ?? 0) : 0)).toBe(
    "The connection was lost before the answer. What the call began goes on: repeat it only with the same idempotency_key.",
  );
  server.close();
});

test("a server that is not there is told as such", async () => {
  expect(await told(freePort())).toContain("the connection was refused");
});
