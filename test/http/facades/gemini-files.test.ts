import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { createUploadSessions } from "../../../src/http/facades/gemini/upload-sessions.ts";
import { fakeClock, memoryAssets } from "../../helpers/engine.ts";
import { png } from "../../helpers/media.ts";
import { type CheckAnswer, createAnswerCheck } from "../../helpers/openapi.ts";
import { openPublished } from "../../helpers/published.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";

setDefaultTimeout(30_000);

const published = openPublished("gemini/openapi.json");
let service: PublishedService;
let checkAnswer: CheckAnswer;
let picture: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  service = await startPublished();
  checkAnswer = createAnswerCheck(service.document);
  picture = await png(64, 64);
});

afterAll(() => service.stop());

type Sent = Readonly<Record<string, string>>;

async function send(method: string, target: string, headers: Sent, body?: string | Uint8Array<ArrayBuffer>) {
  const response = await fetch(service.url + target, {
    method,
    headers,
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  checkAnswer(method, target, response.status, response.headers, text);
  const parsed: unknown = JSON.parse(text);
  return {
    ...{ status: response.status, headers: response.headers },
    body: isJsonObject(parsed) ? parsed : {},
    state: response.headers.get("x-goog-upload-status"),
  };
}

const keyed = () => ({ "x-goog-api-key": service.key, "Content-Type": "application/json" });

const begin = (file: JsonObject = {}, more: Sent = {}) =>
  send(
    "POST",
    "/gemini/upload/v1beta/files",
    { ...keyed(), "X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start", ...more },
    JSON.stringify({ file }),
  );

async function placeOf(file: JsonObject = {}, more: Sent = {}): Promise<string> {
  const { headers, state } = await begin(file, more);
  expect(state).toBe("active");
  return new URL(headers.get("x-goog-upload-url") ?? "").pathname;
}

/** Without a key, as some clients send it. */
const part = (place: string, command: string, offset = 0, bytes?: string | Uint8Array<ArrayBuffer>) =>
  send("POST", place, { "X-Goog-Upload-Command": command, "X-Goog-Upload-Offset": String(offset) }, bytes);

const fieldOf = ({ body }: { readonly body: JsonObject }) => {
  const { details } = body.error as { readonly details: { fieldViolations?: { field: string }[] }[] };
  return details.find(({ fieldViolations }) => fieldViolations)?.fieldViolations?.[0]?.field;
};

test("a file comes in parts, is read, listed, used and deleted", async () => {
  const length = { "X-Goog-Upload-Header-Content-Length": String(picture.length) };
  const place = await placeOf({ display_name: "a fox" }, length);
  const half = Math.floor(picture.length / 2);
  expect((await part(place, "upload", 0, picture.slice(0, half))).state).toBe("active");
  expect((await part(place, "query")).headers.get("x-goog-upload-size-received")).toBe(String(half));
  const again = await part(place, "upload", 0, picture.slice(0, half));
  expect([again.status, fieldOf(again)]).toEqual([400, "X-Goog-Upload-Offset"]);
  const early = await part(place, "finalize", half);
  expect([early.status, fieldOf(early)]).toEqual([400, "X-Goog-Upload-Header-Content-Length"]);
  const last = await part(place, "upload, finalize", half, picture.slice(half));
  expect(last.state).toBe("final");
  const file = last.body.file as JsonObject;
  expect(published.problems(["components", "schemas", "File"], file)).toEqual([]);
  expect(file).toMatchObject({
    displayName: "a fox",
    mimeType: "image/png",
    source: "UPLOADED",
    state: "ACTIVE",
  });
  // The answer may have been lost.
  expect((await part(place, "upload, finalize", half, picture.slice(half))).body).toEqual(last.body);

  const path = `/gemini/v1beta/${file.name}`;
  expect((await send("GET", path, keyed())).body).toEqual(file);
  const listed = await send("GET", "/gemini/v1beta/files?pageSize=1", keyed());
  expect(listed.body).toEqual({ files: [file] });
  const fileData = { mimeType: "image/png", fileUri: String(file.uri) };
  const contents = [{ parts: [{ text: "A fox" }, { fileData }] }];
  const generationConfig = { sandbox: { delay_ms: 0 } };
  const body = JSON.stringify({ contents, generationConfig });
  const made = await send("POST", "/gemini/v1beta/models/sandbox-image:generateContent", keyed(), body);
  const task = await send("GET", `/v1/tasks/${made.body.responseId}`, keyed());
  expect(task.body.data).toMatchObject({ request: { mode: "image-to-image" } });
  expect((await send("DELETE", path, keyed())).body).toEqual({});
  expect((await send("GET", path, keyed())).status).toBe(404);
  expect((await send("DELETE", path, keyed())).status).toBe(404);
});

test("what is no upload, no picture, or somebody's own name is refused", async () => {
  expect((await begin({}, { "X-Goog-Upload-Protocol": "raw" })).status).toBe(400);
  expect(fieldOf(await begin({ name: "files/fox" }))).toBe("file.name");
  expect(fieldOf(await begin({ displayName: "" }))).toBe("file.displayName");
  const huge = { "X-Goog-Upload-Header-Content-Length": String(65 * 1024 * 1024) };
  expect((await begin({}, huge)).status).toBe(413);
  const place = await placeOf();
  expect(fieldOf(await part(place, "dance"))).toBe("X-Goog-Upload-Command");
  expect(fieldOf(await part(place, "finalize"))).toBe("file");
  const text = await placeOf();
  const refused = await part(text, "upload, finalize", 0, "no picture");
  expect([refused.status, fieldOf(refused)]).toEqual([400, "file"]);
  expect((await part(text, "query")).status).toBe(404);
  const left = await placeOf();
  expect((await part(left, "cancel")).state).toBe("cancelled");
  expect((await part(left, "upload", 0, picture)).status).toBe(404);
  expect((await part("/gemini/upload/v1beta/files/x", "query")).status).toBe(404);
  const other = { ...keyed(), "x-goog-api-key": "x" };
  expect((await send("GET", "/gemini/v1beta/files", other)).status).toBe(401);
});

test("an upload that is cancelled while a part of it comes is not there any more", async () => {
  const place = await placeOf();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const headers = { "X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": "0" };
  const sent = fetch(service.url + place, { method: "POST", headers, body: readable });
  await writer.write(picture.slice(0, 20));
  // It is refused while the part is being read.
  while ((await part(place, "query")).status !== 400);
  expect((await part(place, "cancel")).state).toBe("cancelled");
  await writer.write(picture.slice(20));
  await writer.close();
  expect((await sent).status).toBe(404);
});

test("what an account has under way is limited as its stored files are", async () => {
  const small = await startPublished({ SVC_UPLOADS_ACCOUNT_MB: "1" });
  try {
    const sent = async (place: string, command: string, offset: number, bytes?: Uint8Array<ArrayBuffer>) => {
      const headers = { "X-Goog-Upload-Command": command, "X-Goog-Upload-Offset": String(offset) };
      return fetch(small.url + place, { method: "POST", headers, ...(bytes && { body: bytes }) });
    };
    const begun = async () => {
      const headers = { "x-goog-api-key": small.key, "Content-Type": "application/json" };
      const start = { "X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start" };
      const asked = { method: "POST", headers: { ...headers, ...start }, body: "{}" };
      const answer = await fetch(`${small.url}/gemini/upload/v1beta/files`, asked);
      return new URL(answer.headers.get("x-goog-upload-url") ?? "").pathname;
    };
    const [one, other] = [await begun(), await begun()];
    const most = new Uint8Array(800_000);
    expect((await sent(one, "upload", 0, most)).status).toBe(200);
    expect((await sent(other, "upload", 0, most)).status).toBe(413);
    expect((await sent(one, "cancel", 0)).status).toBe(200);
    const query = await sent(other, "query", 0);
    const offset = Number(query.headers.get("x-goog-upload-size-received"));
    expect((await sent(other, "upload", offset, most.subarray(offset))).status).toBe(200);
  } finally {
    await small.stop();
  }
});

const sessionsOf = (clock: ReturnType<typeof fakeClock>) => {
  const stopping = new AbortController();
  const sessions = createUploadSessions({ assets: memoryAssets(), clock, stopping: stopping.signal });
  const open = (id: string, accountId: string) =>
    // Ids of tests are not made by the service.
    sessions.open(id as never, { owner: { keyId: "key_1" as never, accountId: accountId as never } });
  return { stopping, sessions, open };
};
const refusedOf = async (calls: readonly Promise<void>[]) =>
  (await Promise.allSettled(calls)).filter(({ status }) => status === "rejected").length;

test("uploads that nobody goes on with are forgotten", async () => {
  const clock = fakeClock(0);
  const { stopping, sessions, open } = sessionsOf(clock);
  for (const i of [0, 1]) await open(`file_${i}`, "one");
  clock.set(9 * 60_000);
  expect(sessions.find("file_0")).toBeDefined();
  clock.set(11 * 60_000);
  expect(sessions.find("file_1")).toBeUndefined();
  expect(sessions.find("file_0")).toBeDefined();
  stopping.abort();
  expect(sessions.find("file_0")).toBeUndefined();
});

test("an account has as many uploads under way as it leaves to others, also when all begin at once", async () => {
  const { sessions, open } = sessionsOf(fakeClock(0));
  const begin = (account: string) =>
    Array.from({ length: 200 }, (_, i) => open(`file_${account}${i}`, account));
  expect(await refusedOf(begin("one"))).toBe(200 - 128);
  expect(await refusedOf(begin("two"))).toBe(200 - 64);
  await expect(open("file_x", "one")).rejects.toMatchObject({ code: "service_unavailable" });
  for (let i = 0; i < 128; i++) await sessions.drop(`file_one${i}`);
  await open("file_x", "one");
});

test("an upload that has ended is no longer under way, and its file is told for ten minutes", async () => {
  const clock = fakeClock(0);
  const { sessions, open } = sessionsOf(clock);
  // The rest of a file means nothing here.
  const file = (id: string) => ({ id }) as never;
  for (let i = 0; i < 5_000; i++) {
    await open(`file_${i}`, "one");
    sessions.end(`file_${i}`, file(`file_${i}`));
  }
  expect(sessions.find("file_4999")).toBeUndefined();
  const known = ["file_4999", "file_904", "file_903"].map((id) => sessions.fileOf(id));
  expect(known).toEqual([file("file_4999"), file("file_904"), undefined]);
  clock.set(10 * 60_000);
  expect(sessions.fileOf("file_4999")).toBeUndefined();
});
