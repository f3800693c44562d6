import { closed, component, list, nullable, openEnum, text } from "../../wire/schema.ts";
import { contract } from "../contract.ts";

const SETTING = closed({
  key: text("Its place in svc.yaml; of a key that only a variable may hold, the variable."),
  value: { description: "As svc.yaml has it, or null where it is unset. `[secret]` stands for a secret." },
  source: openEnum(["flag", "variable", "file", "default"], "Where its value was given."),
  where: nullable(text("The flag, the variable, or file, line and column.")),
  default: nullable(text("The default, in words.")),
});

const SETTINGS = component("Settings", {
  settings: list(SETTING, { description: "All of them, in the order of `svc help settings`." }),
});

export const READ_SETTINGS = contract("readSettings", "The settings that the server runs with", SETTINGS);
