import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtInModels } from "../../src/catalog/catalog.ts";
import type { ModelId } from "../../src/domain/ids.ts";
import { createFindModel, createNamesAt } from "../../src/moving/models.ts";
import { createSecrets } from "../../src/runtime/secrets.ts";

const NOW = Date.UTC(2026, 10, 27);
export const { hash } = createSecrets();
const find = createFindModel(builtInModels());
const namesAt = createNamesAt(builtInModels());

/** What readers of gateways are given, with the built-in models. */
export function deps(mapped: Readonly<Record<string, string>> = {}) {
  const customary = (provider: string) => ({ openai: "OPENAI_API_KEY" })[provider];
  const chosen = new Map(Object.entries(mapped).map(([name, id]) => [name, id as ModelId]));
  return { now: NOW, hash, find, namesAt, customary, mapped: chosen, variable: () => undefined };
}

const made: string[] = [];
afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder that goes when the file's tests have ended. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-moving-"));
  made.push(folder);
  return folder;
}
