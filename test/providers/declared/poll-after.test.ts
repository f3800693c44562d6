import { afterAll, beforeEach, expect, test } from "bun:test";
import type { LaneId, ProviderId } from "../../../src/domain/ids.ts";
import type { Json } from "../../../src/domain/json.ts";
import { createDeclaredProvider } from "../../../src/providers/declared/adapter.ts";
import { loadForm } from "../../../src/providers/declared/loaded.ts";
import { readForm } from "../../../src/providers/declared/read-form.ts";
import { requestOf } from "../../../src/providers/declared/rehearsal/example.ts";
import { createSecret } from "../../../src/toolkit/settings/secret.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { startUpstream } from "../../helpers/scripted-upstream.ts";

const FORM = `provider: patient
form: 1
base: https://api.patient.example
auth: { header: Authorization, value: "Bearer \${key}", key_env: PATIENT_KEY }
submit:
  post: /jobs
  json: { text: "\${prompt}" }
  operation: { id: "\${body.id}" }
  poll_after: \${body.?after}
poll:
  get: /jobs/\${operation.id}
  status: \${body.status}
  words: { done: succeeded, busy: pending }
  poll_after: \${body.?after}
  outputs: { url: "\${body.file}" }
`;

let after: Json;
const upstream = await startUpstream(() => ({ json: { id: "1", status: "busy", after } }));
afterAll(() => upstream.stop());
beforeEach(() => {
  after = null;
});

const provider = createDeclaredProvider({
  id: "patient" as ProviderId,
  form: loadForm(readForm("patient.yaml", FORM), "hash", FORM),
  clock: fakeClock(),
  account: {
    ...{ name: "default", lane: "patient" as LaneId, baseUrl: upstream.origin },
    secrets: { key: createSecret("a-key") },
  },
});

test.each([
  ["nothing", null, undefined],
  ["no delay at all", 0, undefined],
  ["a time in the past", -3, undefined],
  ["seconds in a text", "2.5", 2_500],
  ["next to no delay", 0.001, 100],
  ["a day", 86_400, 600_000],
  ["what is no number", "soon", undefined],
])("an upstream that asks for %s is asked again after %j: %p ms", async (_, asked, delayMs) => {
  after = asked;
  const { signal } = new AbortController();
  const example = { model: "m", kind: "image", mode: "text-to-image", prompt: "A fox", inputs: [] } as const;
  const request = requestOf({ name: "", request: example, answers: [], ends: "pending" }, "patient");
  const submitted = await provider.submit(request, signal);
  expect(submitted).toMatchObject({ kind: "operation", pollAfterMs: delayMs });
  const operation = submitted.kind === "operation" ? submitted.operation : null;
  expect(await provider.poll?.(operation, signal)).toEqual({
    kind: "pending",
    progress: undefined,
    pollAfterMs: delayMs,
  });
});
