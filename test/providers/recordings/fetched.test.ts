import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelId, TaskId } from "../../../src/domain/ids.ts";
import { type Egress, EgressError } from "../../../src/domain/ports/egress.ts";
import { createContext } from "../../../src/providers/recordings/context.ts";
import { readLibrary } from "../../../src/providers/recordings/library.ts";
import { createPlayer } from "../../../src/providers/recordings/player.ts";
import { createRecorder } from "../../../src/providers/recordings/recorder.ts";
import { createSystemClock } from "../../../src/runtime/clock.ts";

const clock = createSystemClock();
const folder = mkdtempSync(join(tmpdir(), "svc-fetched-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const TASK = { id: "task_01m84gnmgyecz9fa6kmvwh781w" as TaskId, model: "canary-1" as ModelId };
const PICTURE = Buffer.from([137, 80, 0, 1, 2, 3]);

/** An address with a picture, and one that does not answer. */
const fetchPublic: Egress["fetchMedia"] = async (url) => {
  if (url.includes("gone")) throw new EgressError("unreachable", "could not be read (ECONNREFUSED)");
  return new Blob([PICTURE]).stream();
};

async function read(fetchMedia: Egress["fetchMedia"], url: string): Promise<unknown> {
  try {
    const content = await fetchMedia(url, { maxBytes: 100, signal: new AbortController().signal });
    return Buffer.concat(await Array.fromAsync(content)).toString("hex");
  } catch (error) {
    return error;
  }
}

const URLS = ["https://example.com/1.png?sig=secret&w=2", "https://example.com/gone"];

test("a caller's file that was fetched is recorded without its signature, and replayed, as is why one was not", async () => {
  const recording = createContext();
  const recorder = createRecorder({ folder, clock, context: recording, onTrouble: () => undefined });
  const fetchMedia = recorder.fetchMedia(fetchPublic);
  const fetched = await recording.within(TASK, () => Promise.all(URLS.map((url) => read(fetchMedia, url))));
  recorder.ended(TASK.id);
  await recorder.stop();
  const library = await readLibrary(folder);
  const playing = createContext();
  const player = createPlayer({ library, context: playing, clock });
  const other = { ...TASK, id: "task_01m84gnmgyecz9fa6kmvwh781x" as TaskId };
  const [played, unknown] = await playing.within(other, async () => [
    await Promise.all(URLS.map((url) => read(player.fetchMedia, url))),
    await read(player.fetchMedia, "https://example.com/2.png"),
  ]);
  expect(library.recordings.flatMap(({ exchanges }) => exchanges.map(({ sent }) => sent.url)).sort()).toEqual(
    ["https://example.com/1.png?sig=masked&w=2", "https://example.com/gone"],
  );
  expect(fetched[0]).toBe(PICTURE.toString("hex"));
  expect(played).toEqual(fetched);
  expect(played?.[1]).toMatchObject({ reason: "unreachable" });
  expect(unknown).toMatchObject({ reason: "bad_status" });
  expect(String(unknown)).toContain("has no answer to GET https://example.com/2.png");
});
