import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/config.ts";
import { type Condition, noticesFor, type Told } from "../../src/domain/alerts.ts";

function targetsOf(yaml: string) {
  const cwd = mkdtempSync(join(tmpdir(), "svc-alerts-"));
  writeFileSync(join(cwd, "svc.yaml"), yaml);
  return loadConfig({ cwd, cores: 1, providers: [], file: "svc.yaml" }).alerts;
}

test("targets of one address are told by themselves, and neither hears an end of what only the other wants", () => {
  const targets = targetsOf(`alerts:
  - { on: disk_low, to: "https://hooks.example.com/a" }
  - { on: low_balance, to: "https://hooks.example.com/a", remind_seconds: 3600 }
  - { on: low_balance, to: "https://hooks.example.com/b" }
`);
  const low: Condition = { kind: "disk_low", subject: "", summary: "Low." };
  const told = new Map<string, readonly Told[]>();
  const look = (now: number) =>
    targets.map((target) => {
      const next = noticesFor(target, told.get(target.id) ?? [], [low], now);
      told.set(target.id, next.told);
      return next.notices.map(({ state }) => state);
    });
  expect([look(0), look(1), look(2)]).toEqual([
    [["firing"], [], []],
    [[], [], []],
    [[], [], []],
  ]);
});

test("a target that is alone at its address is known by it, whatever stands around it", () => {
  const [alone] = targetsOf(`alerts: [{ on: all, to: "https://hooks.example.com/a" }]`);
  const [, second] = targetsOf(`alerts:
  - { on: all, to: "https://hooks.example.com/b" }
  - { on: disk_low, to: "https://hooks.example.com/a" }
`);
  expect(second?.id).toBe(alone?.id ?? "none");
});
