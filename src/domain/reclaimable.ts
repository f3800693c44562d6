/** The ages of tasks, in days, for which the removable bytes are counted. */
export const RECLAIM_DAYS = [1, 7, 30, 90] as const;

/** Bytes of tasks that ended before each of `RECLAIM_DAYS`. */
export type BytesByAge = readonly number[];

/** The bytes that each way to free disk space in the data folder would free. */
export interface Reclaimable {
  readonly outputs: BytesByAge;
  readonly inputs: BytesByAge;
  /** Estimated size of callbacks and their sends. Removing them frees pages of the database for later rows. */
  readonly callbacks: BytesByAge;
  /** Stored files that belong to no task. */
  readonly unneeded: number;
  /** Records of providers that run inside this service, such as the sandbox. */
  readonly played: number;
  /** Local copies of files that are in a bucket. */
  readonly cache: number;
  readonly logs: number;
  readonly wal: number;
  /** Free pages of the database. */
  readonly freePages: number;
  /** Whether everything was counted; if not, the figures are lower bounds. */
  readonly isWhole: boolean;
}

/** How long data is kept now, in milliseconds; undefined: for ever. */
export interface KeptNow {
  readonly outputsMs?: number | undefined;
  readonly inputsMs?: number | undefined;
  readonly callbacksMs?: number | undefined;
  readonly tasksMs?: number | undefined;
}

/** Less is not worth a word. */
const LEAST_BYTES = 10_000;
const DAY_SEC = 86_400;

/** Only a reader makes the database's log longer than this. A shorter one is overwritten, and its file does not shrink. */
export const LONG_LOG_BYTES = 64 * 2 ** 20;

/** Says which setting or command frees how much, one line each, largest first. Empty if nothing can be freed. */
export function reclaimLines(found: Reclaimable, kept: KeptNow): string[] {
  const { outputs, inputs, callbacks } = found;
  const tasks = outputs.map((bytes, i) => bytes + (inputs[i] ?? 0) + (callbacks[i] ?? 0));
  const about = found.isWhole ? "" : " at least";
  const ways: readonly (readonly [bytes: number, text: string])[] = [
    ...ofSetting("retention.outputs_seconds", outputs, kept.outputsMs, about),
    ...ofSetting("retention.inputs_seconds", inputs, kept.inputsMs, about),
    ...ofSetting("retention.callbacks_seconds", callbacks, kept.callbacksMs, about),
    ...ofSetting("retention.tasks_seconds", tasks, kept.tasksMs, about),
    [found.unneeded, `svc assets gc frees${about} ${sizeText(found.unneeded)} of files that no task has`],
    [
      found.played,
      `the sandbox's own work is ${sizeText(found.played)}; it goes by itself, most after ten minutes`,
    ],
    [found.cache, `assets.cache_mb: copies of files in the bucket are ${sizeText(found.cache)}`],
    [found.logs, `log.kept_mb: the kept log is ${sizeText(found.logs)}`],
    [
      found.wal < LONG_LOG_BYTES ? 0 : found.wal,
      `the write-ahead log is ${sizeText(found.wal)}; svc doctor says how to find who keeps it so long`,
    ],
    [
      found.freePages,
      `svc db vacuum frees ${sizeText(found.freePages)} of free pages, and needs up to twice the database's size meanwhile`,
    ],
  ];
  return ways
    .filter(([bytes]) => bytes >= LEAST_BYTES)
    .sort(([one], [other]) => other - one)
    .map(([, text]) => text);
}

/** One line with what each age would free. If several ages free the same, only the longest is listed. */
function ofSetting(
  key: string,
  bytes: BytesByAge,
  nowMs: number | undefined,
  about: string,
): [bytes: number, text: string][] {
  const ages = RECLAIM_DAYS.flatMap((days, i) => {
    const [own = 0, older = 0] = [bytes[i], bytes[i + 1]];
    return own < LEAST_BYTES || own === older
      ? []
      : [`${days * DAY_SEC} (${days} d) frees${about} ${sizeText(own)}`];
  });
  const now = nowMs === undefined ? "off" : `${nowMs / 1000}`;
  return ages.length === 0 ? [] : [[bytes[0] ?? 0, `${key} (now ${now}): ${ages.join(", ")}`]];
}

const UNITS = [
  ["TB", 1e12],
  ["GB", 1e9],
  ["MB", 1e6],
] as const;

/** Bytes for people: `3.4 GB`. */
export function sizeText(bytes: number): string {
  const [unit, size] = UNITS.find(([, each]) => bytes >= each) ?? ["KB", 1000];
  return `${Number((bytes / size).toFixed(1))} ${unit}`;
}
