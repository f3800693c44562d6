import { afterEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, type Server, SVC, startServer, stopServers } from "../helpers/server.ts";

afterEach(stopServers);

function linkFor({ dataDir }: Server): URL {
  const command = [SVC, "console", "link", "--data-dir", dataDir];
  const { stdout, exitCode } = Bun.spawnSync(command, { env: cleanEnvironment() });
  expect(exitCode).toBe(0);
  return new URL(stdout.toString().trim());
}

test("a link to the console leads to the server that runs on the folder, whatever its port", async () => {
  const server = await startServer();
  const { origin, hash } = linkFor(server);
  expect(origin).toBe(server.url);
  const opened = await fetch(`${origin}/console/session`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: origin },
    body: JSON.stringify({ link: hash.replace("#link=", "") }),
  });
  expect(opened.status).toBe(200);
  await server.stop();
  expect(existsSync(join(server.dataDir, "serving.json"))).toBe(false);
});

test("a link goes by the settings where no server runs, though one that was killed has left its address", async () => {
  const server = await startServer();
  server.signal("SIGKILL");
  await server.exited;
  expect(existsSync(join(server.dataDir, "serving.json"))).toBe(true);
  expect(linkFor(server).origin).toBe("http://127.0.0.1:8787");
});
