import type { ReadMetrics } from "../../service/read-metrics.ts";
import { type Endpoint, managed, open } from "../exchange.ts";
import type { Reply } from "../reply.ts";
import { presentMetrics } from "./present.ts";
import { READ_METRICS } from "./wire.ts";

const HEADERS = {
  "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
  "Cache-Control": "no-store",
} as const;

/** @param isPublic whether no management token is needed */
export function metricsEndpoint(readMetrics: ReadMetrics, isPublic: boolean): Endpoint {
  const handle = async (): Promise<Reply> => ({
    status: 200,
    headers: HEADERS,
    body: presentMetrics(await readMetrics()),
  });
  return isPublic
    ? open("/metrics", READ_METRICS, handle)
    : { ...managed("GET", "/metrics", READ_METRICS, handle), logLevel: "debug" };
}
