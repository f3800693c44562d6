import { afterAll, beforeAll, expect, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

let service: PublishedService;
/** Ids of what the changes below are about, by the names they have there. */
const ids = new Map<string, string>();

beforeAll(async () => {
  service = await startPublished({ SVC_EGRESS_ALLOW: "127.0.0.1/32" });
});
afterAll(() => service.stop());

async function send(method: string, path: string, body?: JsonObject, credential = service.token) {
  const response = await fetch(service.url + path, {
    method,
    headers: { Authorization: `Bearer ${credential}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  const data = isJsonObject(answer) && isJsonObject(answer.data) ? answer.data : {};
  return { status: response.status, data };
}

async function trail(query = ""): Promise<JsonObject[]> {
  const { data } = await send("GET", `/admin/v1/audit-log?limit=100${query}`);
  return data.entries as JsonObject[];
}

/** What is noted since the entry with this number, oldest first. */
async function notedSince(number: number): Promise<JsonObject[]> {
  const entries = await trail();
  return entries.filter((entry) => Number(entry.number) > number).reverse();
}

/** What a change is called in the document, what is sent, and what the trail must have after it: actions and objects. */
interface Change {
  readonly operation: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  readonly noted: readonly (readonly [action: string, object: string])[];
  /** Under which name the id of the answer is kept. */
  readonly keep?: string;
}

const MANIFEST = JSON.stringify({
  ...{ id: "mine", kind: "image", name: "Mine", description: "A model of the house." },
  modes: [{ id: "text-to-image", requires: [] }],
  schema: { required: ["prompt"], properties: { prompt: { type: "string" } } },
  price: { lines: [{ sku: "mine", unit: "output", amount: "0.020000" }] },
  deadline_seconds: 60,
  routes: [{ provider: "sandbox", upstream_model: "picture" }],
});
const A = "POST /admin/v1/accounts";
const K = "POST /admin/v1/keys";
/** In this order: later ones need what earlier ones made. `$name` stands for a kept id. */
const CHANGES: readonly Change[] = [
  {
    operation: A,
    body: { name: "acme", credit: "5.00" },
    noted: [["account.create", "$acme"]],
    keep: "acme",
  },
  {
    operation: "PATCH /admin/v1/accounts/{id}",
    path: { id: "acme" },
    body: { credit_limit: "1.00" },
    noted: [["account.update", "$acme"]],
  },
  {
    operation: `${A}/{id}/credit`,
    path: { id: "acme" },
    body: { amount: "-1.00", reason: "fee" },
    noted: [["account.credit", "$acme"]],
  },
  { operation: `${A}/{id}/suspend`, path: { id: "acme" }, noted: [["account.suspend", "$acme"]] },
  { operation: `${A}/{id}/activate`, path: { id: "acme" }, noted: [["account.activate", "$acme"]] },
  { operation: K, body: { name: "web", account: "acme" }, noted: [["key.create", "$web"]], keep: "web" },
  {
    operation: "PATCH /admin/v1/keys/{id}",
    path: { id: "web" },
    body: { concurrency: 3, callback_secret: "new" },
    noted: [["key.update", "$web"]],
  },
  { operation: `${K}/{id}/rotate`, path: { id: "web" }, noted: [["key.rotate", "$web"]] },
  { operation: `${K}/{id}/revoke`, path: { id: "web" }, noted: [["key.revoke", "$web"]] },
  {
    operation: "POST /admin/v1/tokens",
    body: { name: "reader", scopes: ["read"] },
    noted: [["token.create", "$reader"]],
    keep: "reader",
  },
  {
    operation: "POST /admin/v1/tokens/{id}/revoke",
    path: { id: "reader" },
    noted: [["token.revoke", "$reader"]],
  },
  { operation: "POST /admin/v1/assets/verify", noted: [["files.verify", "files"]] },
  { operation: "POST /admin/v1/assets/gc", body: {}, noted: [["files.collect", "files"]] },
  { operation: "POST /admin/v1/backups", noted: [["backup.create", "backups"]] },
  {
    operation: "POST /admin/v1/providers/{id}/add",
    path: { id: "bfl" },
    body: { account: "spare", secrets: { key: "bfl-0123456789abcdef" } },
    noted: [["provider.add", "bfl/spare"]],
  },
  {
    operation: "POST /admin/v1/providers/{id}/remove",
    path: { id: "bfl" },
    body: { account: "spare" },
    noted: [["provider.remove", "bfl/spare"]],
  },
  { operation: A, body: { name: "leaver" }, noted: [["account.create", "$leaver"]], keep: "leaver" },
  {
    operation: `${A}/{id}/purge`,
    path: { id: "leaver" },
    body: { confirm: "$leaver" },
    noted: [
      ["account.suspend", "$leaver"],
      ["account.purge", "$leaver"],
    ],
  },
  // The session acts as a token that is made for it.
  { operation: "POST /admin/v1/sessions", noted: [["token.create", "$token"]], keep: "link" },
  { operation: "POST /admin/v1/sessions/{id}/end", path: { id: "$link" }, noted: [["session.end", "$link"]] },
  {
    operation: "PATCH /admin/v1/pricing/{model}",
    path: { model: "sandbox-image" },
    body: { price: { lines: [{ sku: "x", unit: "output", amount: "0.012" }] }, reason: "cheaper" },
    noted: [["price.set", "sandbox-image"]],
  },
  {
    operation: "POST /admin/v1/pricing/{model}/reset",
    path: { model: "sandbox-image" },
    noted: [["price.reset", "sandbox-image"]],
  },
  {
    operation: "POST /admin/v1/tasks/{id}/refund",
    path: { id: "$done" },
    body: { reason: "late" },
    noted: [["task.refund", "$done"]],
  },
  {
    operation: "POST /admin/v1/tasks/{id}/cancel",
    path: { id: "$hanging" },
    noted: [["task.cancel", "$hanging"]],
  },
  {
    operation: "POST /admin/v1/callbacks/redeliver",
    body: { task_id: "$done" },
    noted: [["callback.redeliver", "$callback"]],
  },
  {
    operation: "POST /admin/v1/callbacks/{id}/redeliver",
    path: { id: "$failing" },
    noted: [["callback.redeliver", "$failing"]],
  },
  {
    operation: "POST /admin/v1/routes/block",
    body: { provider: "sandbox", upstream_model: "picture", reason: "x" },
    noted: [["route.block", "sandbox:picture"]],
  },
  {
    operation: "POST /admin/v1/routes/allow",
    body: { provider: "sandbox" },
    noted: [["route.allow", "sandbox:picture"]],
  },
  {
    operation: "PUT /admin/v1/models/{model}/manifest",
    path: { model: "mine" },
    body: { text: MANIFEST },
    noted: [["model.write", "mine"]],
  },
  {
    operation: "DELETE /admin/v1/models/{model}/manifest",
    path: { model: "mine" },
    noted: [["model.remove", "mine"]],
  },
  { operation: "POST /admin/v1/reload", noted: [["settings.reload", "settings"]] },
  {
    operation: "POST /admin/v1/log/level",
    body: { level: "debug", for_seconds: 5 },
    noted: [["log.level", "log"]],
  },
];

/** What is no GET and changes nothing that the trail is about. */
const HARMLESS = [
  // Both tell of themselves to others, and change nothing here.
  "POST /admin/v1/alerts/test",
  "POST /admin/v1/moderation/test",
  "POST /admin/v1/pricing/{model}/quote",
  "POST /admin/v1/routes/explain",
  "POST /admin/v1/models/check",
  // Forgets a refused key, where there was one: test/app/served-providers.test.ts.
  "POST /admin/v1/providers/{id}/test",
];

const known = (text: string) => (text.startsWith("$") ? (ids.get(text.slice(1)) ?? text) : text);
const filled = (body: JsonObject) =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, typeof value === "string" ? known(value) : value]),
  );

/** A task, waited for if it ends, and its callback. */
async function makeTask(name: string, more: JsonObject): Promise<void> {
  const body = { model: "sandbox-image", prompt: "x", size: "16x16", ...more };
  const { data } = await send("POST", "/v1/images/generations", body, service.key);
  ids.set(name, String(data.task_id));
}

test("every endpoint that changes something notes it: who, what, and what it was before", async () => {
  await makeTask("hanging", { sandbox: { outcome: "hang" } });
  const callback_url = "http://127.0.0.1:45999/hook";
  for (const name of ["done", "other"]) {
    await makeTask(name, { sandbox: { delay_ms: 0 }, callback_url });
    await send("GET", `/v1/images/status/${ids.get(name)}?wait=30`, undefined, service.key);
    const { data } = await send("GET", `/v1/callbacks?task_id=${ids.get(name)}`, undefined, service.key);
    const [callback] = data.callbacks as JsonObject[];
    ids.set(name === "done" ? "callback" : "failing", String(callback?.id));
  }
  const { data: own } = await send("GET", "/admin/v1/token");

  for (const { operation, path = {}, body, noted, keep } of CHANGES) {
    const [method = "", template = ""] = operation.split(" ");
    const [latest] = await trail();
    const target = template.replace(/\{(\w+)\}/g, (_, name: string) => known(path[name] ?? ""));
    const { status, data } = await send(method, target, body && filled(body));
    expect([operation, status]).toEqual([operation, 200]);
    if (keep !== undefined) ids.set(keep, String(data.id));
    if (isJsonObject(data.holder)) ids.set("token", String(data.holder.id));
    const entries = await notedSince(Number(latest?.number));
    expect(entries.map(({ action, object }) => [action, (object as JsonObject).id])).toEqual(
      noted.map(([action, object]) => [action, known(object)]),
    );
    for (const { actor, before, after } of entries) {
      expect(actor).toEqual({ kind: "token", id: own.id ?? "", name: own.name ?? "" });
      expect([before, after]).not.toEqual([null, null]);
    }
  }
});

test("no endpoint that is not in the table above changes anything", () => {
  const all = Object.entries(service.document.paths as Record<string, JsonObject>).flatMap(([path, item]) =>
    path.startsWith("/admin/") ? Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`) : [],
  );
  const writing = all.filter((operation) => !operation.startsWith("GET "));
  const listed = [...new Set([...CHANGES.map(({ operation }) => operation), ...HARMLESS])];
  expect(writing.toSorted()).toEqual(listed.toSorted());
});

test("the trail holds no secret", async () => {
  const text = JSON.stringify(await trail());
  expect(text).not.toMatch(/(sk|mt)-svc-\w{30}|whsec_|"hash"/);
});

test("the first account and its key are noted as the service's own", async () => {
  const entries = await trail("&actor=system");
  expect(entries.map(({ action }) => action)).toEqual(["key.create", "account.create"]);
});

test("a token made beside the server is noted as its user's", async () => {
  const [entry] = await trail("&actor=local");
  expect(entry).toMatchObject({ action: "token.create", object: { name: "tests" }, before: null });
  expect(entry?.actor).toMatchObject({ kind: "local", id: null });
});

test("a page says where the next one begins, and filters take names", async () => {
  const first = await send("GET", "/admin/v1/audit-log?limit=2&object=web");
  const second = await send(
    "GET",
    `/admin/v1/audit-log?limit=9&object=${ids.get("web")}&after=${first.data.next}`,
  );
  const actions = [first, second].flatMap(({ data }) =>
    (data.entries as JsonObject[]).map(({ action }) => action),
  );
  expect(actions).toEqual(["key.revoke", "key.rotate", "key.update", "key.create"]);
  expect(second.data.next).toBeNull();
  const none = await send("GET", "/admin/v1/audit-log?actor=tests&action=token.revoke&until=2001-01-01");
  expect(none.data).toEqual({ entries: [], next: null });
});

test.each([
  ["action=everything", "action"],
  ["since=yesterday", "since"],
  ["until=2026-02-30", "until"],
  ["after=x", "after"],
  ["limit=101", "limit"],
  ["limit=0", "limit"],
])("a trail of ?%s is refused", async (query, param) => {
  const { status, data } = await send("GET", `/admin/v1/audit-log?${query}`);
  expect([status, data.param]).toEqual([400, param]);
});
