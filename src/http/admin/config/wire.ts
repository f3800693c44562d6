import { closed, component, flag, list, nullable, openEnum, text } from "../../wire/schema.ts";
import { contract } from "../contract.ts";

const SETTING = closed({
  key: text("Its place in svc.yaml; of a key that only a variable may hold, the variable."),
  description: nullable(text("What it decides; null for keys in variables and for parts of svc.yaml.")),
  value: { description: "As svc.yaml has it, or null where it is unset. `[secret]` stands for a secret." },
  source: openEnum(["flag", "variable", "file", "default"], "Where its value was given."),
  where: nullable(text("The flag, the variable, or file, line and column.")),
  default: nullable(text("The default, in words.")),
  restart: nullable(text("Why another value needs a restart; null where it comes into force at once.")),
});

const SETTINGS = component("Settings", {
  settings: list(SETTING, { description: "All of them, in the order of `svc help settings`." }),
});

const keys = (description: string) => list(text("A setting, by its place in svc.yaml."), { description });
const RELOADED = component("ReloadedSettings", {
  in_force: flag(
    "Whether they were taken up. Where anything is wrong, the settings of before stay in force.",
  ),
  changed: keys("Those that are others now."),
  restart: keys("Those that are others in the file, and wait for a restart."),
  problems: list(text("What is wrong, with file, line and column."), {
    description: "Empty where they were taken up.",
  }),
});

export const RELOAD_SETTINGS = contract("reloadSettings", "Read the settings anew", RELOADED, {
  description: "Does what SIGHUP does. A change of svc.yaml is taken up by itself within three seconds.",
  errors: ["invalid_request"],
});

export const READ_SETTINGS = contract("readSettings", "The settings that the server runs with", SETTINGS);
