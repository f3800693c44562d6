import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import { png } from "../helpers/media.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

let service: PublishedService;
/** Of another account. */
let other: string;

beforeAll(async () => {
  service = await startPublished({ SVC_UPLOADS_ACCOUNT_MB: "1" });
  await ask("POST", "/admin/v1/accounts", { key: service.token, json: { name: "other", credit: "5" } });
  const made = await ask("POST", "/admin/v1/keys", {
    key: service.token,
    json: { name: "other", account: "other" },
  });
  other = String(made.data.key);
});

afterAll(() => service.stop());

setDefaultTimeout(60_000);

interface Sent {
  readonly key?: string;
  readonly json?: JsonObject;
  readonly body?: Uint8Array<ArrayBuffer> | FormData;
  readonly type?: string;
}

async function ask(method: string, path: string, { key = service.key, json, body, type }: Sent = {}) {
  const content = json === undefined ? body : JSON.stringify(json);
  const contentType = json === undefined ? type : "application/json";
  const response = await fetch(service.url + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(contentType && { "Content-Type": contentType }) },
    ...(content !== undefined && { body: content }),
  });
  const answer: unknown = await response.json();
  const data = isJsonObject(answer) && isJsonObject(answer.data) ? answer.data : {};
  const message = isJsonObject(answer) ? answer.message : undefined;
  return { status: response.status, data, message };
}

const problemOf = ({ status, data }: { status: number; data: JsonObject }): unknown[] => [
  status,
  data.error_code,
  data.param,
];

const upload = (bytes: Uint8Array<ArrayBuffer>, more: Sent & { query?: string } = {}) =>
  ask("POST", `/v1/files${more.query ?? ""}`, { body: bytes, type: "application/octet-stream", ...more });

function formOf(...parts: [field: string, value: string | Uint8Array][]): FormData {
  const form = new FormData();
  for (const [field, value] of parts)
    typeof value === "string" ? form.append(field, value) : form.append(field, new Blob([value]), "any.bin");
  return form;
}

/** Edits a picture, and waits for the end. */
async function edit(image: unknown, key = service.key) {
  const json = { model: "sandbox-image", prompt: "Fog", size: "16x16", sandbox: { delay_ms: 0 } };
  const created = await ask("POST", "/v1/images/generations", {
    key,
    json: { ...json, image_url: image as string },
  });
  if (created.status !== 200) return created;
  return ask("GET", `/v1/images/status/${created.data.task_id}?wait=30`, { key });
}

/** A recording of sound: 16 bits, 44,100 times a second. */
function wav(seconds: number, level: number): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(44);
  const bytes = seconds * 88_200;
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(44_100, 24);
  header.writeUInt32LE(88_200, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36);
  header.writeUInt32LE(bytes, 40);
  return new Uint8Array(Buffer.concat([header, Buffer.alloc(bytes, level)]));
}

const picked = async (url: unknown) => {
  const response = await fetch(String(url));
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    size: (await response.bytes()).length,
  };
};

test("a file is uploaded as a form or as the body, told by its content, and read without a key", async () => {
  const bytes = await png(8, 6);
  const asForm = await ask("POST", "/v1/files", { body: formOf(["file", bytes], ["name", "a fox"]) });
  const asBody = await upload(bytes, { type: "image/webp", query: "?name=a%20fox" });
  for (const { status, data } of [asForm, asBody]) {
    const { id, url, created_at, expires_at, ...told } = data;
    expect(status).toBe(200);
    expect(told).toMatchObject({
      name: "a fox",
      media_type: "image/png",
      width: 8,
      height: 6,
      duration_ms: null,
    });
    expect(url).toBe(`${service.url}/assets/${id}.png`);
    expect(Number(expires_at) - Number(created_at)).toBe(86_400);
    expect(await picked(url)).toEqual({ status: 200, type: "image/png", size: Number(told.size_bytes) });
    expect(await ask("GET", `/v1/files/${id}`)).toMatchObject({ status: 200, data });
  }
  expect(asForm.data.id).not.toBe(asBody.data.id);
  const cached = (await fetch(String(asBody.data.url))).headers.get("cache-control") ?? "";
  const maxAge = Number(/max-age=(\d+)/.exec(cached)?.[1]);
  expect(maxAge > 86_000 && maxAge <= 86_400).toBe(true);
});

