import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { statfsSync } from "node:fs";
import { spawnServer, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };

test("with little space a warning, with too little no new tasks; everything else goes on", async () => {
  const { bavail, bsize } = statfsSync(".");
  const tooMuch = String(Math.ceil((bavail * bsize) / 1e6) + 100_000);
  const readiness = async (url: string) => {
    const response = await fetch(`${url}/readyz`);
    return [response.status, await response.json()];
  };
  let server = await startServer({ env: { SVC_DISK_WARN_MB: tooMuch } });
  const { folder } = server;
  const key = server.firstKey();
  const { task_id: id } = await createApi(server.url, key).make(IMAGE);
  const late = await createApi(server.url, key).accept({ ...IMAGE, sandbox: { delay_ms: 4000 } });
  expect(await readiness(server.url)).toEqual([200, { status: "ready", warnings: ["disk_low"] }]);
  await server.says(/little space is free on the disk/);
  await server.says(/what would free space on the disk: /);
  await server.stop();

  server = spawnServer({ folder, args: ["--disk-refuse-mb", tooMuch] });
  await server.says(/the disk is nearly full, and new tasks are refused/);
  await server.says(/"msg":"ready"/);
  const api = createApi(server.url, key);
  expect(await readiness(server.url)).toEqual([503, { status: "not_ready", reason: "disk_low" }]);
  const refused = await api.create(IMAGE, { "Idempotency-Key": "k" });
  expect([refused.status, refused.body.data?.error_code]).toEqual([503, "disk_low"]);
  expect(refused.headers.get("retry-after")).toBe("30");
  expect((await api.send(`/v1/images/status/${id}`)).status).toBe(200);
  expect((await api.wait(late)).status).toBe("completed");
});
