import { deflateSync } from "node:zlib";
import type { JsonObject } from "../../src/domain/json.ts";
import type { TaskStatus } from "../../src/domain/task/task.ts";
import type { Dice } from "./dice.ts";

/** One create request and how its task must end. */
export interface Rehearsal {
  /** In the prompt, so that a stored task can be told apart whatever became of the answer. */
  readonly marker: string;
  readonly kind: "image" | "video";
  readonly body: JsonObject;
  readonly ends: Extract<TaskStatus, "completed" | "failed">;
  /** Of a task that ends as failed. */
  readonly errorCode?: string;
  readonly outputs: number;
  readonly idempotencyKey?: string;
  /** Hang up on the first answer after so long; only with a key to ask again with. */
  readonly hangUpAfterMs?: number;
  /** Ask for a cancel so long after the answer. */
  readonly cancelAfterMs?: number;
}

type Act = Pick<Rehearsal, "kind" | "ends" | "errorCode" | "outputs" | "cancelAfterMs"> & {
  body: JsonObject;
};

const SIZES = ["16x16", "24x16", "48x32", "64x64"] as const;

const image = (dice: Dice, extra: JsonObject = {}, sandbox: JsonObject = {}): JsonObject => ({
  model: "sandbox-image",
  size: dice.pick(SIZES),
  sandbox: { delay_ms: dice.between(0, 300), ...sandbox },
  ...extra,
});

/** What the tasks of a run are like, and how often. */
const ACTS: readonly { readonly weight: number; readonly play: (dice: Dice) => Act }[] = [
  { weight: 34, play: (dice) => ({ kind: "image", body: image(dice), ends: "completed", outputs: 1 }) },
  {
    weight: 10,
    play: (dice) => {
      // Their outputs come with the answer to the submission.
      const n = dice.between(1, 2);
      const body = { ...image(dice, { n }, { delay_ms: 0 }), size: "16x16" };
      return { kind: "image", body, ends: "completed", outputs: n };
    },
  },
  {
    weight: 8,
    play: (dice) => {
      const n = dice.between(2, 4);
      return {
        kind: "image",
        body: image(dice, { n, output_format: dice.pick(["png", "webp"]) }),
        ends: "completed",
        outputs: n,
      };
    },
  },
  {
    weight: 12,
    play: (dice) => {
      const fail_times = dice.pick([1, 1, 1, 2, 2, 3, 4]);
      return { kind: "image", body: image(dice, {}, { fail_times }), ends: "completed", outputs: 1 };
    },
  },
  {
    weight: 8,
    play: (dice) => {
      const body = image(dice, {}, { outcome: "failed" });
      return { kind: "image", body, ends: "failed", errorCode: "UPSTREAM_ERROR", outputs: 0 };
    },
  },
  {
    weight: 6,
    play: (dice) => {
      const body = image(dice, {}, { outcome: "moderated" });
      return { kind: "image", body, ends: "failed", errorCode: "CONTENT_MODERATED", outputs: 0 };
    },
  },
  {
    weight: 4,
    play: (dice) => {
      const body = image(dice, {}, { outputs_lost: true });
      return { kind: "image", body, ends: "failed", errorCode: "FINALIZATION_FAILED", outputs: 0 };
    },
  },
  {
    weight: 8,
    play: (dice) => ({
      kind: "image",
      body: image(dice),
      ends: "completed",
      outputs: 1,
      cancelAfterMs: dice.between(0, 250),
    }),
  },
  {
    weight: 8,
    play: (dice) => {
      const image_url = `data:image/png;base64,${Buffer.from(plainPng(dice.between(8, 24), dice)).toString("base64")}`;
      return { kind: "image", body: image(dice, { image_url }), ends: "completed", outputs: 1 };
    },
  },
  {
    weight: 2,
    play: (dice) => ({
      kind: "video",
      body: { model: "sandbox-video", duration: 1, sandbox: { delay_ms: dice.between(0, 300) } },
      ends: "completed",
      outputs: 1,
    }),
  },
];
const TOTAL_WEIGHT = ACTS.reduce((sum, act) => sum + act.weight, 0);

/** The next task of a client. */
export function rehearse(dice: Dice, marker: string): Rehearsal {
  const { body, ...rest } = chooseAct(dice).play(dice);
  const hasKey = dice.chance(0.5);
  const hangsUp = hasKey && dice.chance(0.1);
  return {
    ...rest,
    marker,
    body: { ...body, prompt: marker },
    ...(hasKey ? { idempotencyKey: `key of ${marker}` } : {}),
    ...(hangsUp ? { hangUpAfterMs: dice.between(1, 8) } : {}),
  };
}

function chooseAct(dice: Dice) {
  let left = dice.next() * TOTAL_WEIGHT;
  for (const act of ACTS) {
    left -= act.weight;
    if (left < 0) return act;
  }
  throw new Error("The weights of the acts do not sum up.");
}

/** A square PNG of one colour, written out by hand so that it needs no encoder. */
export function plainPng(side: number, dice: Dice): Uint8Array {
  const colour = [0, 1, 2].map(() => dice.between(0, 255));
  const row = [0, ...Array.from({ length: side }, () => colour).flat()];
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2], 8);
  const pixels = deflateSync(Buffer.from(Array.from({ length: side }, () => row).flat()));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", pixels),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, content: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(content.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(Bun.hash.crc32(body), body.length + 4);
  return framed;
}
