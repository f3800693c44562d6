import { AppError } from "../../../domain/errors.ts";
import type { Exchange } from "../../exchange.ts";

/** Where this API is here. */
export const BASE = "/fal";

/**
 * The address at that API that a request is meant for, which its client names where it is given a proxy to go through
 * (`proxyUrl` of `@fal-ai/client`, https://github.com/fal-ai/fal-js, checked 2026-11-27).
 */
const TARGET = "x-fal-target-url";

/** The hosts of that API, and what stands for each below our base. */
const HOSTS: Readonly<Record<string, string>> = {
  "fal.run": "",
  "queue.fal.run": "/queue",
  "rest.fal.ai": "",
  "rest.alpha.fal.ai": "",
};

/** Stands for the host of the queue. */
const QUEUE = "queue/";
const STREAM = "/stream";

function targetOf({ headers }: Request): URL | undefined {
  const text = headers.get(TARGET);
  const url = text === null ? null : URL.parse(text);
  return url !== null && url.protocol === "https:" && Object.hasOwn(HOSTS, url.host) ? url : undefined;
}

/** The path of a request that names its address at that API, which it may at our base alone. */
export function namedPath(path: string, request: Request): string | undefined {
  const target = path === BASE ? targetOf(request) : undefined;
  return target && BASE + HOSTS[target.host] + target.pathname.replace(/\/$/, "");
}

/** The query of a request, which is in the address it names if it names one. */
export function queryOf({ request, query }: Pick<Exchange, "request" | "query">): URLSearchParams {
  return targetOf(request)?.searchParams ?? query();
}

/** Whether a request may have a query; to read one takes longer than to see that there is none. */
export function mayHaveQuery({ url, headers }: Request): boolean {
  return url.includes("?") || headers.has(TARGET);
}

/** How many segments a path to a model may have; that API has two at least, and we have models of one. */
const MOST_SEGMENTS = 5;

/** A model as a path names it. */
export interface NamedModel {
  /** Without what the path says besides. */
  readonly name: string;
  /** Whether the request only joins the queue, and its caller comes back for the result. */
  readonly isQueued: boolean;
  /** Whether the result is to come as an event. */
  readonly isStream: boolean;
}

/**
 * Reads the path of a create. It joins the queue by its path, by a webhook, or by the header with a priority, which that API's client
 * sends to the queue alone.
 * @throws AppError `not_found` for a path with too many segments
 */
export function namedModel({
  request,
  query,
  param,
}: Pick<Exchange, "request" | "query" | "param">): NamedModel {
  const path = param("model");
  const isInQueue = path.startsWith(QUEUE);
  const isQueued =
    isInQueue ||
    request.headers.has("x-fal-queue-priority") ||
    (mayHaveQuery(request) && queryOf({ request, query }).has("fal_webhook"));
  const isStream = !isQueued && path.endsWith(STREAM);
  const from = isInQueue ? QUEUE.length : 0;
  const name = path.slice(from, isStream ? -STREAM.length : undefined);
  const segments = name.split("/").length;
  if (segments > MOST_SEGMENTS)
    throw new AppError("not_found", { kind: "model_path_long", segments, most: MOST_SEGMENTS });
  return { name, isQueued, isStream };
}

/** The addresses of a request in the queue, as its caller reaches them. */
export function addressesOf(
  { request, origin }: Pick<Exchange, "request" | "origin">,
  model: string,
  id: string,
) {
  // Who goes by that API's own addresses is led on by them.
  const base = targetOf(request) === undefined ? `${origin}${BASE}/queue` : "https://queue.fal.run";
  const name = model.startsWith(QUEUE) ? model.slice(QUEUE.length) : model;
  const response = `${base}/${name}/requests/${id}`;
  return { response_url: response, status_url: `${response}/status`, cancel_url: `${response}/cancel` };
}
