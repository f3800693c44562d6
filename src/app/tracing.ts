import { hostname } from "node:os";
import type { Config } from "../config/config.ts";
import { readTracingHeaders } from "../config/tracing.ts";
import type { Spans } from "../domain/ports/spans.ts";
import type { Tally } from "../domain/ports/tally.ts";
import { createEgress } from "../egress/egress.ts";
import { createOtlpExporter } from "../runtime/otlp.ts";
import { createSpans } from "../runtime/spans.ts";
import { VERSION } from "../version.ts";
import type { Releases } from "./lifecycle.ts";
import type { Rooms } from "./rooms.ts";

/** The operator's own addresses may be in any network. */
const EVERYWHERE = ["0.0.0.0/0", "::/0"];
const MOST_ANSWER_BYTES = 64 * 1024;

/** Sends traces to the collector that the settings name. @returns undefined where they name none, and in a replay */
export function openTracing(
  { tracing, replay }: Config,
  { clock, log }: Pick<Rooms, "clock" | "log">,
  tally: Pick<Tally, "spans">,
  releases: Releases,
): Spans | undefined {
  const { endpoint, share, prompts } = tracing;
  if (endpoint === undefined || replay !== undefined) return undefined;
  const egress = createEgress({ allow: EVERYWHERE });
  const url = `${endpoint}/v1/traces`;
  const headers = readTracingHeaders(tracing.headers?.reveal() ?? "") ?? {};
  const exporter = createOtlpExporter({
    ...{ clock, log, tally, version: VERSION },
    resource: {
      "service.name": tracing.serviceName,
      "service.version": VERSION,
      "service.instance.id": `${hostname()}-${process.pid}`,
    },
    post: async (body, signal) =>
      (await egress.ask(url, { body, headers }, { maxBytes: MOST_ANSWER_BYTES, signal })).status,
  });
  releases.push(() => exporter.stop());
  return createSpans({ clock, add: exporter.add, share, tellsPrompts: prompts });
}