test("a create takes a file by its address and by its id, and the task keeps its copy when the file is deleted", async () => {
  const file = (await upload(await png(16, 16))).data;
  const [byUrl, byId] = [await edit(file.url), await edit(file.id)];
  expect([byUrl.data.status, byId.data.status]).toEqual(["completed", "completed"]);
  expect(await ask("DELETE", `/v1/files/${file.id}`)).toMatchObject({
    status: 200,
    data: { file_id: file.id, deleted: true },
  });
  expect((await picked(file.url)).status).toBe(404);
  expect(problemOf(await ask("GET", `/v1/files/${file.id}`))).toEqual([404, "not_found", undefined]);
  expect(problemOf(await ask("DELETE", `/v1/files/${file.id}`))).toEqual([404, "not_found", undefined]);
  expect(problemOf(await edit(file.url))).toEqual([400, "invalid_request", "image_url"]);
  expect(problemOf(await edit(file.id))).toEqual([400, "invalid_request", "image_url"]);
  const retried = await ask("POST", `/v1/tasks/${byId.data.task_id}/retry`);
  const again = await ask("GET", `/v1/images/status/${retried.data.task_id}?wait=30`);
  expect(again.data.status).toBe("completed");
});

test("another account neither reads, lists nor deletes a file, but whoever has the address may use it", async () => {
  const file = (await upload(await png(12, 12))).data;
  for (const method of ["GET", "DELETE"])
    expect(problemOf(await ask(method, `/v1/files/${file.id}`, { key: other }))).toEqual([
      404,
      "not_found",
      undefined,
    ]);
  expect((await ask("GET", "/v1/files", { key: other })).data.files).toEqual([]);
  expect((await edit(file.url, other)).data.status).toBe("completed");
});

test("pages have the account's files, newest first", async () => {
  const ids: (Json | undefined)[] = [];
  for (const size of [1, 2, 3]) ids.unshift((await upload(await png(size, size), { key: other })).data.id);
  const first = (await ask("GET", "/v1/files?limit=2", { key: other })).data;
  const rest = (await ask("GET", `/v1/files?limit=2&after=${first.next}`, { key: other })).data;
  const idsOf = ({ files }: JsonObject) => (files as JsonObject[]).map(({ id }) => id);
  expect([...idsOf(first), ...idsOf(rest)]).toEqual(ids);
  expect(rest.next).toBeNull();
  for (const query of ["limit=0", "limit=101", "after=nothing", "kind=image"])
    expect((await ask("GET", `/v1/files?${query}`)).status).toBe(400);
});

test("what is no file is refused by its field, and what is no file's body by its type", async () => {
  const image = await png(4, 4);
  const refused: [Sent, unknown[]][] = [
    [{ body: formOf(["file", Buffer.from("text")]) }, [400, "invalid_request", "file"]],
    [{ body: formOf(["name", "a fox"]) }, [400, "invalid_request", "file"]],
    [{ body: formOf(["file", image], ["file", image]) }, [400, "invalid_request", "file"]],
    [{ body: formOf(["picture", image]) }, [400, "invalid_request", "picture"]],
    [{ body: formOf(["file", image], ["colour", "red"]) }, [400, "invalid_request", "colour"]],
    [{ body: formOf(["file", image], ["name", "a"], ["name", "b"]) }, [400, "invalid_request", "name"]],
    [{ body: formOf(["file", image], ["name", "x".repeat(256)]) }, [400, "invalid_request", "name"]],
    [{ body: image.subarray(0, 30), type: "image/png" }, [400, "invalid_request", "file"]],
    [{ body: new Uint8Array(0), type: "image/png" }, [400, "invalid_request", "file"]],
    [{ json: { file: "x" } }, [415, "unsupported_media_type", undefined]],
    [{ body: Buffer.alloc(64 * 1024 * 1024 + 1), type: "video/mp4" }, [413, "request_too_large", undefined]],
  ];
  for (const [sent, problem] of refused)
    expect(problemOf(await ask("POST", "/v1/files", sent))).toEqual(problem);
});

