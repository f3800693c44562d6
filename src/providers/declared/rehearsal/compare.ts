import { isJsonObject } from "../../../domain/json.ts";
import { type ExampleForm, type Form, METHODS } from "../form.ts";
import type { RehearsedRequest } from "./upstream.ts";

/** The attempt of every rehearsal. */
export const ATTEMPT = "att_00000000000000000000000001";
const INPUT = "rehearsed input: ";

/** The content of an input of a rehearsal. */
export function contentOf(name: string): string {
  return `${INPUT}${name};`;
}

/**
 * How a request differs from what an example says is sent. An input stands there as `<base64 of image 1>`, `<uri of image 1>` or, as a
 * part of its own, `<image 1>`; the attempt's id as `<attempt>`.
 */
export function differencesIn(
  sends: ExampleForm["sends"],
  requests: readonly RehearsedRequest[],
  form: Pick<Form, "base">,
): string[] {
  if (sends === undefined) return [];
  const worded = requests.map((request) => wordedRequest(request, form));
  // Calls for tokens and uploads come before the one that is meant.
  const meant = worded.find((each) =>
    METHODS.some((verb) => each[verb] !== undefined && each[verb] === sends[verb]),
  );
  const sent = meant ?? worded[0];
  return sent === undefined ? ["nothing is sent"] : differences(sends, sent, "");
}

/** A request in the words of an example. */
function wordedRequest(
  { method, path, headers, body }: RehearsedRequest,
  { base }: Pick<Form, "base">,
): Record<string, unknown> {
  const prefix = new URL(base).pathname.replace(/\/+$/, "");
  const url = path.startsWith(prefix) ? path.slice(prefix.length) : path;
  const verb = METHODS.find((each) => each.toUpperCase() === method) ?? "get";
  const type = headers.get("content-type") ?? "";
  const text = new TextDecoder().decode(body);
  const worded = { [verb]: url };
  if (body.length === 0) return worded;
  if (type.startsWith("multipart/")) return { ...worded, multipart: partsOf(text, type) };
  if (type.includes("urlencoded")) return { ...worded, form: Object.fromEntries(new URLSearchParams(text)) };
  try {
    return { ...worded, json: shortened(JSON.parse(text)) };
  } catch {
    return { ...worded, text };
  }
}

function shortened(value: unknown): unknown {
  if (typeof value === "string")
    return value
      .replace(/data:[\w/+.-]+;base64,([A-Za-z0-9+/=]+)/g, (all, text) => `<uri of ${inputIn(text) ?? all}>`)
      .replace(/[A-Za-z0-9+/]{24,}={0,2}/g, (text) => {
        const name = inputIn(text);
        return name === undefined ? text : `<base64 of ${name}>`;
      })
      .replaceAll(ATTEMPT, "<attempt>");
  if (Array.isArray(value)) return value.map(shortened);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shortened(each)]));
}

function inputIn(encoded: string): string | undefined {
  return nameIn(Buffer.from(encoded, "base64").toString());
}

function nameIn(content: string): string | undefined {
  return content.startsWith(INPUT) ? content.slice(INPUT.length, content.indexOf(";")) : undefined;
}

/** Names and texts of the parts; a file as `<image 1>`, and parts of one name as a list. */
function partsOf(text: string, type: string): Record<string, unknown> {
  const boundary = /boundary="?([^";]+)/.exec(type)?.[1] ?? "";
  const parts = new Map<string, unknown[]>();
  for (const part of text.split(`--${boundary}`)) {
    const [head = "", ...rest] = part.split("\r\n\r\n");
    const name = /name="([^"]*)"/.exec(head)?.[1];
    if (name === undefined) continue;
    const content = rest.join("\r\n\r\n").replace(/\r\n$/, "");
    const value = /filename=/.test(head) ? `<${nameIn(content) ?? "file"}>` : shortened(content);
    parts.set(name, [...(parts.get(name) ?? []), value]);
  }
  return Object.fromEntries(
    [...parts].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

function differences(wanted: unknown, given: unknown, at: string): string[] {
  if (isJsonObject(wanted) && isJsonObject(given)) {
    const names = new Set([...Object.keys(wanted), ...Object.keys(given)]);
    return [...names].flatMap((name) =>
      differences(wanted[name], given[name], at === "" ? name : `${at}.${name}`),
    );
  }
  if (Array.isArray(wanted) && Array.isArray(given) && wanted.length === given.length)
    return wanted.flatMap((each, i) => differences(each, given[i], `${at}[${i}]`));
  if (JSON.stringify(wanted) === JSON.stringify(given)) return [];
  // In a body of parts, a list of one looks like no list, and an empty one like nothing.
  if (Array.isArray(wanted) && wanted.length < 2 && !Array.isArray(given))
    return wanted.length === 0 && given === undefined ? [] : differences(wanted[0], given, at);
  if (given === undefined) return [`does not send ${at}, which must be ${JSON.stringify(wanted)}`];
  if (wanted === undefined) return [`sends ${at}: ${JSON.stringify(given)}, which is not wanted`];
  return [`sends ${at}: ${JSON.stringify(given)}, not ${JSON.stringify(wanted)}`];
}
