import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { MAX_EDIT_IMAGES, MAX_INPUT_BYTES } from "../../../src/domain/limits.ts";
import { startServer, stopServers } from "../../helpers/server.ts";
import { createApi } from "../support/api.ts";
import { formOf } from "../support/forms.ts";
import { noisePng } from "../support/pictures.ts";

setDefaultTimeout(120_000);

afterAll(stopServers);

const CLIENTS = 10;
const MOST_MB = 450;

/** The most memory a process ever had, in MB. */
function peakMemoryMb(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}

test("ten clients that upload ten images of nearly 10 MB at once take less than 450 MB", async () => {
  const server = await startServer();
  const api = createApi(server.url, server.firstKey());
  const png = await noisePng(1830, 1800);
  expect(png.length).toBeGreaterThan(MAX_INPUT_BYTES.image * 0.94);
  expect(png.length).toBeLessThan(MAX_INPUT_BYTES.image);
  const fields = {
    model: "sandbox-image",
    prompt: "x",
    size: "16x16",
    response_format: "url",
    sandbox: '{"delay_ms":0}',
  };
  const form = await formOf(
    fields,
    Array.from({ length: MAX_EDIT_IMAGES }, () => ["image", png] as const),
  );
  const answers = await Promise.all(
    Array.from({ length: CLIENTS }, () => api.send("/compat/v1/images/edits", form)),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: CLIENTS }, () => 200));
  expect(peakMemoryMb(server.pid)).toBeLessThan(MOST_MB);
}, 240_000);
