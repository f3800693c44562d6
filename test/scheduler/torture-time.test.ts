import { expect, test } from "bun:test";
import { createFindings } from "../torture/findings.ts";
import { runTimeTorture } from "../torture/time-run.ts";

test("hours of set clocks, outages and full disks end no task too soon, and make none twice", async () => {
  const findings = createFindings();
  const { ends, logged } = await runTimeTorture({ days: 0.25, tasks: 60, seed: 20 }, findings);
  expect(findings.all).toEqual([]);
  expect(ends.completed).toBeGreaterThan(20);
  // Else nothing of what is tested has happened.
  expect(Object.keys(logged)).toContain("could not work for a while; moved deadlines by as much");
  expect(Object.keys(logged)).toContain("the system's clock was set; moved waiting work along with it");
}, 120_000);
