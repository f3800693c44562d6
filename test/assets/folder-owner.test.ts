import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FilesTaken, openFolderMark } from "../../src/assets/folder-owner.ts";
import { Ownership } from "../../src/assets/owner.ts";
import { pauselessClock } from "../helpers/pauseless-clock.ts";

const clock = pauselessClock();
let names = 0;

function folder() {
  const above = mkdtempSync(join(tmpdir(), "svc-owner-"));
  const directory = join(above, "files");
  const made: string[] = [];
  const ownedBy = (name: string, strangers?: string) =>
    new Ownership({
      mark: openFolderMark(directory, {
        now: () => Date.parse("2026-11-29T12:00:00Z"),
        newName: () => `${names++}`,
        onMade: (path) => void made.push(path),
      }),
      me: { folder: `folder_${name}`, host: `${name}.example`, path: `/srv/${name}` },
      clock,
      advice: "Do something.",
      findStrangers: async () => strangers,
    });
  return {
    ...{ directory, made, ownedBy, path: join(directory, "owner.json") },
    [Symbol.dispose]: () => rmSync(above, { recursive: true }),
  };
}

test("the first has the folder, which is made for it, and the second is told whose it is", async () => {
  using files = folder();
  await files.ownedBy("one").require();
  expect(JSON.parse(readFileSync(files.path, "utf8"))).toEqual({
    format: "svc-owner",
    folder: "folder_one",
    host: "one.example",
    path: "/srv/one",
    at: "2026-11-29T12:00:00.000Z",
  });
  expect([statSync(files.directory).mode & 0o777, statSync(files.path).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(files.made).toEqual([files.directory, expect.stringMatching(/owner\.json\.\d+\.part$/)]);
  const second = files.ownedBy("two");
  for (const ask of [() => second.require(), () => second.requireNoOther()])
    await expect(ask()).rejects.toThrow(
      `What lies in the folder ${files.directory} belongs to the data folder /srv/one of the host one.example, since 2026-11-29T12:00:00.000Z. Do something.`,
    );
  await files.ownedBy("one").require();
  expect(readdirSync(files.directory)).toEqual(["owner.json"]);
});

test("of those that come at once, one has the folder", async () => {
  using files = folder();
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, i) => files.ownedBy(`f${i}`).require()),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(results.find(({ status }) => status === "rejected")).toMatchObject({
    reason: expect.any(FilesTaken),
  });
});

test("one that is nobody's is left where what lies there is not ours, and may be taken on purpose", async () => {
  using files = folder();
  const stranger = files.ownedBy("one", "These are not yours.");
  await expect(stranger.require()).rejects.toThrow("These are not yours.");
  expect(await stranger.other()).toBeUndefined();
  expect(await stranger.take()).toBeUndefined();
  await stranger.require();
  expect(await files.ownedBy("two").take()).toContain("/srv/one");
  clock.pass(60_000);
  await expect(stranger.require()).rejects.toThrow("/srv/two");
});

test("a file of another program is nobody's to overwrite", async () => {
  using files = folder();
  await files.ownedBy("one").require();
  writeFileSync(files.path, '{"folder":"folder_one"}');
  await expect(files.ownedBy("one").require()).rejects.toThrow(
    "belongs to another program, by its owner.json",
  );
});
