import { contract, jsonAnswer } from "../openapi/contract.ts";
import { closed, text } from "../wire/schema.ts";

const state = (value: string) => closed({ status: text("", { const: value }) });

export const READ_HEALTH = contract("readHealth", "Service", "Whether the process answers", {
  answers: { 200: jsonAnswer("It does.", state("ok")) },
});

export const READ_READINESS = contract("readReadiness", "Service", "Whether new tasks are taken", {
  answers: {
    200: jsonAnswer("They are.", state("ready")),
    503: jsonAnswer("They are not: the service starts or stops.", state("not_ready")),
  },
});
