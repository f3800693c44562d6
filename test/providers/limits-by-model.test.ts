import { expect, test } from "bun:test";
import type { LaneId, ProviderId } from "../../src/domain/ids.ts";
import { createDeclaredProvider } from "../../src/providers/declared/adapter.ts";
import { loadForm } from "../../src/providers/declared/loaded.ts";
import { readForm } from "../../src/providers/declared/read-form.ts";
import { createSecret } from "../../src/toolkit/settings/secret.ts";
import { fakeClock } from "../helpers/engine.ts";
import { createProvider } from "./openai/harness.ts";

const FORM = `provider: patient
form: 1
base: https://api.patient.example
auth: { header: x-key, value: "\${key}", key_env: PATIENT_KEY }
limits: { by_model: true }
submit: { post: /pictures, json: { prompt: "\${prompt}" }, outputs: { base64: "\${body.picture}" } }
`;
const clock = fakeClock();
const declared = (baseUrl?: string) =>
  createDeclaredProvider({
    ...{ id: "patient" as ProviderId, form: loadForm(readForm("patient.yaml", FORM), "hash", FORM), clock },
    account: {
      ...{ name: "default", lane: "patient" as LaneId, baseUrl, secrets: { key: createSecret("a-key") } },
    },
  });
const openAi = (baseUrl = "https://api.openai.com/v1") => createProvider({ clock, baseUrl });

test("limits are by models at the upstream's own address, and of the account where a relay is in front of it", () => {
  const relay = "https://relay.example/v1";
  expect([declared(), openAi(), declared(relay), openAi(relay)].map((one) => one.limitsByModel)).toEqual([
    ...[true, true, false, false],
  ]);
});
