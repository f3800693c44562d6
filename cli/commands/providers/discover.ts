import type { Command } from "commander";
import type { OfferedEngine } from "../../../src/app/discover-providers.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { addCommand, onRun, withCommonFlags } from "../../command.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { column } from "../../format/table.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { type LocalFlags, readLocalConfig, withLocalFlags } from "../../local.ts";

interface Flags extends LocalFlags {
  readonly port?: readonly string[];
}

const COLUMNS = [
  ...[column.text("ENGINE"), column.text("ADDRESS"), column.word("PROVIDER", 1)],
  ...[column.word("STATE", 2), column.text("MODELS", 3), column.text("SWITCHED ON BY")],
];
/** Models that are named in a line. */
const NAMED = 3;

export function addDiscover(providers: Command, context: Context): void {
  const about = "find engines that run on this machine, and say how to switch them on";
  const command = withLocalFlags(withCommonFlags(addCommand(providers, "discover", about))).option(
    "--port <ports...>",
    "look at these ports too",
  );
  withExamples(command, "svc providers discover", "svc providers discover --port 9000 --json");
  withNotes(
    command,
    "It looks at the usual ports of ComfyUI, AUTOMATIC1111 and Forge, LocalAI, stable-diffusion.cpp, Ollama, vLLM and LM Studio, at 127.0.0.1, ::1 and the addresses of `egress.allow`, for two seconds at most, and asks for what changes nothing. Nothing is written.",
  );
  onRun<Flags>(command, context, async ({ options, output }) => {
    const ports = (options.port ?? []).map(portOf);
    const config = readLocalConfig(options, context);
    // Loaded late: it imports every provider.
    const { discoverProviders } = await import("../../../src/app/discover-providers.ts");
    const { engines, skipped } = await discoverProviders(config, ports);
    await output.list({ engines: engines.map(formOf), skipped }, COLUMNS, engines.map(rowOf));
    for (const range of skipped) output.warn(`${range} has too many addresses to look at.`);
    if (engines.length === 0) output.say("No engine was found.");
  });
}

function portOf(given: string): number {
  const port = Number(given);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw usage("--port takes numbers from 1 to 65535.");
}

function formOf({ engine, provider, baseUrl, isOn, env, setting, models }: OfferedEngine): JsonObject {
  return {
    ...{ engine, provider, base_url: baseUrl, switched_on: isOn, models },
    switch_on: { env, svc_yaml: `${setting}: ${baseUrl}` },
  };
}

function rowOf({ engine, provider, baseUrl, isOn, env, models }: OfferedEngine): string[] {
  const more = models.length > NAMED ? ` and ${models.length - NAMED} more` : "";
  const named = models.slice(0, NAMED).join(", ") + more;
  return [engine, baseUrl, provider, isOn ? "on" : "off", named, env.join(" ")];
}
