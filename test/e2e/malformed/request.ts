import type { JsonObject } from "../../../src/domain/json.ts";

/** The server that the requests are made for, and who makes them. */
export interface Target {
  readonly port: number;
  /** Of a prepaid account. */
  readonly key: string;
  readonly managementToken: string;
}

/** What the answer to a malformed request says. */
export interface Refusal {
  /** 400 unless told. */
  readonly status?: number;
  /** `invalid_request` unless told. */
  readonly code?: string;
  readonly envelope?: "standard" | "compatible";
  readonly param?: string;
  /** Must stand in the message. */
  readonly says?: string | RegExp;
}

export type Header = readonly [name: string, value: string];

/** A request by what sets it apart from a good one. */
export interface Sent {
  readonly method?: string;
  readonly path?: string;
  /** One line each, as they are, in latin-1. They take the place of the default ones they name. */
  readonly headers?: readonly Header[];
  /** Default headers left out. */
  readonly without?: readonly string[];
  readonly body?: string | Uint8Array | JsonObject;
}

/** One line of a table of malformed requests. */
export interface Malformed extends Sent, Refusal {
  readonly name: string;
}

export const WRONG_TYPE = { status: 415, code: "unsupported_media_type" } as const;
export const TOO_LARGE = { status: 413, code: "request_too_large" } as const;
export const NO_TASK = { status: 404, code: "task_not_found" } as const;
export const NOTHING_THERE = { status: 404, code: "not_found" } as const;
export const UNAUTHENTICATED = { status: 401, code: "invalid_api_key", envelope: "compatible" } as const;

/** Lines of a table that have something in common. */
export function among(common: Sent & Refusal, lines: readonly Malformed[]): Malformed[] {
  return lines.map((line) => ({ ...common, ...line }));
}

/** The whole request as it goes onto the socket. */
export function rawRequest({ port, key }: Target, sent: Sent): Buffer {
  const body = toBytes(sent.body);
  const defaults: Header[] = [
    ["Host", `127.0.0.1:${port}`],
    ["Authorization", `Bearer ${key}`],
    ["Connection", "close"],
  ];
  if (body !== undefined) {
    defaults.push(["Content-Type", "application/json"], ["Content-Length", String(body.length)]);
  }
  const own = sent.headers ?? [];
  const replaced = new Set(
    [...own.map(([name]) => name), ...(sent.without ?? [])].map((name) => name.toLowerCase()),
  );
  const headers = [...defaults.filter(([name]) => !replaced.has(name.toLowerCase())), ...own];
  const method = sent.method ?? (body === undefined ? "GET" : "POST");
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${sent.path ?? "/"} HTTP/1.1`, ...lines, "\r\n"].join("\r\n");
  return Buffer.concat([Buffer.from(head, "latin1"), body ?? Buffer.alloc(0)]);
}

function toBytes(body: Sent["body"]): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}
