import { ALERT_KINDS } from "../../../domain/alerts.ts";
import { ON_OUTAGE } from "../../../domain/ports/moderation.ts";
import { jsonBody } from "../../openapi/contract.ts";
import { closed, flag, list, nullable, openEnum, requiring, text } from "../../wire/schema.ts";
import { contract } from "../contract.ts";

export const MODERATION_TEST = requiring(["text"], {
  text: text("What a caller might ask for.", { minLength: 1, maxLength: 100_000 }),
  checks: list(text("Name of a check."), { description: "Only these; all unless given.", maxItems: 100 }),
});

const TRIED = closed({
  verdict: openEnum(["allowed", "refused", "outage"], "What would become of a request with this text."),
  checks: list(
    closed({
      check: text("Its name."),
      verdict: openEnum(["allowed", "refused", "outage"], "What it says. `outage`: it cannot tell."),
      rule: nullable(text("What the text breaks.")),
      reason: nullable(text("Why it cannot tell.")),
      on_outage: openEnum(ON_OUTAGE, "What becomes of a request while it cannot tell."),
      ms: { type: "number", description: "How long it took, in milliseconds." },
    }),
  ),
});

const TOLD = closed({
  targets: list(
    closed({
      to: text("Who: the kind of target and its host, or the program."),
      on: list(openEnum(ALERT_KINDS, "What it is told of.")),
      sent: flag("Whether it could be told."),
      error: nullable(text("Why not.")),
    }),
  ),
});

export const TRIALS = {
  moderation: contract("testModeration", "Try the checks of content on a text", TRIED, {
    description: "Asks every check in turn, as for a request. Neither the text nor the verdict is kept.",
    body: jsonBody(MODERATION_TEST),
    errors: ["invalid_request"],
  }),
  alerts: contract("testAlerts", "Tell everybody who is told of alerts that this is a test", TOLD),
};
