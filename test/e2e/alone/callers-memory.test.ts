import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { startServer, stopServers } from "../../helpers/server.ts";
import { createFindings } from "../../torture/findings.ts";
import { type Isolated, runIsolation } from "../../torture/isolation-run.ts";
import { createApi } from "../support/api.ts";
import { hold } from "../support/holding.ts";

setDefaultTimeout(120_000);

afterEach(stopServers);

const TINY = { model: "sandbox-image", prompt: "x", size: "1x1", sandbox: { delay_ms: 0 } };

/** The most memory a process ever had, in MB. */
function peakMemoryMb(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}

test("twenty-four bodies of 31 MB at once take less than 400 MB", async () => {
  const server = await startServer();
  const api = createApi(server.url, server.firstKey());
  const image_url = `data:image/png;base64,${"A".repeat(31_000_000)}`;
  const body = new TextEncoder().encode(JSON.stringify({ ...TINY, image_url }));
  const answers = await Promise.all(
    Array.from({ length: 24 }, () => api.send("/v1/images/generations", { body })),
  );
  // It is no picture, which is found out as it arrives.
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
  expect(peakMemoryMb(server.pid)).toBeLessThan(400);
});

test("two hundred readers of the reference's script who do not read take less than 300 MB", async () => {
  const server = await startServer();
  const page = await (await fetch(`${server.url}/docs`)).text();
  const script = `/docs/${/docs\/(reference-[^"]+)/.exec(page)?.[1]}`;
  const head = `GET ${script} HTTP/1.1\r\nHost: test\r\nAccept-Encoding: identity\r\n`;
  const readers = Array.from({ length: 200 }, () => hold(server.port, head, { isReading: false }));
  // Whoever asks after them is answered after them.
  const { headers } = await fetch(`${server.url}${script}`, {
    method: "HEAD",
    headers: { "Accept-Encoding": "identity" },
  });
  expect(Number(headers.get("content-length"))).toBeGreaterThan(4_000_000);
  const whole = await (
    await fetch(`${server.url}${script}`, { headers: { "Accept-Encoding": "identity" } })
  ).bytes();
  expect(whole.length).toBe(Number(headers.get("content-length")));
  expect(peakMemoryMb(server.pid)).toBeLessThan(300);
  for (const reader of readers) reader.leave();
});

test("tenants that drip, declare much, open streams and read no docs keep nobody from creating and uploading", async () => {
  const findings = createFindings();
  const all: Isolated[] = [];
  const attacks = ["drip", "declared", "streams", "docs"] as const;
  await runIsolation({ attacks, seconds: 1, seed: 11 }, findings, (isolated) => void all.push(isolated));
  expect(all.map(({ attack }) => attack)).toEqual([...attacks]);
  // How much slower creates become is only comparable on a machine that does nothing else.
  expect(findings.all.filter((finding) => !finding.includes("times as long"))).toEqual([]);
});
