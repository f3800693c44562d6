import { isJsonObject, type Json } from "../../domain/json.ts";
import type { TaskKind } from "../../domain/task/request.ts";
import type { Upstream } from "../kit/http.ts";

/** A job of the queue, and where to ask after it. */
export interface FalJob {
  readonly id: string;
  readonly statusUrl: string;
  readonly responseUrl: string;
  readonly cancelUrl: string;
  /** By our clock, epoch milliseconds. */
  readonly submittedAt: number;
  /** What it makes; absent in operations of earlier versions. */
  readonly kind?: TaskKind | undefined;
}

const REQUEST_ID = /^[A-Za-z0-9_-]{1,128}$/;
const URL_MAX = 2048;

/**
 * The stored handle of a new job. Uses the queue's addresses if they are at its origin, else those of its documentation, which
 * omit what follows owner and alias.
 */
export function openOperation(
  upstream: Upstream,
  { endpoint, kind }: { readonly endpoint: string; readonly kind: TaskKind },
  answer: Json | undefined,
): { readonly operation: Json; readonly jobId: string } | undefined {
  const { request_id: id, ...urls } = isJsonObject(answer) ? answer : {};
  if (typeof id !== "string" || !REQUEST_ID.test(id)) return undefined;
  const [owner, alias] = endpoint.split("/");
  const own = `/${owner}/${alias}/requests/${id}`;
  const choose = (given: Json | undefined, path: string) =>
    typeof given === "string" && given.length <= URL_MAX && upstream.isOwn(given) ? given : path;
  const operation = {
    request_id: id,
    status_url: choose(urls.status_url, `${own}/status`),
    response_url: choose(urls.response_url, own),
    cancel_url: choose(urls.cancel_url, `${own}/cancel`),
    submitted_at: upstream.clock.now(),
    kind,
  };
  return { operation, jobId: upstream.scrub(id) };
}

/** Reads a stored handle; undefined when it is none, or names addresses that the key may not be sent to. */
export function readOperation(upstream: Upstream, handle: Json): FalJob | undefined {
  if (!isJsonObject(handle)) return undefined;
  const {
    status_url: statusUrl,
    response_url: responseUrl,
    cancel_url: cancelUrl,
    request_id: id,
    submitted_at: at,
    ...rest
  } = handle;
  const kind = rest.kind === "image" || rest.kind === "video" ? rest.kind : undefined;
  const isAddress = (url: Json | undefined): url is string =>
    typeof url === "string" && (url.startsWith("/") || upstream.isOwn(url));
  if (!isAddress(statusUrl) || !isAddress(responseUrl) || !isAddress(cancelUrl)) return undefined;
  if (typeof id !== "string" || typeof at !== "number") return undefined;
  return { id, statusUrl, responseUrl, cancelUrl, submittedAt: at, kind };
}
