import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCheckedForms } from "../../../src/app/checked-forms.ts";
import type { LaneId, ProviderId } from "../../../src/domain/ids.ts";
import type { Json } from "../../../src/domain/json.ts";
import type { ProviderAdapter } from "../../../src/domain/ports/provider.ts";
import { createDeclaredProvider } from "../../../src/providers/declared/adapter.ts";
import { compileExpression } from "../../../src/providers/declared/expression.ts";
import { FORM_BYTES } from "../../../src/providers/declared/form.ts";
import { loadForm } from "../../../src/providers/declared/loaded.ts";
import { OwnForms } from "../../../src/providers/declared/own-forms.ts";
import { readForm, readForms } from "../../../src/providers/declared/read-form.ts";
import { createFalProvider } from "../../../src/providers/fal/adapter.ts";
import { createSystemClock } from "../../../src/runtime/clock.ts";
import { threadCpuMs } from "../../../src/runtime/thread-time.ts";
import { readOwnFiles } from "../../../src/toolkit/own-files.ts";
import { createSecret } from "../../../src/toolkit/settings/secret.ts";
import { edited, HOSTILE_FORMS } from "../../providers/declared/hostile-forms.ts";
import { measurement } from "../run/report.ts";
import { interleave } from "../run/statistics.ts";
import type { Bench } from "./bench.ts";

const FOLDER = join(import.meta.dir, "../../../src/providers/declared");
const FORMS = 40;
const POLLS = 2_000;
const MIB = 1024 * 1024;

/** Providers as pages of YAML: reading them, what hostile ones take, and a poll beside that of a coded provider. */
export const forms: Bench = async ({ rounds, scaled }) => {
  const texts = readdirSync(FOLDER)
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => readFileSync(join(FOLDER, file), "utf8"));
  const forty = Array.from({ length: FORMS }, (_, i) => texts[i % texts.length] ?? "");
  const read = await interleave(rounds, {
    all: async () => timed(() => forty.map((text) => readForm("a.yaml", text))),
  });
  const start = await atStart(rounds, texts);
  const before = process.memoryUsage.rss();
  const holds = HOSTILE_FORMS.map((each) => timed(() => refused(edited(each))));
  const takenMb = Math.max(0, process.memoryUsage.rss() - before) / MIB;
  const expressions = HOSTILE_EXPRESSIONS.map(longestEvaluation);
  return [
    measurement({
      name: "40 own forms taken at a start",
      unit: "ms",
      values: start,
      target: { kind: "most", value: 50 },
      note: "holds up the start; an earlier one has checked them",
    }),
    measurement({
      name: "40 new forms read and checked",
      unit: "ms",
      values: read.all,
      note: "in the thread that reads them",
    }),
    measurement({
      name: "longest reading of a hostile form",
      unit: "ms",
      values: [Math.max(...holds)],
      note: "in the thread that reads them",
    }),
    measurement({
      name: "memory taken by all hostile forms",
      unit: "MB",
      values: [takenMb],
      target: { kind: "most", value: 64 },
    }),
    measurement({
      name: "longest hostile expression",
      unit: "ms",
      values: [Math.max(...expressions)],
      target: { kind: "most", value: 50 },
      note: "holds up the loop",
    }),
    ...(await pollMeasurements(rounds, scaled(POLLS))),
  ];
};

/** Times in ms of taking 40 files that an earlier start has checked. */
async function atStart(rounds: number, texts: readonly string[]): Promise<readonly number[]> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  try {
    for (let i = 0; i < FORMS; i++) {
      const text = (texts[i % texts.length] ?? "").replace(/^provider:.*$/m, `provider: own-${i}`);
      writeFileSync(join(folder, `own-${i}.yaml`), text);
    }
    const take = async () => {
      const { known, keep } = readCheckedForms(folder);
      const files = readOwnFiles(folder, { maxBytes: FORM_BYTES });
      const { forms, checked } = await new OwnForms({ known, builtIn: [], read: readForms }).take(files);
      if (forms.length !== FORMS) throw new Error(`Only ${forms.length} forms are in force.`);
      keep(checked);
    };
    await take();
    const { all } = await interleave(rounds, {
      async all() {
        const startedAt = performance.now();
        await take();
        return performance.now() - startedAt;
      },
    });
    return all;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function timed(work: () => unknown): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

function refused(text: string): void {
  try {
    readForm("a.yaml", text);
  } catch {
    return;
  }
  throw new Error("A hostile form is taken.");
}

/** What passes the fences and takes longest, over the largest answer. */
const HOSTILE_EXPRESSIONS = [
  "body.many.map(a, body.many.map(b, [a, b]).size()).size()",
  'body.list.map(a, [body.text.contains("zz"), a.size() > 2, a.size() > 3])',
  'body.list.map(a, [body.text.split("").size()])',
  'body.list.map(a, body.text.replace("zz", "y"))',
  'body.list.map(a, [a, a, a].join("-"))',
  "body.list.filter(a, a.size() > 2).map(b, {'url': b, 'x': [b]})",
  "body.list.map(a, body == body)",
  "body.list + body.list + body.list + body.list",
  'body.text.replace("aaaaaaaaaaaaaaaaaaaa", "b")',
  "json(body.json)",
];

const ANSWER = {
  list: Array.from({ length: 100_000 }, (_, i) => `entry ${i}`),
  many: Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, i])),
  text: "a".repeat(1_000_000),
  json: `[${"1,".repeat(30_000)}1]`,
};