test("an account that would have too much uploaded is refused until some of it goes", async () => {
  const made = await ask("POST", "/admin/v1/keys", {
    key: service.token,
    json: { name: "full", account: "other" },
  });
  const key = String(made.data.key);
  // Sound of the same size each time.
  const sound = (level: number) => wav(6, level);
  const first = await upload(sound(1), { key });
  expect(first.data).toMatchObject({
    media_type: "audio/wav",
    width: null,
    height: null,
    duration_ms: 6_000,
  });
  const refused = await upload(sound(2), { key });
  expect(problemOf(refused)).toEqual([413, "request_too_large", undefined]);
  expect(refused.message).toContain("of 10000 files and 1048576 bytes");
  await ask("DELETE", `/v1/files/${first.data.id}`, { key });
  expect((await upload(sound(2), { key })).status).toBe(200);
});

test("a file of another kind than the field's is refused, and a picture that is given as sound", async () => {
  const sound = (await upload(wav(1, 3))).data;
  expect(problemOf(await edit(sound.url))).toEqual([400, "invalid_request", "image_url"]);
});

interface Keyed {
  readonly key?: string;
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly name?: string;
  readonly as?: string;
}

async function sendOnce({ key = "again", body, name = "a", as = service.key }: Keyed = {}) {
  const response = await fetch(`${service.url}/v1/files?name=${name}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${as}`, "Content-Type": "image/png", "Idempotency-Key": key },
    body: body ?? (await png(9, 9)),
  });
  const { data = {} } = (await response.json()) as { data?: { id?: string; error_code?: string } };
  const replayed = response.headers.get("x-idempotent-replay");
  return { status: response.status, id: data.id ?? "", code: data.error_code, replayed };
}

test("an upload that is sent again with its Idempotency-Key is the same file, at once and later", async () => {
  const all = await Promise.all([sendOnce(), sendOnce(), sendOnce()]);
  const again = await sendOnce();
  expect(new Set([...all, again].map(({ id }) => id)).size).toBe(1);
  expect([all.filter(({ replayed }) => replayed === "true").length, again.replayed]).toEqual([2, "true"]);
  const unkeyed = new Set(
    [await upload(await png(9, 9)), await upload(await png(9, 9))].map(({ data }) => data.id),
  );
  expect(unkeyed.size).toBe(2);
});

test("another file or name under an Idempotency-Key is a conflict, and another key or API key is another file", async () => {
  const first = await sendOnce();
  for (const other of [{ body: await png(10, 9) }, { name: "b" }])
    expect(await sendOnce(other)).toMatchObject({ status: 409, code: "idempotency_conflict" });
  const { data } = await ask("POST", "/admin/v1/keys", {
    json: { name: "second uploader" },
    key: service.token,
  });
  const others = [await sendOnce({ key: "other" }), await sendOnce({ as: String(data.key) })];
  expect(others.map(({ status, replayed }) => [status, replayed])).toEqual([
    [200, null],
    [200, null],
  ]);
  expect(new Set([first, ...others].map(({ id }) => id)).size).toBe(3);
  expect(await sendOnce({ key: "x".repeat(256) })).toMatchObject({
    status: 400,
    code: "invalid_idempotency_key",
  });
  // Once the file is gone, the key is free.
  expect((await ask("DELETE", `/v1/files/${first.id}`)).status).toBe(200);
  expect(await sendOnce({ body: await png(11, 9) })).toMatchObject({ status: 200, replayed: null });
});
