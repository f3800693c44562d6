import { afterAll, expect, test } from "bun:test";
import type { ProviderError } from "../../../src/domain/ports/provider.ts";
import { readForm } from "../../../src/providers/declared/read-form.ts";
import { rehearsedProvider, requestOf } from "../../../src/providers/declared/rehearsal/example.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Scripted, startUpstream } from "../../helpers/scripted-upstream.ts";

const FORM = `provider: lists
form: 1
base: https://api.lists.example
auth: { header: x-key, value: "\${key}", key_env: LISTS_KEY }
envelope: { ok: "\${!has(body.error)}" }
submit: { post: /jobs, operation: { id: "\${body.id}" } }
poll: { get: "/jobs/\${operation.id}", status: "\${body.s}", words: { done: succeeded }, outputs: { url: "\${body.url}" } }
recover: { get: "/jobs?key=\${attempt}", found: "\${body.jobs[0].id}", absent_when: ABSENT }
`;
const LIST = '{ if: "${body.?jobs.orValue([]).size() == 0}" }';

const upstream = await startUpstream(() => ({ json: {} }));
afterAll(() => upstream.stop());

/** What a form with this rule concludes from an answer to the question what became of a submission. */
async function recovered(absent: string, answer: Scripted, ageMs?: number): Promise<string> {
  upstream.answer = () => answer;
  const form = readForm(
    "lists.yaml",
    FORM.replace("ABSENT", () => absent),
  );
  const request = { model: "m", kind: "image", mode: "text-to-image", prompt: "A fox" } as const;
  const lost = requestOf({ name: "", request, answers: [], ends: "pending" }, "lists");
  const clock = fakeClock();
  const adapter = rehearsedProvider(form, upstream.origin, clock);
  const startedAt = ageMs === undefined ? undefined : clock.now() - ageMs;
  const told = await adapter
    .recover?.({ ...lost, startedAt }, new AbortController().signal)
    .catch((error: ProviderError) => error.disposition);
  return typeof told === "string" ? told : String(told?.kind);
}

test.each([
  ["a success", { json: { jobs: [] } }, "absent"],
  ["a limit of requests", { status: 429, json: { jobs: [] } }, "retry"],
  ["a refused key", { status: 401, json: {} }, "retry"],
  ["an error of the server", { status: 503, json: {} }, "retry"],
  ["an error that HTTP calls a success", { json: { error: { code: "busy" } } }, "retry"],
])("a rule of an expression alone takes %s for what it is", async (_, answer, told) => {
  expect(await recovered(LIST, answer)).toBe(told);
});

test("a rule that names a status or a code counts in a refusal", async () => {
  const gone = { status: 404, json: { error: { code: "gone" } } };
  const busy = { status: 429, json: { error: { code: "busy" } } };
  for (const rule of ["{ status: 404 }", "{ code: gone }", '{ status: 404, if: "${has(body.error)}" }']) {
    expect(await recovered(rule, gone)).toBe("absent");
    expect(await recovered(rule, busy)).toBe("retry");
  }
});

test.each([
  [500, "unsettled"],
  [59_999, "unsettled"],
  [60_000, "absent"],
  [-120_000, "absent"],
])("an attempt of %d ms that the upstream does not know is %s", async (ageMs, told) => {
  expect(await recovered(LIST, { json: { jobs: [] } }, ageMs)).toBe(told);
  expect(await recovered(LIST, { json: { jobs: [{ id: "1" }] } }, ageMs)).toBe("found");
});
