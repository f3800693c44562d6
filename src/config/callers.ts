import { FACADES, type FacadeName } from "../domain/facades.ts";
import * as parse from "../toolkit/settings/parsers.ts";
import { setting } from "../toolkit/settings/setting.ts";

/** Which callers are spoken to, and in which words. */
export function callerSettings() {
  return {
    facades: setting<readonly FacadeName[]>({
      key: "facades",
      flag: "--facades <names...>",
      help: `which APIs of others are spoken besides the synchronous images: some of ${FACADES.join(", ")}, or none`,
      parse: parse.listOrNone(FACADES),
      fallback: FACADES,
      fallbackText: "all",
    }),
    cors: {
      origins: setting<readonly string[]>({
        key: "cors.origins",
        live: true,
        flag: "--cors-origins <origins...>",
        help: "origins of web pages that may call this service, such as https://app.example.com, or * for any",
        parse: parse.origins,
        fallback: [],
        fallbackText: "none",
      }),
    },
  };
}
