import { contract, jsonAnswer } from "../openapi/contract.ts";
import { optional, text } from "../wire/schema.ts";

const ANSWER = optional({
  challenge: text("The one that was sent, for upstreams that try an address before they use it."),
});

export const TAKE_HOOK = contract("takeHook", "Service", "Tell that a job is done", {
  description:
    "For providers, which get such an address for each job where `public_url` is set. The token is the permission. What the body says is not believed: the provider is asked. A call that says nothing new does nothing.",
  path: { token: text("Names one attempt, and is signed.") },
  answers: { 200: jsonAnswer("It is heard.", ANSWER) },
  errors: ["not_found", "request_too_large", "service_unavailable"],
});
