import { abandon } from "./bounded-body.ts";

export interface RedirectRules {
  readonly max: number;
  /** The error for a chain that leads nowhere; `problem` is a verb phrase. */
  readonly refuse: (problem: string) => Error;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Follows redirects to the answer at their end.
 *
 * @param request checks an address, then requests it without following redirects; `hops` is 0 for the address given
 */
export async function followRedirects(
  url: string,
  request: (url: string, hops: number) => Promise<Response>,
  { max, refuse }: RedirectRules,
): Promise<Response> {
  let current = url;
  for (let hops = 0; ; hops += 1) {
    const response = await request(current, hops);
    const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
    if (location === null) return response;
    abandon(response);
    if (hops === max) throw refuse("redirects too many times");
    const next = URL.parse(location, current);
    if (next === null) throw refuse("redirects to something that is not a URL");
    current = next.href;
  }
}
