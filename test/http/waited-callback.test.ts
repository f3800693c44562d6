import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { png } from "../helpers/media.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

let service: PublishedService;
/** Gives the next callback that arrives. */
let posted: () => Promise<JsonObject>;
let receiver: ReturnType<typeof Bun.serve>;

beforeAll(async () => {
  service = await startPublished({ SVC_EGRESS_ALLOW: "127.0.0.1/32" });
  const arrived: JsonObject[] = [];
  const waiting: ((callback: JsonObject) => void)[] = [];
  receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const callback = (await request.json()) as JsonObject;
      const next = waiting.shift();
      if (next === undefined) arrived.push(callback);
      else next(callback);
      return new Response();
    },
  });
  posted = () => {
    const callback = arrived.shift();
    return callback === undefined
      ? new Promise((resolve) => waiting.push(resolve))
      : Promise.resolve(callback);
  };
});

afterAll(async () => {
  await receiver.stop(true);
  await service.stop();
});

setDefaultTimeout(60_000);

const SANDBOX = { delay_ms: 0 };
const hook = () => `http://127.0.0.1:${receiver.port}/hook`;

function formOf(fields: JsonObject, image: Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
  form.set("image", new Blob([image]), "fox.png");
  return form;
}

function send(path: string, body: JsonObject | FormData): Promise<Response> {
  const isForm = body instanceof FormData;
  const headers = {
    Authorization: `Bearer ${service.key}`,
    ...(!isForm && { "Content-Type": "application/json" }),
  };
  const sent = { method: "POST", headers, body: isForm ? body : JSON.stringify(body) };
  return fetch(service.url + path, sent);
}

const COMPAT = "/compat/v1/images";
const GEMINI = "/gemini/v1beta";
const FOX = { model: "sandbox-image", prompt: "A fox", sandbox: SANDBOX };

test("whoever waits for a picture may have its end posted, too, by every API for pictures that has the field", async () => {
  const callback_url = hook();
  const image = await png(16, 16);
  const { sandbox: _, ...words } = FOX;
  const config = { sandbox: SANDBOX, callbackUrl: callback_url };
  const calls: readonly [string, JsonObject | FormData][] = [
    [`${COMPAT}/generations`, { ...FOX, callback_url }],
    [`${COMPAT}/generations`, { ...FOX, callback_url, stream: true }],
    [`${COMPAT}/edits`, formOf({ ...words, callback_url }, image)],
    [`${COMPAT}/variations`, formOf({ model: "sandbox-image", callback_url }, image)],
    [
      `${GEMINI}/models/sandbox-image:generateContent`,
      { contents: [{ parts: [{ text: "A fox" }] }], generationConfig: config },
    ],
    [
      `${GEMINI}/interactions`,
      { model: "sandbox-image", input: "A fox", callback_url, generation_config: { sandbox: SANDBOX } },
    ],
  ];
  for (const [path, body] of calls) {
    const response = await send(path, body);
    await response.text();
    expect([path, response.status]).toEqual([path, 200]);
    const callback = await posted();
    expect(callback).toMatchObject({ task_id: response.headers.get("x-task-id"), status: "completed" });
  }
});

test("an address that no callback may go to is refused by its name, and null and an empty text are no address", async () => {
  for (const callback_url of ["http://10.0.0.1/", "no address", 7]) {
    const refused = await send(`${COMPAT}/generations`, { ...FOX, callback_url });
    const { error } = (await refused.json()) as { error: JsonObject };
    expect([refused.status, error.param]).toEqual([400, "callback_url"]);
  }
  for (const callback_url of [null, ""]) {
    const taken = await send(`${COMPAT}/generations`, { ...FOX, callback_url });
    await taken.text();
    expect(taken.status).toBe(200);
  }
});
