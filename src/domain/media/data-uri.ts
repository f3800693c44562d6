/** A longer header has no meaning here, and searching it would take time. */
const HEADER_MAX = 256;
const HEADER = /^data:[a-z0-9.+/-]*((?:;[^;,]*)*),/i;

/** The header of a base64 data URI, up to and with its comma; undefined for any other text. */
export function dataUriHeader(text: string): string | undefined {
  const header = HEADER.exec(text.slice(0, HEADER_MAX));
  return header !== null && /;base64$/i.test(header[1] ?? "") ? header[0] : undefined;
}
