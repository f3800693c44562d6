import { isJsonObject } from "../../domain/json.ts";
import type { UpstreamAnswer } from "./answer.ts";
import type { SignedRequest, UnsignedRequest } from "./credentials.ts";
import type { Scrub } from "./scrub.ts";

/** A request and its answer as people may see them: without secrets, and with what is long cut short. */
export interface SeenExchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON where it is some, else a text that says what it is. */
  readonly body: unknown;
  readonly status: number;
  readonly answer: unknown;
}

const MASK = "[secret]";
const LONG = 200;

/** What credentials added to a request is masked, wherever they added it. */
export function seenExchange(
  unsigned: UnsignedRequest,
  signed: SignedRequest,
  answer: UpstreamAnswer,
  scrub: Scrub,
): SeenExchange {
  const given = new Map(Object.entries(unsigned.headers).map(([name, value]) => [name.toLowerCase(), value]));
  const headers = [...signed.headers].map(([name, value]) => [
    name,
    given.get(name) === value ? scrub(value) : MASK,
  ]);
  const url = new URL(signed.url);
  for (const [name, value] of [...url.searchParams])
    if (unsigned.url.searchParams.get(name) !== value) url.searchParams.set(name, MASK);
  return {
    method: unsigned.method,
    url: scrub(url.href.replaceAll(encodeURIComponent(MASK), MASK)),
    headers: Object.fromEntries(headers),
    body: unsigned.body && seenBody(unsigned.body, scrub),
    status: answer.status,
    answer: seenAnswer(answer, scrub),
  };
}

function seenBody({ type, bytes }: NonNullable<UnsignedRequest["body"]>, scrub: Scrub): unknown {
  const text = new TextDecoder().decode(bytes);
  if (type.includes("json")) return seenText(text, scrub);
  if (type.includes("urlencoded")) return seen(Object.fromEntries(new URLSearchParams(text)), scrub);
  const parts = [...text.matchAll(/name="([^"\r\n]+)"/g)].map(([, name = ""]) => scrub(name));
  return `${bytes.length} bytes of ${type.split(";")[0]}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`;
}

function seenAnswer({ json, bytes, text }: UpstreamAnswer, scrub: Scrub): unknown {
  if (bytes !== undefined) return `a file of ${bytes.length} bytes`;
  return json === undefined ? scrub(text ?? "") : seen(json, scrub);
}

function seenText(text: string, scrub: Scrub): unknown {
  try {
    return seen(JSON.parse(text), scrub);
  } catch {
    return scrub(text);
  }
}

function seen(value: unknown, scrub: Scrub): unknown {
  if (typeof value === "string") return scrub(shortened(value));
  if (Array.isArray(value)) return value.map((each) => seen(each, scrub));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [scrub(name), seen(each, scrub)]));
}

/** Base64 by its length alone. */
function shortened(text: string): string {
  const [, before = "", encoded = ""] = /^(data:[\w/+.-]+;base64,)?([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  return encoded.length > LONG ? `${before}<${encoded.length} characters of base64>` : text;
}
