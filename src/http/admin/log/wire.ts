import { LOG_LEVELS, LONGEST_LOG_LEVEL_SEC } from "../../../domain/log-level.ts";
import { jsonBody } from "../../openapi/contract.ts";
import { closed, integer, nullable, requiring, text } from "../../wire/schema.ts";
import { unixSeconds } from "../../wire/values.ts";
import { contract } from "../contract.ts";

const LEVEL = closed({
  level: text("What the log tells now: this and what is graver.", { enum: [...LOG_LEVELS] }),
  usual: text("What the settings say.", { enum: [...LOG_LEVELS] }),
  until: nullable(unixSeconds("When the usual level comes back; null while it is in force.")),
});

export const SET_LEVEL_REQUEST = requiring(["level"], {
  level: text("What the log is to tell.", { enum: [...LOG_LEVELS] }),
  for_seconds: integer("After which the usual level comes back.", {
    minimum: 1,
    maximum: LONGEST_LOG_LEVEL_SEC,
    default: 600,
  }),
});

export const LOG_LEVEL = {
  read: contract("readLogLevel", "The level of the server's log", LEVEL),
  set: contract("setLogLevel", "Change the level of the server's log for a while", LEVEL, {
    description: "The usual level comes back by itself, and with a restart.",
    body: jsonBody(SET_LEVEL_REQUEST),
  }),
};
