import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openModels } from "../../src/app/models.ts";
import { readConfig } from "../../src/app/settings.ts";
import { ConfigError } from "../../src/config/problem.ts";
import type { ModelId } from "../../src/domain/ids.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { fakeClock } from "../helpers/engine.ts";

const MINE = "mine" as ModelId;
const manifest = (over: JsonObject = {}): string =>
  JSON.stringify({
    ...{ id: MINE, kind: "image", name: "Mine", description: "A model of the house." },
    modes: [{ id: "text-to-image", requires: [] }],
    schema: { required: ["prompt"], properties: { prompt: { type: "string" }, size: { enum: ["S", "L"] } } },
    price: { lines: [{ sku: MINE, unit: "output", amount: "0.020000" }] },
    deadline_seconds: 60,
    routes: [{ provider: "sandbox", upstream_model: "picture" }],
    ...over,
  });

function setup(settings = "") {
  const cwd = mkdtempSync(join(tmpdir(), "own-models-"));
  const folder = join(cwd, "svc-data/models");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(cwd, "svc-data/svc.yaml"), settings);
  const lines: string[] = [];
  const note = (_fields: unknown, message: string) => void lines.push(message);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const clock = fakeClock();
  const releases: (() => void)[] = [];
  return {
    lines,
    write: (text: string, name = "mine.yaml") => writeFileSync(join(folder, name), text),
    remove: (name = "mine.yaml") => rmSync(join(folder, name)),
    open: () =>
      openModels(
        readConfig({ cwd, env: {}, flags: {} }),
        {
          isEnabled: () => true,
          takesFiles: () => true,
          relays: () => [],
          providers: () => PROVIDERS.map(({ id }) => id),
          clock,
          log,
        },
        releases as never,
      ),
    /** Lets a change be seen and taken up. */
    look() {
      clock.advance(750);
      clock.advance(750);
    },
    stop: () => {
      for (const release of releases.splice(0)) release();
    },
  };
}

test("a model of the data folder is there from the start, follows its file, and goes with it", () => {
  const { lines, write, remove, open, look, stop } = setup();
  write(manifest());
  const { catalog } = open();
  expect(catalog.find(MINE)?.name).toBe("Mine");
  write(manifest({ name: "Ours" }));
  look();
  expect(catalog.find(MINE)?.name).toBe("Ours");
  remove();
  look();
  expect(catalog.find(MINE)).toBeUndefined();
  expect(lines).toEqual(Array(3).fill("own models are in force"));
  write(manifest());
  stop();
  look();
  expect(catalog.find(MINE)).toBeUndefined();
});

test("what is wrong with a file is told once, and the last good model stays", () => {
  const { lines, write, open, look } = setup();
  write(manifest());
  const { catalog } = open();
  write(manifest({ kind: "audio" }));
  look();
  write(manifest({ id: "other" }), "other.yaml");
  look();
  expect(catalog.find(MINE)?.kind).toBe("image");
  expect(lines).toEqual([
    "own models are in force",
    "models/mine.yaml:1:21: kind must be one of image, video; the model stays as it last was",
    "own models are in force",
  ]);
});

test("a start goes on with a file that is broken", () => {
  const { lines, write, open } = setup();
  write("{");
  expect(open().catalog.find("sandbox-image")).toBeDefined();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^models\/mine\.yaml:1:2: .*; the model is left out$/);
});

test("prices of the settings file count for own models, as long as they fit", () => {
  const pricing = {
    mine: { lines: [{ sku: "s", unit: "output", amount: "0.500000", when: { size: ["S", "L"] } }] },
  };
  const { lines, write, remove, open, look, stop } = setup(JSON.stringify({ pricing }));
  expect(open).toThrow(ConfigError);
  stop();
  write(manifest());
  const { configuredPrices } = open();
  expect(configuredPrices.get(MINE)?.lines[0]?.sku).toBe("s");
  write(manifest({ schema: { required: [], properties: { prompt: { type: "string" } } } }));
  look();
  expect(configuredPrices.get(MINE)).toBeUndefined();
  write(manifest());
  look();
  expect(configuredPrices.get(MINE)?.lines[0]?.sku).toBe("s");
  remove();
  look();
  expect(configuredPrices.size).toBe(0);
  expect(lines.filter((line) => line.startsWith("pricing."))).toEqual([
    expect.stringContaining("pricing.mine has no price for"),
    expect.stringMatching(/^pricing\.mine\.\S+ .*; it is not in force$/),
    expect.stringContaining("pricing.mine has no price for"),
    "pricing.mine is no model; it is not in force",
  ]);
});

test("an alias that stands for no model is told at the start, and one of an own model is not", () => {
  const { lines, write, open, stop } = setup("aliases: { house: mine, gpt-image-1: sandbox-imag }\n");
  write(manifest());
  open();
  expect(lines.filter((line) => line.startsWith("aliases"))).toEqual([
    "aliases: gpt-image-1 stands for sandbox-imag, which is no model. Did you mean sandbox-image?",
  ]);
  stop();
});
