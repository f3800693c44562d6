import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { prepaidKey, svcJson } from "./support/command.ts";
import { readDatabase } from "./support/database.ts";

/* Follow-ups and groups that are cancelled while they are made, go on or end, and while the server is killed. */

setDefaultTimeout(120_000);

afterEach(stopServers);

const SOON = { delay_ms: 10 };
const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", seed: 7, sandbox: SOON };
const VIDEO = {
  model: "sandbox-video",
  prompt: "x",
  duration: 1,
  resolution: "360p",
  seed: 7,
  sandbox: SOON,
};
const ROUNDS = 6;

interface Made {
  readonly task_id?: string;
  readonly task_ids?: readonly string[];
  readonly group_id?: string;
}

/** An image and a video that are there. */
interface Sources {
  readonly image: string;
  readonly video: string;
}

async function sourcesIn(api: Api): Promise<Sources> {
  const [image, video] = await Promise.all([api.make(IMAGE), api.make(VIDEO)]);
  return { image: image.task_id, video: video.task_id };
}

/** Whatever can be made of them, each with a key of its own, so that it can be sent again. */
const followUps = ({ image, video }: Sources, round: number) =>
  [
    [`/v1/tasks/${image}/variations`, { count: 2 }],
    [`/v1/tasks/${image}/upscale`, { sandbox: { delay_ms: 20 * round } }],
    [`/v1/tasks/${image}/retry`, undefined],
    [`/v1/tasks/${video}/extend`, { model: "sandbox-video-edit", sandbox: { delay_ms: 20 * round } }],
    ...(["all", "first"] as const).map(
      (policy) =>
        [
          "/v1/groups",
          {
            ...{ prompt: "A fox", models: ["sandbox-image"], policy, parameters: { size: "16x16" } },
            grid: { sandbox: [{ delay_ms: 0 }, { delay_ms: 20 * round }, { outcome: "hang" }] },
          },
        ] as const,
    ),
  ].map(([path, body], i) => async (api: Api): Promise<Made | undefined> => {
    const headers = { "Idempotency-Key": `round-${round}-${i}-of-${image}` };
    const sent = { method: "POST", headers, ...(body !== undefined && { body }) };
    const answer = await api.send(String(path), sent as Parameters<Api["send"]>[1]).catch(() => undefined);
    if (answer === undefined) return undefined;
    // The other one with the key is under way.
    if (answer.status === 409) return undefined;
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.data as Made;
  });

const tasksOf = ({ task_id: id, task_ids: ids = [] }: Made) => (id === undefined ? ids : [id, ...ids]);

/** Cancels all that was made, twice at once. One that has ended meanwhile is a conflict. */
async function cancel(api: Api, made: Made): Promise<void> {
  const paths = [
    ...tasksOf(made).map((id) => `/v1/tasks/${id}/cancel`),
    ...(made.group_id === undefined ? [] : [`/v1/groups/${made.group_id}/cancel`]),
  ];
  const answers = await Promise.all(
    [...paths, ...paths].map((path) => api.send(path, { method: "POST" }).catch(() => undefined)),
  );
  for (const answer of answers) if (answer !== undefined) expect([200, 409]).toContain(answer.status);
}

/** Each task has ended, and what was paid is what those that completed cost. */
async function expectSettled(api: Api, dataDir: string, ids: ReadonlySet<string>): Promise<void> {
  let cost = 0;
  const rows = readDatabase<{ id: string; kind: "image" | "video" }>(dataDir, "SELECT id, kind FROM task");
  expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(ids));
  for (const { id, kind } of rows) {
    const { status, usage } = await api.wait(id, kind);
    expect(["completed", "cancelled"]).toContain(String(status));
    if (status === "completed") cost += Number(usage?.cost);
  }
  const [money] = readDatabase<{ held: number; paid: number }>(
    dataDir,
    `SELECT total(held_delta_micros) AS held, 0 - total(CASE WHEN kind = 'capture' THEN balance_delta_micros ELSE 0 END) AS paid
     FROM ledger_entry`,
  );
  expect(money).toEqual({ held: 0, paid: Math.round(cost * 1_000_000) });
  expect(await svcJson(["audit", "--data-dir", dataDir])).toMatchObject({ adds_up: true, differences: [] });
}

test("follow-ups and groups that are cancelled at any moment end once, and pay for what they made alone", async () => {
  const { url, dataDir } = await startServer();
  const api = createApi(url, await prepaidKey(dataDir, "racer", "9.00"));
  const sources = await sourcesIn(api);
  const ids = new Set(Object.values(sources));
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(
      followUps(sources, round).map(async (create) => {
        // The second one is answered by what the first has made, or is about to.
        const both = await Promise.all([create(api), create(api)]);
        for (const made of both) {
          if (made === undefined) continue;
          for (const id of tasksOf(made)) ids.add(id);
          await cancel(api, made);
        }
      }),
    );
  }
  await expectSettled(api, dataDir, ids);
});

test("those that a SIGKILL cuts off while they are made and cancelled are there once, and can be cancelled after it", async () => {
  const first = await startServer();
  const { folder, port, dataDir } = first;
  const key = await prepaidKey(dataDir, "racer", "9.00");
  const api = createApi(first.url, key);
  const sources = await sourcesIn(api);
  const rounds = Array.from({ length: ROUNDS }, (_, round) => followUps(sources, round)).flat();
  // The first that is cancelled has the server killed, in the middle of the others.
  await Promise.all(
    rounds.map(async (create) => {
      const made = await create(api);
      if (made === undefined) return;
      await cancel(api, made);
      first.signal("SIGKILL");
    }),
  );
  await first.exited;
  await startServer({ folder, port });
  const ids = new Set(Object.values(sources));
  for (const create of rounds) {
    const made = await create(api);
    if (made === undefined) throw new Error("The server does not answer.");
    for (const id of tasksOf(made)) ids.add(id);
    await cancel(api, made);
  }
  await expectSettled(api, dataDir, ids);
});
