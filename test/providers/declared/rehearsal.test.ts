import { expect, test } from "bun:test";
import { runExample } from "../../../src/providers/declared/rehearsal/example.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { builtInForm } from "./harness.ts";

const form = builtInForm("bfl.yaml");
const example = form.examples!.find(({ ends }) => ends === "lost")!;
const clock = fakeClock();

test("a job that stays unknown is lost once the time of its word is over", async () => {
  expect((await runExample(form, example, { clock })).differences).toEqual([]);
});

test("an example that says lost differs from a job that goes on", async () => {
  const answers = [...example.answers.slice(0, 1), { body: { status: "Pending" } }];
  const { differences } = await runExample(form, { ...example, answers }, { clock });
  expect(differences).toEqual(["ends pending, not lost"]);
});
