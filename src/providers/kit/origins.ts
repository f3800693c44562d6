/** Whether the key may be sent to an address. */
export type OriginCheck = (url: URL | null) => boolean;

const BELOW = /^https:\/\/\*((?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?){2,})$/;

/**
 * Creates the check for an upstream's origins. `https://*.example.com` means every name below it, over https at the usual port.
 *
 * @throws Error for a text that is neither an origin nor such a pattern
 */
export function createOriginCheck(origins: readonly string[]): OriginCheck {
  const suffixes: string[] = [];
  const exact = new Set<string>();
  for (const text of origins) {
    const [, suffix] = BELOW.exec(text) ?? [];
    const url = text.includes("*") ? null : URL.parse(text);
    if (suffix !== undefined) suffixes.push(suffix);
    else if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`)
      exact.add(url.origin);
    else throw new Error(`"${text}" is no origin; write https://api.example.com or https://*.example.com`);
  }
  return (url) => {
    if (url === null || url.username !== "" || url.password !== "") return false;
    if (exact.has(url.origin)) return true;
    return url.protocol === "https:" && url.port === "" && isBelow(url.hostname, suffixes);
  };
}

/** Whether a host is a name below one of the suffixes, which begin with a dot. */
export function isBelow(hostname: string, suffixes: readonly string[]): boolean {
  return suffixes.some((suffix) => hostname.endsWith(suffix) && hostname.length > suffix.length);
}
