/*
 * The service with an upstream inside its own process that draws nothing: one pixel at once, or after `sandbox.delay_ms`. What is
 * measured of it is the service alone. Takes the arguments of `svc serve` that the benches use.
 */
import { parseArgs } from "node:util";
import { createApp } from "../../../src/app/app.ts";
import { readConfig } from "../../../src/app/settings.ts";
import type { ProviderId } from "../../../src/domain/ids.ts";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import type { Output, ProviderAdapter } from "../../../src/domain/ports/provider.ts";
import { onePixel } from "./one-pixel.ts";

const { values } = parseArgs({
  options: {
    "data-dir": { type: "string" },
    port: { type: "string" },
    config: { type: "string" },
  },
});
const config = readConfig({
  flags: { dataDir: values["data-dir"], port: values.port },
  file: values.config,
  cwd: process.cwd(),
});
const app = createApp(config, { providers: [createInstantProvider()] });
await app.start();
process.on("SIGTERM", () => void app.stop().then(() => process.exit(0)));

function createInstantProvider(): ProviderAdapter {
  let made = 0;
  const same = onePixel(0);
  // With a seed, no two pictures are the same file, so that each is decoded and flushed as one nobody has seen.
  const outputs = (isNew: boolean): Output[] => [{ kind: "bytes", bytes: isNew ? onePixel(++made) : same }];
  return {
    // In the place of the sandbox, whose models it makes.
    id: "sandbox" as ProviderId,
    lane: "sandbox" as ProviderId,
    submitIsIdempotent: false,
    concurrency: 10_000,
    async submit({ request }) {
      const delayMs = delayOf(request.parameters);
      const isNew = request.parameters.seed !== undefined;
      if (delayMs === 0) return { kind: "outputs", outputs: outputs(isNew) };
      return { kind: "operation", operation: {}, pollAfterMs: delayMs };
    },
    poll: async () => ({ kind: "succeeded", outputs: outputs(false) }),
  };
}

function delayOf({ sandbox }: JsonObject): number {
  const delayMs = isJsonObject(sandbox) ? sandbox.delay_ms : undefined;
  return typeof delayMs === "number" ? delayMs : 0;
}
