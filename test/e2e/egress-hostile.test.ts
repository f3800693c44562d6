import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCertificate } from "../egress/certificates.ts";
import { emptyFolder, type Server, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { readDatabase } from "./support/database.ts";
import {
  HOSTILE_KINDS,
  type HostileReceiver,
  startHostile,
  startSecure,
  startStalledTls,
} from "./support/egress-hostile.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(120_000);

/*
 * Callbacks to receivers that mean harm, several at once of each kind. What they may cost is time within bounds, a little
 * memory, and their own attempt.
 */
const AT_ONCE = 4;
const MAX_ATTEMPT_MS = 15_000;
/** 16 for each of those at once: most cost less than one, and floods of interim answers eight, until they are collected. */
const MAX_GROWTH_MB = 16 * AT_ONCE;
const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };

interface Attempt {
  readonly outcome: string;
  readonly reason: string | null;
  readonly address: string | null;
  readonly ms: number;
}

const PAST = ["20200101000000Z", "20200102000000Z"] as const;
const RIGHT = makeCertificate(["IP:127.0.0.1"]);
/** The service trusts all but the first. */
const certificates = [
  {
    name: "a certificate nobody vouches for",
    certificate: makeCertificate(["IP:127.0.0.1"]),
    outcome: "unreachable",
    reason: "DEPTH_ZERO_SELF_SIGNED_CERT",
  },
  {
    name: "a certificate for another name",
    certificate: makeCertificate(["DNS:other.test"]),
    outcome: "unreachable",
    reason: "ERR_TLS_CERT_ALTNAME_INVALID",
  },
  {
    name: "a certificate whose time is over",
    certificate: makeCertificate(["IP:127.0.0.1"], PAST),
    outcome: "unreachable",
    reason: "CERT_HAS_EXPIRED",
  },
  { name: "the right certificate", certificate: RIGHT, outcome: "delivered", reason: null },
];

let server: Server;
const receivers: HostileReceiver[] = [];
beforeAll(async () => {
  const trusted = join(emptyFolder("trust"), "trusted.pem");
  writeFileSync(
    trusted,
    certificates.map(({ certificate }, index) => (index > 0 ? certificate?.cert : "") ?? "").join(""),
  );
  server = await startServer({
    args: [...ALLOW_LOOPBACK, "--callbacks-delays-seconds", "3600"],
    env: { NODE_EXTRA_CA_CERTS: trusted },
  });
  // What a process that has worked a little takes anyway.
  for (let round = 0; round < 3; round += 1) {
    const honest = await startHostile("an answer before the request");
    receivers.push(honest);
    await send(honest.url, 8);
    await attempts(honest.url, 8);
  }
});
afterAll(async () => {
  for (const receiver of receivers) receiver.stop();
  await stopServers();
});

async function send(callback_url: string, count: number): Promise<void> {
  const api = createApi(server.url, server.firstKey());
  for (let sent = 0; sent < count; sent += 1) await api.accept({ ...IMAGE, callback_url });
}

/** The attempts to an address once all have ended. */
async function attempts(url: string, count: number): Promise<Attempt[]> {
  const sql = `SELECT outcome, reason, address, ended_at - started_at AS ms
    FROM callback_attempt JOIN callback ON callback.id = callback_id
    WHERE host = '${new URL(url).host}' AND outcome IS NOT NULL`;
  const deadline = performance.now() + MAX_ATTEMPT_MS + 30_000;
  for (;;) {
    const ended = readDatabase<Attempt>(server.dataDir, sql);
    if (ended.length >= count) return ended;
    if (performance.now() > deadline) throw new Error(`${ended.length} of ${count} attempts have ended.`);
    await Bun.sleep(20);
  }
}

function residentMb(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** By how much the service's memory grows while something is done, at its highest. */
async function growthMb(work: () => Promise<void>): Promise<number> {
  const before = residentMb();
  let highest = before;
  const timer = setInterval(() => {
    highest = Math.max(highest, residentMb());
  }, 5);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return highest - before;
}

async function expectAll(receiver: HostileReceiver, outcome: string): Promise<void> {
  const ended = await attempts(receiver.url, AT_ONCE);
  expect(ended.map((attempt) => attempt.outcome)).toEqual(Array(AT_ONCE).fill(outcome));
  expect(ended.map(({ address }) => address)).toEqual(Array(AT_ONCE).fill("127.0.0.1"));
  expect(Math.max(...ended.map(({ ms }) => ms))).toBeLessThan(MAX_ATTEMPT_MS);
  expect(receiver.connections.opened).toBe(AT_ONCE);
  for (let tries = 0; tries < 3_000 && receiver.connections.open > 0; tries += 1) await Bun.sleep(10);
  expect(receiver.connections.open).toBe(0);
}

describe.skipIf(process.platform !== "linux")("a receiver that answers with", () => {
  const quick = HOSTILE_KINDS.filter(({ isSlow }) => !isSlow).map(
    ({ name, outcome }) => [name, outcome] as const,
  );
  test.each(quick)("%s costs its own attempt, which is %s, and little memory", async (name, outcome) => {
    const receiver = await startHostile(name);
    receivers.push(receiver);
    const grownMb = await growthMb(async () => {
      await send(receiver.url, AT_ONCE);
      await attempts(receiver.url, AT_ONCE);
    });
    expect(grownMb).toBeLessThan(MAX_GROWTH_MB);
    await expectAll(receiver, outcome);
  });
});

describe.skipIf(process.platform !== "linux")("receivers that only patience ends", () => {
  test("cost ten seconds and little memory, all at once, and hold up nobody else", async () => {
    const kinds = HOSTILE_KINDS.filter(({ isSlow }) => isSlow);
    const slow = await Promise.all([...kinds.map(({ name }) => startHostile(name)), startStalledTls()]);
    const honest = await startHostile("an answer before the request");
    receivers.push(...slow, honest);
    const took = async ({ url }: { url: string }) => (await attempts(url, AT_ONCE)).map(({ ms }) => ms);
    let others: number[] = [];
    const grownMb = await growthMb(async () => {
      for (const { url } of slow) await send(url, AT_ONCE);
      await send(honest.url, AT_ONCE);
      others = await took(honest);
      for (const { url } of slow) await attempts(url, AT_ONCE);
    });
    expect(grownMb).toBeLessThan(MAX_GROWTH_MB);
    // One that waited for a slow one would take as long as that.
    expect(Math.max(...others)).toBeLessThan(Math.min(...(await Promise.all(slow.map(took))).flat()));
    for (const receiver of slow) await expectAll(receiver, "unreachable");
  });
});

test.skipIf(RIGHT === undefined).each(certificates)(
  "a receiver with $name is told nothing, unless it is the right one",
  async ({ name, certificate, outcome, reason }) => {
    if (certificate === undefined) throw new Error("openssl made no certificate.");
    const receiver = await startSecure(name, certificate);
    receivers.push(receiver);
    await send(receiver.url, AT_ONCE);
    await expectAll(receiver, outcome);
    expect((await attempts(receiver.url, AT_ONCE))[0]?.reason ?? null).toBe(reason);
    expect(receiver.requests()).toBe(outcome === "delivered" ? AT_ONCE : 0);
  },
);
