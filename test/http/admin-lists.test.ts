import { afterAll, beforeAll, expect, test } from "bun:test";
import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import { listed } from "../../src/http/admin/lists.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

let service: PublishedService;
beforeAll(async () => {
  service = await startPublished();
});
afterAll(() => service.stop());

async function send(method: string, path: string, body?: JsonObject) {
  const response = await fetch(`${service.url}/admin/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  return { status: response.status, data: isJsonObject(answer) ? (answer.data as JsonObject) : {} };
}

const rowsOf = (data: JsonObject, list: string) => data[list] as (JsonObject & { id: string })[];

test.each([
  ["accounts", "/accounts", {}],
  ["keys", "/keys", { account: "default" }],
  ["tokens", "/tokens", {}],
])("%s are listed whole, or in pages where a limit is given", async (list, path, query) => {
  for (const name of ["list one", "list two", "list three"]) await send("POST", path, { name });
  const asked = (more: Readonly<Record<string, string>>) =>
    send("GET", `${path}?${new URLSearchParams({ ...query, ...more })}`);
  const whole = (await asked({})).data;
  expect(rowsOf(whole, list).length).toBeGreaterThanOrEqual(3);
  expect(whole.next).toBeNull();
  const paged: JsonObject[] = [];
  let next: Json | undefined;
  do {
    const { data } = await asked({ limit: "2", ...(typeof next === "string" ? { after: next } : {}) });
    expect(rowsOf(data, list).length).toBeLessThanOrEqual(2);
    paged.push(...rowsOf(data, list));
    next = data.next;
  } while (next !== null);
  // The token's own time of use goes on.
  const idsOf = (rows: readonly JsonObject[]) => rows.map(({ id }) => id);
  expect(idsOf(paged)).toEqual(idsOf(rowsOf(whole, list)));
  const after = rowsOf(whole, list)[0]?.id ?? "";
  expect(idsOf(rowsOf((await asked({ after })).data, list))).toEqual(idsOf(paged.slice(1)));
  const back = (await asked({ order: "desc" })).data;
  expect(idsOf(rowsOf(back, list))).toEqual(idsOf(rowsOf(whole, list)).reverse());
  const newest = (await asked({ order: "desc", limit: "2" })).data;
  const before = (await asked({ order: "desc", limit: "2", after: String(newest.next) })).data;
  expect(idsOf([...rowsOf(newest, list), ...rowsOf(before, list)])).toEqual(
    idsOf(rowsOf(back, list).slice(0, 4)),
  );
  expect((await asked({ order: "newest" })).status).toBe(400);
  for (const limit of ["0", "1001", "many"]) expect((await asked({ limit })).status).toBe(400);
  expect((await asked({ after: "list one" })).status).toBe(400);
});

test("slices of a list become one answer, of which nothing is one long text", async () => {
  async function* slices() {
    yield { items: ["…", "b"], next: "b" };
    yield { items: [], next: "b" };
    yield { items: ["c"], next: undefined };
  }
  const { body } = await listed("names", slices(), (name) => ({ name }));
  expect(body).toBeInstanceOf(Blob);
  expect(JSON.parse(await new Response(body).text())).toEqual({
    ...{ code: 200, message: "success" },
    data: { names: [{ name: "…" }, { name: "b" }, { name: "c" }], next: null },
  });
  const none = await listed("names", (async function* () {})(), () => ({}));
  expect(JSON.parse(await new Response(none.body).text()).data).toEqual({ names: [], next: null });
});

test("keys are listed with the names of their accounts", async () => {
  const names = ["named one", "named two"];
  for (const name of names) {
    await send("POST", "/accounts", { name });
    await send("POST", "/keys", { name: `key of ${name}`, account: name });
  }
  const { data } = await send("GET", "/keys");
  const told = new Map(rowsOf(data, "keys").map(({ name, account }) => [name, account]));
  expect(names.map((name) => told.get(`key of ${name}`))).toEqual(names);
});

test("keys are listed with what they were charged where that is asked for", async () => {
  const { data: made } = await send("POST", "/keys", { name: "spender", account: "default" });
  const created = await fetch(`${service.url}/v1/images/generations`, {
    method: "POST",
    headers: { Authorization: `Bearer ${String(made.key)}`, "Content-Type": "application/json" },
    body: JSON.stringify({ model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } }),
  });
  const { data: task } = (await created.json()) as { data: { task_id: string } };
  await fetch(`${service.url}/v1/images/status/${task.task_id}?wait=30`, {
    headers: { Authorization: `Bearer ${String(made.key)}` },
  });
  const chargedOf = async (query: string) =>
    rowsOf((await send("GET", `/keys?order=desc&limit=1${query}`)).data, "keys").map(
      ({ charged }) => charged,
    );
  expect(await chargedOf("&charged_days=1")).toEqual(["0.010000"]);
  expect(await chargedOf("")).toEqual([undefined] as never);
  expect((await send("GET", "/keys?charged_days=93")).status).toBe(400);
});

test("the quota of one key is read without those of others", async () => {
  const quota = { limit: "5.00", reset: "total" };
  const { data: one } = await send("POST", "/keys", { name: "limited one", quota });
  const { data: other } = await send("POST", "/keys", { name: "limited two", quota });
  const quotasOf = async (query: string) =>
    rowsOf((await send("GET", `/quotas${query}`)).data, "quotas").map(({ key_id }) => key_id);
  expect(await quotasOf("")).toEqual([one.id, other.id] as Json[]);
  expect(await quotasOf(`?key_id=${String(other.id)}`)).toEqual([other.id] as Json[]);
  expect((await send("GET", "/quotas?key_id=key_none")).status).toBe(404);
});

test("quotas are listed whole, or in pages of keys that have one, in the order in which keys were made", async () => {
  const { data: account } = await send("POST", "/accounts", { name: "of quotas" });
  const made: Json[] = [];
  for (const name of ["one", "none", "two", "three", "last"]) {
    const quota = name === "none" ? null : { limit: "5.00", reset: "total" };
    const { data } = await send("POST", "/keys", { name, account: "of quotas", quota });
    if (quota !== null) made.push(data.id ?? null);
  }
  const asked = async (query: string) => {
    const { data } = await send("GET", `/quotas?account=${String(account.id)}${query}`);
    return { ids: rowsOf(data, "quotas").map(({ key_id }) => key_id), next: data.next };
  };
  expect(await asked("")).toEqual({ ids: made, next: null } as never);
  const first = await asked("&limit=2");
  expect(first).toEqual({ ids: made.slice(0, 2), next: made[1] } as never);
  expect(await asked(`&limit=2&after=${String(first.next)}`)).toEqual({
    ids: made.slice(2),
    next: null,
  } as never);
  expect((await send("GET", "/quotas?after=one")).status).toBe(400);
  expect((await send("GET", "/quotas?limit=1001")).status).toBe(400);
});
