/** Decodes base64 that arrives in pieces. */
export interface Base64Decoder {
  /** @returns the bytes that are complete; undefined when the text is not base64, from then on */
  decode(text: string): Buffer | undefined;
  /** Ends the text. @returns the last bytes, and what the text ended with; undefined when it was not base64 */
  end(): { readonly bytes: Buffer; readonly rest: string } | undefined;
}

const ALPHABET = /^[A-Za-z0-9+/]*$/;
const NOTHING = Buffer.alloc(0);

/**
 * Takes both alphabets of RFC 4648, padded or not, and passes over white space: Google's client for Python writes the alphabet of
 * URLs, other programs break lines. Refuses all else, and a length that base64 cannot have.
 */
export function createBase64Decoder(): Base64Decoder {
  let rest = "";
  let isBroken = false;

  function decode(text: string): Buffer | undefined {
    if (isBroken) return undefined;
    const isPlain = ALPHABET.test(text);
    const before = rest;
    const all = before + (isPlain ? text : plain(text));
    // The last four characters may be padded; they are looked at when the end is known.
    const whole = Math.max(0, Math.floor((all.length - 1) / 4) * 4);
    const body = whole === 0 ? "" : all.slice(0, whole);
    rest = all.slice(whole);
    if (body === "") return NOTHING;
    isBroken = !ALPHABET.test(isPlain ? before : body);
    return isBroken ? undefined : Buffer.from(body, "base64");
  }

  function end(): ReturnType<Base64Decoder["end"]> {
    const unpadded = rest.replace(/={1,2}$/, "");
    const isPadded = unpadded !== rest;
    if (isBroken || !ALPHABET.test(unpadded)) return undefined;
    if (unpadded.length === 1 || unpadded.length === 0 || (isPadded && rest.length !== 4)) return undefined;
    return { bytes: Buffer.from(unpadded, "base64"), rest };
  }

  return { decode, end };
}

/** In the usual alphabet, without white space. */
function plain(text: string): string {
  return text
    .replace(/[\t\n\f\r ]+/g, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/");
}
