import * as parse from "../toolkit/settings/parsers.ts";
import { setting } from "../toolkit/settings/setting.ts";

/** Where exchanges with providers are written down, and where answers come from in place of providers. */
export function recordingSettings() {
  return {
    record: setting<string | undefined>({
      key: "record",
      flag: "--record <folder>",
      help: "write down what is exchanged with providers, a file for each task; prompts and files of callers are in it, keys are not",
      parse: parse.text,
      fallback: undefined,
      fallbackText: "off",
    }),
    replay: setting<string | undefined>({
      key: "replay",
      flag: "--replay <folder>",
      help: "answer from what --record wrote, without a network and without keys",
      parse: parse.text,
      fallback: undefined,
      fallbackText: "off",
    }),
  };
}
