import { STANDINGS } from "../../domain/model/standing.ts";
import { closed, openEnum, text } from "./schema.ts";
import { unixSeconds } from "./values.ts";

/** Whether a route at an account gets tasks; see `standingForm`. */
export const STANDING_FIELDS = {
  state: openEnum(
    STANDINGS,
    "Whether it gets tasks. `closed`: it does. `open`: it failed several times in a row. `half_open`: one task tries it. `refused`: the provider refuses the key, the account or the model. `spent`: the account has no money left there. `blocked`: an operator wants it so. `paused`: the provider asked for a pause.",
  ),
  detail: text("What the provider or the operator said."),
  since: unixSeconds("When that began."),
  until: unixSeconds("When it is tried again; absent: now, or when somebody has seen to it."),
};
export const STANDING_OPTIONAL = ["detail", "since", "until"];

export const STANDING_OF_ACCOUNT = closed(
  { account: text("The lane of the account."), ...STANDING_FIELDS },
  { optional: STANDING_OPTIONAL },
);
