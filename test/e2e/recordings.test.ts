import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Scripted, startUpstream } from "../helpers/scripted-upstream.ts";
import { emptyFolder, type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi, type WireData } from "./support/api.ts";
import { BFL_MODERATED, BFL_PENDING, startBfl } from "./support/bfl.ts";
import { svc } from "./support/command.ts";
import { startFalQueue } from "./support/fal-queue.ts";
import { plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const started: { stop(): void }[] = [];
afterEach(async () => {
  for (const upstream of started.splice(0)) upstream.stop();
  await stopServers();
});

const KEYS = {
  FAL_KEY: "fal-canary-5d01f2:0b7e91c3a4d86f25",
  BFL_API_KEY: "bfl-canary-77e2c90a41f3",
  OPENAI_API_KEY: "sk-canary-90f1b2c3d4e5",
};

/** What is made: a queue, a provider that is data, one that answers at once; a refusal, and a job that fails. */
const BODIES = [
  { model: "flux-schnell", prompt: "a lighthouse" },
  { model: "flux-schnell", prompt: "a lighthouse" },
  { model: "flux-2-pro", prompt: "a fox" },
  { model: "flux-2-pro", prompt: "refused" },
  { model: "flux-2-pro", prompt: "moderated" },
  { model: "gpt-image-2", prompt: "a pear" },
];

async function startUpstreams(): Promise<Record<string, string>> {
  const fal = await startFalQueue();
  const bfl = await startBfl({
    submission: (prompt) =>
      prompt === "refused" ? { status: 422, json: { detail: "no foxes here" } } : undefined,
    poll: (prompt) => (prompt === "moderated" ? BFL_MODERATED : undefined),
  });
  const b64_json = Buffer.from(await plainImage(32, 32)).toString("base64");
  const openai = await startUpstream((): Scripted => ({ json: { created: 1, data: [{ b64_json }] } }));
  started.push(fal, bfl, openai);
  // Done at the first question.
  void fal.submitted(1).then(() =>
    fal.jobs.forEach((job) => {
      job.isDone = true;
    }),
  );
  void fal.submitted(2).then(() =>
    fal.jobs.forEach((job) => {
      job.isDone = true;
    }),
  );
  return {
    SVC_PROVIDERS_FAL_BASE_URL: fal.upstream.origin,
    SVC_PROVIDERS_BFL_BASE_URL: bfl.upstream.origin,
    OPENAI_BASE_URL: `${openai.origin}/v1`,
  };
}

/** What a caller gets: the answer without ids and times, and the bytes of each file. */
async function madeBy(api: Api, body: (typeof BODIES)[number]) {
  const task = await api.make(body);
  const files = await Promise.all((task.result ?? []).map(hashOf));
  return { ...withoutChance(task), result: files };
}

function withoutChance({ task_id: _, created_at: __, completed_at: ___, ...rest }: WireData): WireData {
  return rest;
}

async function hashOf(url: string): Promise<string> {
  const bytes = await (await fetch(url, { keepalive: false })).bytes();
  return `${bytes.length} ${new Bun.CryptoHasher("sha256").update(bytes).digest("hex")}`;
}

/** Makes everything with the upstreams, and stops them. @returns the recordings and what callers got */
async function record() {
  const folder = join(emptyFolder("recorded"), "recordings");
  const server = await startServer({
    args: ["--no-sandbox", "--record", folder],
    env: { ...KEYS, ...(await startUpstreams()) },
  });
  const api = createApi(server.url, server.firstKey());
  const made: Awaited<ReturnType<typeof madeBy>>[] = [];
  for (const body of BODIES) made.push(await madeBy(api, body));
  await server.stop();
  for (const upstream of started.splice(0)) upstream.stop();
  return { folder, made };
}

async function replay(folder: string): Promise<{ server: Server; api: Api }> {
  const server = await startServer({ args: ["--no-sandbox", "--replay", folder] });
  return { server, api: createApi(server.url, server.firstKey()) };
}

/** The recording of a prompt. */
function recordingOf(folder: string, prompt: string): string {
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  const found = names.find((name) => readFileSync(join(folder, name), "utf8").includes(`"${prompt}"`));
  if (found === undefined) throw new Error(`No recording has ${prompt}.`);
  return join(folder, found);
}

test("what was recorded is replayed in an empty folder without upstreams and keys, byte for byte", async () => {
  const { folder, made } = await record();
  const elsewhere = join(emptyFolder("moved"), "demo");
  cpSync(folder, elsewhere, { recursive: true });
  const { server, api } = await replay(elsewhere);
  const replayed: unknown[] = [];
  for (const body of BODIES) replayed.push(await madeBy(api, body));
  expect(replayed).toEqual(made);
  expect(made).toMatchObject([
    ...[{ status: "completed" }, { status: "completed" }, { status: "completed" }],
    ...[{ status: "failed" }, { status: "failed", error_code: "CONTENT_MODERATED" }, { status: "completed" }],
  ]);
  expect(await server.stop()).toBe(0);
});

test("a request that was not recorded fails at once, and says what is recorded instead; others are made", async () => {
  const { folder } = await record();
  const { api } = await replay(folder);
  const other = await api.make({ model: "flux-2-pro", prompt: "a wolf" });
  const unknown = await api.make({ model: "flux-dev", prompt: "a wolf" });
  expect(other).toMatchObject({ status: "failed", error_code: "UPSTREAM_ERROR" });
  expect(other.error_message).toMatch(
    /has no answer to POST \S+\/v1\/flux-2-pro: nearest is task_\w+\.jsonl:3, but body\.prompt is "[a-z ]+" there, and "a wolf" here\.$/,
  );
  expect(unknown.error_message).toContain(
    "no task of flux-dev was recorded, but of flux-2-pro, flux-schnell, gpt-image-2.",
  );
  expect((await api.make({ model: "flux-2-pro", prompt: "a fox" })).status).toBe("completed");
});

test("recordings that are cut, changed or lack a file are told with their lines, and fail the tasks that need them", async () => {
  const { folder, made } = await record();
  const [cut, pear] = [recordingOf(folder, "a fox"), recordingOf(folder, "a pear")];
  const whole = readFileSync(cut, "utf8").split("\n");
  // The job was taken; the line of the first question is half there.
  writeFileSync(cut, `${whole.slice(0, 4).join("\n")}\n${whole[4]?.slice(0, 40)}`);
  const files = new Set(
    [...readFileSync(recordingOf(folder, "a lighthouse"), "utf8").matchAll(/"file":"(\w+)"/g)].map(
      ([, name = ""]) => name,
    ),
  );
  for (const name of files) rmSync(join(folder, "files", name));
  const { server, api } = await replay(folder);
  await server.says(new RegExp(`${basename(cut)}:5: is cut off, or is no JSON`));
  await server.says(new RegExp(`task_\\w+.jsonl:\\d+: files/${[...files][0]} is missing`));
  const [fox, lighthouse] = [await api.make(BODIES[2] ?? {}), await api.make(BODIES[0] ?? {})];
  expect(fox).toMatchObject({ status: "failed" });
  expect(fox.error_message).toContain(`${basename(cut)} is cut after line 4.`);
  expect(lighthouse).toMatchObject({ status: "failed", error_code: "FINALIZATION_FAILED" });
  expect([await madeBy(api, { model: "gpt-image-2", prompt: "a pear" })]).toEqual(made.slice(5));
  expect(readFileSync(pear, "utf8")).toContain('"ended"');
});

test("a server that is to record and replay at once, or to replay a folder that is not there, says so and does not start", async () => {
  const folder = emptyFolder("nothing");
  const both = await svc([
    "serve",
    "--record",
    folder,
    "--replay",
    folder,
    "--data-dir",
    join(folder, "data"),
  ]);
  const none = await svc(["serve", "--replay", join(folder, "gone"), "--data-dir", join(folder, "data")]);
  expect([both.exitCode, none.exitCode]).toEqual([12, 12]);
  expect(both.stderr).toContain("record, replay: are both set; a replay has nothing to record");
  expect(none.stderr).toContain("replay: ");
  expect(none.stderr).toContain("gone cannot be read: there is no such file or folder");
});

test("a form makes the recorded calls again: the one in use as they were, a changed one is told where it asks or understands otherwise", async () => {
  const { folder } = await record();
  const parent = dirname(folder);
  const whole = await svc(["providers", "check", "--replay", "recordings", "--json"], { folder: parent });
  expect(JSON.parse(whole.stdout)).toEqual({ ok: true, findings: [], examples: 0, troubles: 0, calls: 6 });
  const form = readFileSync(join(import.meta.dir, "../../src/providers/declared/bfl.yaml"), "utf8");
  const changed = form
    .replace("Request Moderated: { failed: moderated }", "Request Moderated: { failed: broken }")
    .replace('outputs: { url: "${body.?result.?sample}" }', 'outputs: { url: "${body.?result.?picture}" }')
    .replaceAll("prompt: ${prompt}", "text: ${prompt}");
  writeFileSync(join(parent, "bfl.yaml"), changed);
  const { exitCode, stdout } = await svc(
    ["providers", "check", "bfl.yaml", "--replay", "recordings", "--json"],
    { folder: parent },
  );
  const { findings } = JSON.parse(stdout) as { findings: { file: string; line: number; message: string }[] };
  const nameOf = (prompt: string) => `recordings/${basename(recordingOf(folder, prompt))}`;
  const submits = (prompt: string) =>
    `submit: the form asks for POST http://… not as in line 3: body.prompt is "${prompt}" there, and absent here`;
  const byPlace = ([one, line]: readonly unknown[], [other, next]: readonly unknown[]) =>
    String(one).localeCompare(String(other)) || Number(line) - Number(next);
  const ofRecordings = findings.filter(({ file }) => file.startsWith("recordings/"));
  expect(exitCode).toBe(1);
  expect(ofRecordings.map(({ file, line, message }) => [file, line, message.replace(/127\S+/, "…")])).toEqual(
    [
      ...["a fox", "refused", "moderated"].map((prompt) => [nameOf(prompt), 4, submits(prompt)]),
      [nameOf("a fox"), 6, expect.stringContaining("poll: the result.came.outputs")],
      [
        ...[nameOf("moderated"), 6],
        'poll: the result.came.code is "CONTENT_MODERATED" there, and "UPSTREAM_ERROR" here',
      ],
    ].sort(byPlace),
  );
});

test("a recording that kill -9 cut off goes on with the next start, and is replayed as one", async () => {
  let isDone = false;
  const bfl = await startBfl({ poll: () => (isDone ? undefined : BFL_PENDING) });
  started.push(bfl);
  const folder = emptyFolder("killed");
  const recordings = join(folder, "recordings");
  const { BFL_API_KEY } = KEYS;
  const options = {
    ...{ folder, args: ["--no-sandbox", "--record", recordings] },
    env: { BFL_API_KEY, SVC_PROVIDERS_BFL_BASE_URL: bfl.upstream.origin },
  };
  const killed = await startServer(options);
  const key = killed.firstKey();
  const body = { model: "flux-2-pro", prompt: "a fox" };
  const id = await createApi(killed.url, key).accept(body);
  // Submitted, and asked after twice.
  await bfl.upstream.until(3);
  killed.signal("SIGKILL");
  await killed.exited;
  isDone = true;
  const next = await startServer({ ...options, port: killed.port });
  const made = await createApi(next.url, key).wait(id);
  const result = await Promise.all((made.result ?? []).map(hashOf));
  await next.stop();
  bfl.stop();
  const { api, server } = await replay(recordings);
  expect(await madeBy(api, body)).toEqual({ ...withoutChance(made), result });
  expect(made.status).toBe("completed");
  expect(server.stdout() + server.stderr()).not.toContain(".jsonl:");
});