function longestEvaluation(source: string): number {
  const expression = compileExpression(source, new Set(["body"]));
  return Math.max(
    ...Array.from({ length: 5 }, () =>
      timed(() => {
        try {
          // Each answer is another one.
          expression.evaluate({ body: { ...ANSWER } });
        } catch (error) {
          if (!(error instanceof Error) || error.name !== "ExpressionError") throw error;
        }
      }),
    ),
  );
}

/** The queue of fal, as a form says it. */
const FAL_FORM = `provider: queue
form: 1
base: https://queue.example
auth: { header: Authorization, value: "Key \${key}", key_env: QUEUE_KEY }
submit: { post: "/\${model}", json: { prompt: "\${prompt}" }, operation: { status: "\${body.status_url}", result: "\${body.response_url}" } }
poll:
  get: \${operation.status}
  status: \${body.status}
  words: { IN_QUEUE: pending, IN_PROGRESS: pending, COMPLETED: succeeded }
result: { get: "\${operation.result}", outputs: { url: "\${body.images.map(image, image.url)}" } }
`;

async function pollMeasurements(rounds: number, polls: number) {
  const answer = {
    status: "IN_PROGRESS",
    request_id: "r1",
    queue_position: 0,
    logs: [{ message: "step 1", level: "INFO" }],
  };
  const upstream = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json(answer) });
  const baseUrl = upstream.url.origin;
  const clock = createSystemClock();
  const urls = {
    status_url: `${baseUrl}/a/b/requests/r1/status`,
    response_url: `${baseUrl}/a/b/requests/r1`,
  };
  const coded = createFalProvider({ apiKey: "id:secret", baseUrl, concurrency: 4, clock });
  const declared = createDeclaredProvider({
    ...{ id: "queue" as ProviderId, form: loadForm(readForm("a.yaml", FAL_FORM), "hash", FAL_FORM), clock },
    account: {
      name: "default",
      lane: "queue" as LaneId,
      baseUrl,
      secrets: { key: createSecret("id:secret") },
    },
  });
  const shared = { request_id: "r1", submitted_at: 0, ...urls, cancel_url: `${baseUrl}/cancel` };
  const job = {
    flow: "",
    kind: "image",
    submitted_at: 0,
    values: { status: urls.status_url, result: urls.response_url },
  };
  const subjects = { coded: () => poll(coded, shared, polls), declared: () => poll(declared, job, polls) };
  for (const warm of Object.values(subjects)) await warm();
  const found: Record<keyof typeof subjects, Polled[]> = { coded: [], declared: [] };
  await interleave(rounds, {
    coded: async () => keep(found.coded, await subjects.coded()),
    declared: async () => keep(found.declared, await subjects.declared()),
  });
  await upstream.stop(true);
  const baseline = (of: keyof Polled) => ({
    name: "a coded provider",
    values: found.coded.map((each) => each[of]),
  });
  const more = found.declared.map(({ p99Ms }, i) => p99Ms - (found.coded[i]?.p99Ms ?? 0));
  return [
    measurement({
      name: "processor time of a poll by a form",
      unit: "µs",
      values: found.declared.map(({ cpuUs }) => cpuUs),
      baseline: baseline("cpuUs"),
      note: "with the upstream's share",
    }),
    measurement({
      name: "p99 of a poll by a form",
      unit: "ms",
      values: found.declared.map(({ p99Ms }) => p99Ms),
      baseline: baseline("p99Ms"),
    }),
    measurement({
      name: "p99 of a poll, more than of a coded one",
      unit: "ms",
      values: more,
      target: { kind: "most", value: 0.2 },
    }),
  ];
}

interface Polled {
  readonly cpuUs: number;
  readonly p99Ms: number;
}

function keep(into: Polled[], polled: Polled): number {
  into.push(polled);
  return polled.p99Ms;
}

async function poll(provider: ProviderAdapter, operation: Json, polls: number): Promise<Polled> {
  const { signal } = new AbortController();
  const taken: number[] = [];
  const cpuBefore = threadCpuMs();
  for (let i = 0; i < polls; i++) {
    const startedAt = performance.now();
    const { kind } = (await provider.poll?.(operation, signal)) ?? {};
    taken.push(performance.now() - startedAt);
    if (kind !== "pending") throw new Error(`A poll came to ${kind}.`);
  }
  const cpuUs = ((threadCpuMs() - cpuBefore) * 1_000) / polls;
  taken.sort((a, b) => a - b);
  return { cpuUs, p99Ms: taken[Math.floor(polls * 0.99)] ?? 0 };
}
