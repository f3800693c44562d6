import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT, readDocument } from "./blocks.ts";

const sources = await readSources();
const sections = new Set(
  [...(await readDocument("docs/api.md")).matchAll(/^#+ (\d+(?:\.\d+)?)\.? /gm)].map(([, number]) => number),
);

test("every section of docs/api.md that is cited exists", () => {
  const cited = [...sources].flatMap(([path, text]) =>
    [...text.matchAll(/docs\/api\.md (\d+(?:\.\d+)?(?:(?:, | and )\d+(?:\.\d+)?)*)/g)].flatMap(
      ([, numbers = ""]) => numbers.split(/, | and /).map((number) => ({ path, number })),
    ),
  );
  expect(cited.length).toBeGreaterThan(0);
  expect(cited.filter(({ number }) => !sections.has(number))).toEqual([]);
});

test("no section of another document is cited by a sign", () => {
  const sign = String.fromCodePoint(0xa7);
  expect([...sources].filter(([, text]) => text.includes(sign)).map(([path]) => path)).toEqual([]);
});

async function readSources(): Promise<Map<string, string>> {
  const paths = await Array.fromAsync(new Bun.Glob("{src,cli,test}/**/*.{ts,tsx,yaml}").scan({ cwd: ROOT }));
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await Bun.file(join(ROOT, path)).text()] as const)),
  );
}
