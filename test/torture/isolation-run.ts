import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/domain/json.ts";
import { prepaidKey } from "../e2e/support/command.ts";
import { dataUri, noisePng } from "../e2e/support/pictures.ts";
import { openHangingHost } from "../e2e/support/receivers.ts";
import { type Server, startServer } from "../helpers/server.ts";
import type { Findings } from "./findings.ts";
import type { AttackName, IsolationOptions } from "./isolation-options.ts";

/** What the other tenant is promised while one is hostile. */
export const PROMISES = { timesQuiet: 3, uploadMs: 2_000, memoryMb: 500 } as const;

/** What the other tenant saw of one attack. */
export interface Isolated {
  readonly attack: AttackName;
  /** The 99th percentile of its small creates. */
  readonly p99Ms: number;
  /** Its slowest upload of 2 MB. */
  readonly uploadMs: number;
  /** The most memory the server had. */
  readonly memoryMb: number;
  readonly creates: number;
}

const CREATE = "/v1/images/generations";
const TINY = { model: "sandbox-image", prompt: "x", size: "1x1", sandbox: { delay_ms: 0 } };
const EVERY_MS = 40;
const UPLOADS = 3;
/** So that the hostile tenant's own computing, which would be elsewhere, takes little from the server's. */
const NICE = ["nice", "-n", "19"];

interface Tenant {
  readonly server: Server;
  readonly key: string;
  /** A picture of about 2 MB as a data URI. */
  readonly picture: string;
  readonly findings: Findings;
  readonly attack: AttackName;
}

/**
 * Starts a server for each attack, and measures a tenant of it without and with the attack.
 *
 * @returns the 99th percentile of the tenant's small creates without any attack, of all servers together: that of one
 *   depends on a few creates, and the next may have twice as much
 */
export async function runIsolation(
  options: IsolationOptions,
  findings: Findings,
  onDone: (isolated: Isolated) => void,
): Promise<number> {
  const picture = dataUri(await noisePng(820, 820));
  const quiet: number[] = [];
  const all: Isolated[] = [];
  for (const attack of options.attacks) {
    const { quiet: without, ...isolated } = await measure(attack, options, { findings, picture });
    quiet.push(...without);
    all.push(isolated);
    onDone(isolated);
  }
  const quietMs = p99(quiet);
  for (const isolated of all) checkPromises(isolated, quietMs, findings);
  return quietMs;
}

async function measure(
  attack: AttackName,
  { seconds, seed }: IsolationOptions,
  { findings, picture }: Pick<Tenant, "findings" | "picture">,
): Promise<Isolated & { readonly quiet: readonly number[] }> {
  const server = await startServer({
    env: { SVC_PROBE: "1" },
    args: ["--egress-allow", "127.0.0.0/8", "--log-level", "error"],
  });
  const deaf = openHangingHost();
  try {
    const key = await prepaidKey(server.dataDir, "quiet", "1000.00");
    const tenant: Tenant = { server, key, picture, findings, attack };
    await creates(tenant, 1);
    const quiet = await creates(tenant, seconds);
    const attacker = await startAttack(attack, server, seed, deaf.url);
    try {
      // One after the other: the uploads would keep this process from noticing answers.
      const during = await creates(tenant, seconds);
      const uploadMs = await slowestUpload(tenant);
      const memoryMb = peakMemoryMb(server.pid);
      return { attack, quiet, p99Ms: p99(during), creates: during.length, uploadMs, memoryMb };
    } finally {
      attacker.kill("SIGKILL");
      await attacker.exited;
    }
  } finally {
    deaf.stop();
    server.signal("SIGKILL");
    await server.exited;
  }
}

async function startAttack(attack: AttackName, server: Server, seed: number, deafUrl: string) {
  const program = join(import.meta.dir, "isolation-attacks.ts");
  const child = Bun.spawn(
    [...NICE, process.execPath, program, attack, server.url, server.firstKey(), String(seed), deafUrl],
    { stdout: "pipe", stderr: "inherit", stdin: "ignore" },
  );
  const { value } = await child.stdout.getReader().read();
  if (value === undefined) throw new Error(`The attack "${attack}" did not begin.`);
  return child;
}

/** Creates at a steady pace, whatever becomes of those before. @returns how long each took, in milliseconds */
async function creates(tenant: Tenant, seconds: number): Promise<number[]> {
  const all: Promise<number>[] = [];
  const endAt = performance.now() + seconds * 1000;
  for (let at = performance.now(); at < endAt; at += EVERY_MS) {
    await Bun.sleep(Math.max(0, at - performance.now()));
    all.push(timed(tenant, "a small create", { ...TINY }));
  }
  return Promise.all(all);
}

async function slowestUpload(tenant: Tenant): Promise<number> {
  let slowestMs = 0;
  for (let i = 0; i < UPLOADS; i++) {
    slowestMs = Math.max(slowestMs, await timed(tenant, "an upload", { ...TINY, image_url: tenant.picture }));
  }
  return slowestMs;
}

async function timed({ server, key, findings, attack }: Tenant, what: string, body: JsonObject) {
  const since = performance.now();
  const answer = await fetch(server.url + CREATE, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  }).catch(() => undefined);
  const said = ((await answer?.text()) ?? "nothing").slice(0, 200);
  findings.check(answer?.status === 200, () => `${attack}: ${what} was answered ${answer?.status}: ${said}`);
  return performance.now() - since;
}

function p99(all: readonly number[]): number {
  const sorted = all.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
}

function peakMemoryMb(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}

function checkPromises(isolated: Isolated, quietMs: number, findings: Findings): void {
  const { attack, p99Ms, uploadMs, memoryMb } = isolated;
  const { timesQuiet, uploadMs: uploadWithin, memoryMb: most } = PROMISES;
  const times = (p99Ms / quietMs).toFixed(1);
  findings.check(p99Ms <= timesQuiet * quietMs, () => `${attack}: small creates took ${times} times as long`);
  findings.check(uploadMs <= uploadWithin, () => `${attack}: an upload took ${Math.round(uploadMs)} ms`);
  findings.check(memoryMb <= most, () => `${attack}: the server had ${Math.round(memoryMb)} MB`);
}
