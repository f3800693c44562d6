import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { parseBody, troubleOf, unreachable } from "./answer.ts";
import type { ClientOptions } from "./exchange.ts";

const DOWNLOAD_TIMEOUT_MS = 600_000;

/** Requests a result's file, without any credential. */
export async function fetchFile(url: string, options: ClientOptions) {
  const origin = URL.parse(url)?.origin ?? url;
  try {
    const response = await fetch(url, {
      headers: { "User-Agent": options.userAgent },
      redirect: "manual",
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS)]),
    });
    options.onExchange?.(`GET ${url} ${response.status}`);
    if (response.status === 200) return { ok: true as const, value: response };
    const { retry, failure, retryAfterMs } = troubleOf(response, parseBody(await response.text()), origin);
    const code = failure.exitCode === EXIT.auth ? EXIT.error : failure.exitCode;
    const told = new Failure(code, failure.code, `${url}: ${failure.message}`, { more: failure.more });
    return { ok: false as const, failure: told, retry, retryAfterMs };
  } catch (error) {
    return { ok: false as const, ...unreachable(error, origin) };
  }
}
