import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../src/domain/json.ts";
import { png } from "../../helpers/media.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";

setDefaultTimeout(30_000);

/* Addresses to upload to need no key. They are an account's all the same. */

let service: PublishedService;
let picture: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  service = await startPublished();
  picture = await png(16, 16);
});
afterAll(() => service.stop());

async function send(path: string, body: JsonObject, headers: Readonly<Record<string, string>>) {
  const response = await fetch(service.url + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return { headers: response.headers, body: (await response.json()) as JsonObject };
}

const manage = async (path: string, body: JsonObject) =>
  (await send(`/admin/v1${path}`, body, { Authorization: `Bearer ${service.token}` })).body
    .data as JsonObject;

async function newAccount(name: string): Promise<Readonly<Record<string, string>>> {
  await manage("/accounts", { name, mode: "unlimited" });
  const { key } = await manage("/keys", { name, account: name });
  return { Authorization: `Bearer ${key}` };
}

const pathOf = (url: unknown) => new URL(String(url)).pathname;

test("of fal's take nothing once the account is suspended", async () => {
  const headers = await newAccount("fal");
  const begin = () =>
    send("/fal/storage/upload/initiate", { file_name: "a", content_type: "image/png" }, headers);
  const put = async ({ body }: { readonly body: JsonObject }) =>
    (await fetch(service.url + pathOf(body.upload_url), { method: "PUT", body: picture })).status;
  const [before, after] = [await begin(), await begin()];
  expect(await put(before)).toBe(200);
  await manage("/accounts/fal/suspend", {});
  expect(await put(after)).toBe(404);
  expect((await fetch(service.url + pathOf(after.body.file_url))).status).toBe(404);
  await manage("/accounts/fal/activate", {});
  expect(await put(after)).toBe(200);
});

test("take nothing once the key is revoked that asked for them, fal's and Gemini's alike", async () => {
  await manage("/accounts", { name: "leaked", mode: "unlimited" });
  const made = await manage("/keys", { name: "leaked", account: "leaked" });
  const headers = { Authorization: `Bearer ${made.key}` };
  const { body } = await send(
    "/fal/storage/upload/initiate",
    { file_name: "a", content_type: "image/png" },
    headers,
  );
  const start = { "X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start" };
  const begun = await send("/gemini/upload/v1beta/files", { file: {} }, { ...headers, ...start });
  const whole = { "X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": "0" };
  const sent = async () => [
    (await fetch(service.url + pathOf(body.upload_url), { method: "PUT", body: picture })).status,
    (
      await fetch(service.url + pathOf(begun.headers.get("x-goog-upload-url")), {
        ...{ method: "POST", headers: whole, body: picture },
      })
    ).status,
  ];
  await manage("/keys/leaked/revoke", {});
  expect(await sent()).toEqual([404, 404]);
  expect((await fetch(service.url + pathOf(body.file_url))).status).toBe(404);
});

test("of Gemini's take nothing once the account is suspended, nor end what was begun", async () => {
  const headers = await newAccount("gemini");
  const start = { "X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start" };
  const begun = await send("/gemini/upload/v1beta/files", { file: {} }, { ...headers, ...start });
  const place = service.url + pathOf(begun.headers.get("x-goog-upload-url"));
  const part = async (command: string, offset: number, body?: Uint8Array<ArrayBuffer>) => {
    const asked = { "X-Goog-Upload-Command": command, "X-Goog-Upload-Offset": String(offset) };
    return (await fetch(place, { method: "POST", headers: asked, body: body ?? null })).status;
  };
  expect(await part("upload", 0, picture)).toBe(200);
  await manage("/accounts/gemini/suspend", {});
  expect(await part("query", 0)).toBe(404);
  expect(await part("finalize", picture.length)).toBe(404);
  await manage("/accounts/gemini/activate", {});
  expect(await part("finalize", picture.length)).toBe(200);
});

/** More than may be read at once of one account's. */
const MANY = 40;

test("of one account's leave places to others, however many bodies never come", async () => {
  const [hostile, other] = [await newAccount("hostile"), await newAccount("other")];
  const begin = async (headers: Readonly<Record<string, string>>) => {
    const body = { file_name: "a", content_type: "image/png" };
    const { body: begun } = await send("/fal/storage/upload/initiate", body, headers);
    return service.url + pathOf(begun.upload_url);
  };
  const over = new AbortController();
  const addresses = await Promise.all(Array.from({ length: MANY }, () => begin(hostile)));
  const address = await begin(other);
  const sent = addresses.map((each) => {
    const started = Promise.withResolvers<void>();
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(picture.subarray(0, 1));
        started.resolve();
        // No more ever comes.
        return new Promise(() => {});
      },
    });
    fetch(each, { method: "PUT", body, signal: over.signal }).catch(() => {});
    return started.promise;
  });
  await Promise.all(sent);
  // The service has seen them once it has answered a request that came after them.
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  const answer = await fetch(address, { method: "PUT", body: picture });
  over.abort();
  expect(answer.status).toBe(200);
}, 5_000);
