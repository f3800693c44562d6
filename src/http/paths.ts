import { RegExpRouter } from "hono/router/reg-exp-router";
import { getPath, tryDecodeURIComponent } from "hono/utils/url";
import { AppError } from "../domain/errors.ts";
import type { Handling } from "./exchange.ts";

/** What answers a request, and where it was asked. */
export interface Found {
  readonly handling: Handling;
  /** As sent. */
  readonly path: string;
  /** A path parameter, decoded; empty when there is none of this name. */
  readonly param: (name: string) => string;
}

/** What answers on one path. */
interface Place {
  readonly byMethod: ReadonlyMap<string, Handling>;
  readonly otherwise: Handling;
}

/**
 * Finds what answers a request. A path that exists answers other methods with 405, an unknown one with 404.
 * @param unknown answers on every other path
 * @throws for paths that cannot be told apart
 */
export function createPaths(endpoints: readonly Handling[], unknown: Handling): (request: Request) => Found {
  const exact = new Map<string, Place>();
  const withParameters = new RegExpRouter<Place>();
  for (const [path, handlings] of Map.groupBy(endpoints, ({ path }) => path)) {
    const byMethod = new Map(handlings.map((handling) => [handling.method, handling]));
    const place = { byMethod, otherwise: methodNotAllowed(path, handlings) };
    if (path.includes(":")) withParameters.add("ALL", path, place);
    else exact.set(path, place);
  }

  return (request) => {
    const path = pathOf(request);
    const known = exact.get(path);
    if (known !== undefined) return { handling: handlingOf(known, request), path, param: NONE };
    const [[first] = [], texts = []] = withParameters.match("ALL", path);
    if (first === undefined) return { handling: unknown, path, param: NONE };
    const [place, positions] = first;
    const param = (name: string) => tryDecodeURIComponent(texts[Number(positions[name])] ?? "");
    return { handling: handlingOf(place, request), path, param };
  };
}

const NONE = () => "";

/** HEAD is asked as GET is. */
function handlingOf({ byMethod, otherwise }: Place, { method }: Request): Handling {
  return byMethod.get(method === "HEAD" ? "GET" : method) ?? otherwise;
}

function methodNotAllowed(path: string, handlings: readonly Handling[]): Handling {
  const allow = handlings.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return {
    method: "GET",
    path,
    access: "public",
    isSecret: handlings.some(({ isSecret }) => isSecret === true),
    handle: ({ request }) => {
      const facts = { kind: "method_not_allowed", method: request.method, allow } as const;
      throw new AppError("method_not_allowed", facts, { allow });
    },
  };
}

/**
 * The path as sent, with `//` read as `/` and without a slash at its end, because clients write both where a base URL ends in a
 * slash. Bun has already resolved dots and backslashes. Without a usable Host header (HTTP/1.0 probes, hostile callers), Bun's
 * `url` is only the path.
 */
function pathOf(request: Request): string {
  const path = request.url.startsWith("/") ? (request.url.split("?", 1)[0] ?? "/") : getPath(request);
  const single = path.includes("//") ? path.replaceAll(/\/{2,}/g, "/") : path;
  return single.endsWith("/") && single !== "/" ? single.slice(0, -1) : single;
}
