/** What stands for the address where an upstream may call, which is a secret. */
export const HOOK_MASK = "masked-hook";
/** Stands for the signature of an address. */
const SIGNATURE_MASK = "masked";

/** The beginning of an address, as it is and as it looks in an address. */
const BEGINNING = /https?(?::|%3A)(?:\/|%2F){2}/i;
const ADDRESS = new RegExp(`${BEGINNING.source}[^\\s"'<>\\\\&?#]*`, "gi");
/** The end of an address of ours at which an upstream may call. */
const HOOK = /(?:\/|%2F)hooks(?:\/|%2F)[\w-]{20,}/gi;
/** The end of an address of ours at which an upstream fetches an input. Its signature follows the hash of the content. */
const INPUT = /(?:\/|%2F)inputs(?:\/|%2F)([0-9a-f]{64})-[\w-]+\.\w{2,4}/gi;
/** The parameters that make an address a key to what it names, by the names that storages and networks of caches give them. */
const NAMES = [
  "x-(?:amz|goog|oss|tos|cos|obs|bce|ms)-[\\w-]+",
  "(?:x-)?(?:sig|sign|signature|auth|authorization|credentials?|policy|ticket|jwt|api[_-]?key|key|secret|password)",
  "(?:[a-z]+[_-])?token",
  "key-pair-id|expires|hdnts|hdnea|googleaccessid|awsaccesskeyid|ossaccesskeyid|q-[a-z-]+",
  "s[eprvt]|sk(?:oid|tid|t|e|s|v)",
];
const SIGNED = new RegExp(`([?&]|\\\\u0026|&amp;)(${NAMES.join("|")})=([^&"'\\s\\\\<>#]+)`, "gi");

/** Removes what gives access by an address alone: signatures, and addresses of this service. */
export function withoutAddressKeys(text: string): string {
  return text
    .replace(ADDRESS, (address) => masked(address, HOOK, () => HOOK_MASK))
    .replace(ADDRESS, (address) => masked(address, INPUT, ([, sha256]) => `masked-input-${sha256}`))
    .replace(SIGNED, `$1$2=${SIGNATURE_MASK}`);
}

/**
 * An address in which each beginning with the next such end is masked. One expression for both would look for the end from every
 * beginning, which takes long in a text of many beginnings.
 */
function masked(address: string, end: RegExp, maskOf: (found: RegExpExecArray) => string): string {
  const beginnings = [...address.matchAll(new RegExp(BEGINNING, "gi"))];
  let text = "";
  let from = 0;
  let next = 0;
  for (const found of address.matchAll(end)) {
    while ((beginnings[next]?.index ?? from) < from) next += 1;
    const beginning = beginnings[next];
    if (beginning === undefined || beginning.index + beginning[0].length > found.index) continue;
    text += address.slice(from, beginning.index) + maskOf(found);
    from = found.index + found[0].length;
  }
  return text + address.slice(from);
}

/** Headers of answers that are kept, unless their names say that they hold a secret. */
const KEPT =
  /^(?:content-(?:type|length|encoding|disposition)|location|retry-after|etag|operation-location|request-id|cf-ray|finish-reason|seed|x-[\w-]+|ratelimit-[\w-]+)$/;
const NEVER = /cookie|auth|token|key|secret|session|signature|csrf|credential|forwarded|real-ip|client-ip/;

/** The headers of an answer that a recording keeps. */
export function keptHeaders(headers: Headers, mask: (text: string) => string): Record<string, string> {
  const kept = [...headers].filter(([name]) => KEPT.test(name) && !NEVER.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutAddressKeys(mask(value))]));
}

/** All string values of JSON, and all of any other text, in place of which the mask stands. For calls that make secrets. */
export function withoutValues(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (_name, value: unknown) =>
      typeof value === "string" || typeof value === "number" ? "[secret]" : value,
    );
  } catch {
    return "[secret]";
  }
}

/** Headers that are the same in every request, or follow from the body. */
const USUAL = /^(?:content-length|user-agent|accept-encoding)$/;

/** The headers of a request that a recording keeps. Those of credentials are added to a request later. */
export function sentHeaders(
  headers: Readonly<Record<string, string>>,
  clean: (text: string) => string,
): Record<string, string> {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const kept = named.filter(([name]) => !USUAL.test(name) && !NEVER.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, clean(value)]));
}

/** An address whose parameters may be secrets. */
export function withoutQuery(url: URL): string {
  return url.search === "" ? url.href : `${url.origin}${url.pathname}?${SIGNATURE_MASK}`;
}
