import { AppError } from "../../../domain/errors.ts";
import type { TaskId } from "../../../domain/ids.ts";
import { inOnePiece } from "../../../toolkit/in-one-piece.ts";
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

/** Replaces the host of the queue. */
const QUEUE = "queue/";
const STREAM = "/stream";

function targetIn({ headers }: Request): URL | undefined {
  const text = headers.get(TARGET);
  const url = text === null ? null : URL.parse(text);
  return url !== null && url.protocol === "https:" && Object.hasOwn(HOSTS, url.host) ? url : undefined;
}

/** A request names its address at that API at our base alone. */
function targetOf({ path, request }: Pick<Exchange, "path" | "request">): URL | undefined {
  return path === BASE ? targetIn(request) : undefined;
}

/** The path of a request that names its address at that API. */
export function namedPath(path: string, request: Request): string | undefined {
  const target = targetOf({ path, request });
  return target && BASE + HOSTS[target.host] + target.pathname.replace(/\/$/, "");
}

/** A request, as far as its address is concerned. */
type Addressed = Pick<Exchange, "path" | "request" | "query">;

/** The query of a request, which is in the address it names if it names one. */
export function queryOf(exchange: Addressed): URLSearchParams {
  return targetOf(exchange)?.searchParams ?? exchange.query();
}

/** Whether a request may have a query. Reading one takes longer than checking that there is none. */
export function mayHaveQuery({ path, request }: Pick<Exchange, "path" | "request">): boolean {
  return path === BASE || request.url.includes("?");
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

/** Those that stand for the queue alone: each is asked for again and again. Beyond this many, all are forgotten. */
const inQueue = new Map<string, NamedModel>();
const MOST_KEPT = 500;

/**
 * Reads the path of a create. It joins the queue by its path, by a webhook, or by the header with a priority, which that API's client
 * sends to the queue alone.
 * @throws AppError `not_found` for a path with too many segments
 */
export function namedModel(exchange: Addressed & Pick<Exchange, "param">): NamedModel {
  const path = exchange.param("model");
  const known = inQueue.get(path);
  if (known !== undefined) return known;
  const isInQueue = path.startsWith(QUEUE);
  const isQueued =
    isInQueue ||
    exchange.request.headers.has("x-fal-queue-priority") ||
    (mayHaveQuery(exchange) && queryOf(exchange).has("fal_webhook"));
  const isStream = !isQueued && path.endsWith(STREAM);
  const from = isInQueue ? QUEUE.length : 0;
  const name = path.slice(from, isStream ? -STREAM.length : undefined);
  const segments = name.split("/").length;
  if (segments > MOST_SEGMENTS)
    throw new AppError("not_found", { kind: "model_path_long", segments, most: MOST_SEGMENTS });
  const named = { name, isQueued, isStream };
  if (inQueue.size >= MOST_KEPT) inQueue.clear();
  if (isInQueue) inQueue.set(path, named);
  return named;
}

/**
 * The addresses of a request in the queue, as its caller reaches them: members of an object, as JSON. Every answer has them, and to quote
 * them one by one takes longer than everything else that makes it.
 */
export function addressesOf(
  exchange: Pick<Exchange, "path" | "request" | "origin">,
  model: string,
  id: TaskId,
): string {
  // Who goes by that API's own addresses is led on by them.
  const at = targetOf(exchange) === undefined ? exchange.origin : "";
  const { response, status, cancel } = beginningsOf(at, model);
  return response + id + status + id + cancel + id + END;
}

/** The members of `addressesOf` up to the id in each. */
interface Beginnings {
  readonly at: string;
  readonly response: string;
  readonly status: string;
  readonly cancel: string;
}

const END = '/cancel"';
/** Characters of a model's name. */
const LONGEST_KEPT = 200;

/** By the model, whose name is the caller's. */
const beginnings = new Map<string, Beginnings>();

/** @param at where the caller reaches this service; empty for that API's own addresses */
function beginningsOf(at: string, model: string): Beginnings {
  const known = beginnings.get(model);
  if (known?.at === at) return known;
  const base = at === "" ? "https://queue.fal.run" : `${at}${BASE}/queue`;
  const name = model.startsWith(QUEUE) ? model.slice(QUEUE.length) : model;
  const open = JSON.stringify(`${base}/${name}/requests/`).slice(0, -1);
  const made = {
    at,
    response: inOnePiece('"response_url":', open),
    status: inOnePiece('","status_url":', open),
    cancel: inOnePiece('/status","cancel_url":', open),
  };
  if (model.length > LONGEST_KEPT) return made;
  if (beginnings.size >= MOST_KEPT) beginnings.clear();
  beginnings.set(model, made);
  return made;
}
