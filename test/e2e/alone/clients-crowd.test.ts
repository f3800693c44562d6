import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { postAtOnce, type RawAnswer } from "../../helpers/at-once.ts";
import { type Server, startServer, stopServers } from "../../helpers/server.ts";
import { readDatabase } from "../support/database.ts";
import { decode } from "../support/pictures.ts";

setDefaultTimeout(120_000);

const SYNC = "/compat/v1/images/generations";
const TINY = { model: "sandbox-image", size: "1x1" };
const WAITERS = 500;
/** Much longer than what is answered meanwhile takes. */
const WAIT_MS = 6_000;
const TWINS = 1_000;

let server: Server;
let authorization: Readonly<Record<string, string>>;

beforeAll(async () => {
  server = await startServer({
    args: ["--sandbox-concurrency", "2000", "--scheduler-concurrency", "2000"],
  });
  authorization = { Authorization: `Bearer ${server.firstKey()}` };
});

afterAll(stopServers);

const generating = (prompt: string, delayMs: number) => ({
  headers: authorization,
  body: { ...TINY, prompt, sandbox: { delay_ms: delayMs } },
});

/** Requests that are all the same, idempotency key included. */
const twins = (prompt: string) =>
  Array.from({ length: TWINS }, () => ({
    headers: { ...authorization, "Idempotency-Key": prompt },
    body: { ...TINY, prompt, sandbox: { delay_ms: 0 } },
  }));

/** Highest memory of the server so far, in MB; undefined where /proc does not tell. */
function highestMb(): number | undefined {
  const file = `/proc/${server.pid}/status`;
  const kb = existsSync(file) ? /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(file, "utf8"))?.[1] : undefined;
  return kb === undefined ? undefined : Number(kb) / 1024;
}

async function expectPictures(answers: readonly RawAnswer[]): Promise<void> {
  for (const { status, body } of answers) {
    if (status !== 200) throw new Error(`${status} ${body}`);
    const { data } = JSON.parse(body) as { data: readonly { b64_json: string }[] };
    expect(await decode(Buffer.from(data[0]?.b64_json ?? "", "base64"))).toMatchObject({
      format: "png",
      width: 1,
      height: 1,
    });
  }
}

const taskOf = ({ headers }: RawAnswer) => headers.get("x-task-id");

/** Tasks whose prompt is this one, and how often they were held and charged. */
function storedUnder(prompt: string) {
  return readDatabase<{ id: string; kinds: string }>(
    server.dataDir,
    `SELECT task.id, group_concat(ledger_entry.kind ORDER BY ledger_entry.id) AS kinds
     FROM task JOIN ledger_entry ON ledger_entry.task_id = task.id
     WHERE json_extract(request, '$.prompt') = '${prompt}' GROUP BY task.id`,
  );
}

/** Answers with 200, after making sure that every other one says that the first is still being worked on. */
function acceptedOf(answers: readonly RawAnswer[]): readonly RawAnswer[] {
  expect(answers).toHaveLength(TWINS);
  const accepted = answers.filter(({ status }) => status === 200);
  for (const { status, body } of answers) {
    if (status !== 200)
      expect([status, body]).toEqual([409, expect.stringContaining("idempotency_in_progress")]);
  }
  return accepted;
}

describe("five hundred synchronous calls that wait", () => {
  test("all get a picture of their own, hold up nobody else's, and take no more than 200 MB", async () => {
    await expectPictures(await postAtOnce(server.port, SYNC, [generating("first", 0)]));
    const before = highestMb();
    const answered: string[] = [];
    const waiting = postAtOnce(
      server.port,
      SYNC,
      Array.from({ length: WAITERS }, (_, i) => generating(`slow ${i}`, WAIT_MS)),
    ).then((answers) => {
      answered.push("slow");
      return answers;
    });
    for (let i = 0; i < 20; i++) {
      await expectPictures(await postAtOnce(server.port, SYNC, [generating(`fast ${i}`, 0)]));
      answered.push("fast");
    }
    const answers = await waiting;
    await expectPictures(answers);
    // How many depends on the machine: pictures are drawn one after the other, and at a low priority.
    expect(answered.indexOf("slow")).toBeGreaterThan(0);
    expect(new Set(answers.map(taskOf)).size).toBe(WAITERS);
    const after = highestMb();
    if (before !== undefined && after !== undefined) expect(after - before).toBeLessThan(200);
  }, 60_000);
});

describe("a thousand requests at once with one idempotency key", () => {
  test("make one task when they create it", async () => {
    const answers = acceptedOf(await postAtOnce(server.port, "/v1/images/generations", twins("create")));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    const replays = answers.filter(({ headers }) => headers.get("x-idempotent-replay") === "true");
    expect(replays).toHaveLength(answers.length - 1);
    expect(storedUnder("create")).toHaveLength(1);
  });

  test("make one task, one bill and one picture when they wait for it", async () => {
    const answers = acceptedOf(await postAtOnce(server.port, SYNC, twins("wait")));
    await expectPictures(answers.slice(0, 1));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    const [id = ""] = new Set(answers.map(taskOf));
    expect(storedUnder("wait")).toEqual([{ id, kinds: "hold,capture" }]);
  });
});
