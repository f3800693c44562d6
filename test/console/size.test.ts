import { expect, test } from "bun:test";
import { join } from "node:path";
import { buildConsole } from "../../cli/build/console.ts";

const FIRST_LOAD_BYTES = 120_000;
const SCREEN_BYTES = 30_000;

const { pack } = await buildConsole(join(import.meta.dir, "../.."));
const scripts = [...pack.files.keys()].filter((name) => name.endsWith(".js"));

/** What a script loads with it: itself, and what it imports at its top. */
function loadedWith(name: string, known = new Set<string>()): Set<string> {
  if (known.has(name)) return known;
  known.add(name);
  const text = new TextDecoder().decode(Bun.gunzipSync(pack.files.get(name)?.gzip ?? new Uint8Array()));
  for (const [, other = ""] of text.matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+\.js)"/g))
    loadedWith(other, known);
  return known;
}

const gzipped = (names: Iterable<string>) =>
  [...names].reduce((sum, name) => sum + (pack.files.get(name)?.gzip.length ?? Number.NaN), 0);

const first = loadedWith(String(pack.about.script));

test("the first load is small", () => {
  expect(gzipped(first)).toBeLessThanOrEqual(FIRST_LOAD_BYTES);
});

test.each(scripts.filter((name) => !first.has(name)))("a later load, %s, is small", (name) => {
  const more = [...loadedWith(name)].filter((each) => !first.has(each));
  expect(gzipped(more)).toBeLessThanOrEqual(SCREEN_BYTES);
});

test("no file names another origin, but for namespaces of the browser's own", () => {
  for (const [name, { gzip }] of pack.files) {
    const text = new TextDecoder().decode(Bun.gunzipSync(gzip));
    const named = [...text.matchAll(/https?:\/\/[\w.-]+/g)].map(([address]) => address);
    const others = named.filter(
      // The last is in a command that is shown.
      (address) => !/^http:\/\/www\.w3\.org$|^https:\/\/tailwindcss\.com$|^http:\/\/localhost$/.test(address),
    );
    expect([name, others]).toEqual([name, []]);
  }
});
