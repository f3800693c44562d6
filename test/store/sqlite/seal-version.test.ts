import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import type { AuditDialect } from "../../../src/store/sqlite/audit/checks.ts";
import { figuresIn } from "../../../src/store/sqlite/audit/figures.ts";
import { SEAL_VERSION } from "../../../src/store/sqlite/audit/seal-table.ts";

/** Writes each part that databases have in their own words as a call. */
const dialect = new Proxy({} as AuditDialect, {
  get:
    (_, name) =>
    (...given: readonly unknown[]) =>
      `${String(name)}(${given.join()})`,
});

test("what pages are sealed by is that of this version of seals", () => {
  const text = (["task", "ledger_entry"] as const).map((table) => figuresIn(dialect, table, true)).join();
  expect(text).not.toContain("=>");
  // Where this fails, older seals would be reported as damage: raise SEAL_VERSION, and write the new digest here.
  expect([SEAL_VERSION, createHash("sha256").update(text).digest("hex").slice(0, 16)]).toEqual([
    1,
    "f733e1d46de8883f",
  ]);
});
