import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Server } from "bun";
import { type PublishedService, startPublished } from "./openapi-service.ts";

const asked: (string | null)[] = [];
let upstream: Server<unknown>;
let service: PublishedService;
beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    fetch({ headers }) {
      asked.push(headers.get("x-key"));
      return Response.json({ credits: 250 });
    },
  });
  service = await startPublished({
    SVC_PROVIDERS_BFL_BASE_URL: `http://127.0.0.1:${upstream.port}`,
    SVC_EGRESS_ALLOW: "127.0.0.1/32",
  });
});
afterAll(async () => {
  await service.stop();
  await upstream.stop(true);
});

async function post(path: string, body: object) {
  const headers = { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" };
  const answer = await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  return ((await answer.json()) as { data: unknown }).data;
}

test("a key that takes another's place is in force at once, as the answer says", async () => {
  for (const key of ["first-key-1234567", "second-key-1234567"]) {
    const kept = await post("/admin/v1/providers/bfl/add", { account: "default", secrets: { key } });
    expect(kept).toMatchObject({ lane: "bfl", in_force: true });
    expect(await post("/admin/v1/providers/bfl/test", {})).toMatchObject({ accounts: [{ result: "ok" }] });
  }
  expect(asked).toEqual(["first-key-1234567", "second-key-1234567"]);
});
