import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  fileLengthViolations,
  functionLengthViolations,
  medianLengthViolations,
  needlessExceptions,
} from "./lengths.ts";
import {
  anyViolations,
  clockViolations,
  cycleViolations,
  defaultExportViolations,
  editedMessageViolations,
  environmentViolations,
  fetchViolations,
  matrixViolations,
  opaqueImportViolations,
  providerNameViolations,
  registryViolations,
} from "./rules.ts";
import type { Sources } from "./source.ts";
import { startViolations } from "./starts.ts";

const ROOT = join(import.meta.dir, "../..");
const sources = await readSources();

test("every import is allowed by the matrix", () => {
  expect(matrixViolations(sources)).toEqual([]);
});

test("every import names its module literally", () => {
  expect(opaqueImportViolations(sources)).toEqual([]);
});

test("no import leads back to its start", () => {
  expect(cycleViolations(sources)).toEqual([]);
});

test("the environment is read in one place", () => {
  expect(environmentViolations(sources)).toEqual([]);
});

test("clock and chance are read in src/runtime only", () => {
  expect(clockViolations(sources)).toEqual([]);
});

test("fetch is called only where addresses are guarded", () => {
  expect(fetchViolations(sources)).toEqual([]);
});

test("every provider is in the list", () => {
  expect(registryViolations(sources)).toEqual([]);
});

test("config, catalogue, composition root, toolkit and the kit of providers know no provider by name", () => {
  expect(providerNameViolations(sources)).toEqual([]);
});

test("no command loads what only a server needs before it needs it", () => {
  expect(startViolations(sources)).toEqual([]);
});

test("no message is edited", () => {
  expect(editedMessageViolations(sources)).toEqual([]);
});

test("no text says a word twice in a row", () => {
  const twice = [...sources].flatMap(([path, text]) =>
    [...text.matchAll(/\b([a-z]{2,}) \1\b(?!-)/g)].map(([words]) => `${path}: ${words}`),
  );
  expect(twice).toEqual([]);
});

test("nothing is exported as default", () => {
  expect(defaultExportViolations(sources)).toEqual([]);
});

test("nothing is typed any", () => {
  expect(anyViolations(sources)).toEqual([]);
});

test("no file is longer than its reader's patience, and most are short", () => {
  expect(fileLengthViolations(sources)).toEqual([]);
  expect(medianLengthViolations(sources)).toEqual([]);
});

test("no function is longer than a screen", () => {
  expect(functionLengthViolations(sources)).toEqual([]);
});

test("nothing is excepted from these lengths that keeps to them", () => {
  expect(needlessExceptions(sources)).toEqual([]);
});

test("the lockfile names no registry", async () => {
  expect(await Bun.file(join(ROOT, "bun.lock")).text()).not.toMatch(/https?:\/\//);
});

async function readSources(): Promise<Sources> {
  const glob = new Bun.Glob("{src,cli,console}/**/*.{ts,tsx,yaml,yml}");
  const paths = (await Array.fromAsync(glob.scan({ cwd: ROOT }))).sort();
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await Bun.file(join(ROOT, path)).text()] as const)),
  );
}
