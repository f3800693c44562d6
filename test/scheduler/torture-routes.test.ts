import { expect, test } from "bun:test";
import { createFindings } from "../torture/findings.ts";
import { runPolls } from "../torture/routes-polls.ts";
import { runRoutes } from "../torture/routes-run.ts";

test("a bad day of other accounts fails no task that one account can make, and makes none twice", async () => {
  const findings = createFindings();
  const { ends, counts } = await runRoutes({ seed: 4, tasks: 150 }, findings);
  expect(findings.all).toEqual([]);
  expect(ends.completed).toBeGreaterThan(75);
  // Else nothing of what is tested has happened.
  expect(counts.failedOver).toBeGreaterThan(5);
  expect(counts.opened).toBeGreaterThan(0);
}, 60_000);

test("tasks of an account are asked for no more often than it takes, and each in its turn", async () => {
  const findings = createFindings();
  const { polls } = await runPolls({ seed: 1, tasks: 20 }, findings);
  expect(findings.all).toEqual([]);
  expect(polls).toBeGreaterThan(200);
}, 60_000);
