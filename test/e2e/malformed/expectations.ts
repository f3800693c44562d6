import { expect } from "bun:test";
import type { Malformed, Target } from "./request.ts";
import type { WireAnswer } from "./wire.ts";

const MESSAGE_MAX = 600;
/** How much of what was sent a message may repeat, in characters; a few more when it stands in quotes here as there. */
const SHOWN = 80;
const SHOWN_IN_QUOTES = SHOWN + 4;
/** Above this, what was sent is not searched for what the message repeats. */
const SEARCHED_BYTES = 256 * 1024;

/** An error, in whichever envelope it came. */
interface Problem {
  readonly envelope: "standard" | "compatible";
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param?: string;
  readonly message: string;
}

interface StandardBody {
  readonly code?: number;
  readonly message?: string;
  readonly data?: { readonly type?: string; readonly error_code?: string; readonly param?: string };
}

interface CompatibleBody {
  readonly error: {
    readonly message: string;
    readonly type?: string;
    readonly code?: string;
    readonly param?: string;
  };
}

/** The answer is the refusal that the table expects, whole and in its envelope. */
export function expectRefusal(answer: WireAnswer, line: Malformed): void {
  const { status = 400, code = "invalid_request", envelope = "standard", param, says } = line;
  const { message, ...problem } = readProblem(answer);
  expect({ status: answer.status, ...problem }).toEqual({
    status,
    envelope,
    type: status === 401 ? "authentication_error" : "invalid_request_error",
    code,
    ...(param === undefined ? {} : { param }),
  });
  expect(message.length).toBeGreaterThan(10);
  expect(message.length).toBeLessThan(MESSAGE_MAX);
  if (says !== undefined) expect(message).toMatch(says);
  else if (param !== undefined) expect(message).toContain(lastFieldOf(param));
  expect(answer.headers.get("x-request-id")).toMatch(/^req_[0-9a-z]{26}$/);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
}

/** The answer repeats no credential, little of what was sent, and nothing of how the service is made. */
export function expectDiscretion(answer: WireAnswer, request: Uint8Array, target: Target): void {
  const told = JSON.stringify([answer.body, [...answer.headers]]);
  expect(told).not.toContain(target.key);
  expect(told).not.toContain(target.managementToken);
  // The name of a field of a key is no secret.
  expect(told.replaceAll("callback_secret", "")).not.toContain("secret");
  expect(told).not.toMatch(/\/(?:work|home|root|tmp|src|bunfs)\/|\.ts:|\bat \w+ \(|SQLITE/);
  const { message } = readProblem(answer);
  expect(message).not.toMatch(/(.)\1{80}/su);
  if (request.length > SEARCHED_BYTES) return;
  const sent = Buffer.from(request).toString("utf8");
  for (let from = 0; from + SHOWN_IN_QUOTES < message.length; from++) {
    const piece = message.slice(from, from + SHOWN_IN_QUOTES + 1);
    if (sent.includes(piece)) throw new Error(`The message repeats more than ${SHOWN} characters: ${piece}`);
  }
}

/** @throws Error when the body is in neither envelope */
export function readProblem({ status, body }: WireAnswer): Problem {
  const whole: unknown = JSON.parse(body);
  if (isCompatible(whole)) {
    const { error, ...rest } = whole;
    expect(rest).toEqual({});
    const { message, type, code, ...param } = error;
    return { envelope: "compatible", type, code, message, ...param };
  }
  // Every field is optional, and what is there is compared.
  const { code: repeated, message, data = {}, ...rest } = whole as StandardBody;
  expect({ repeated, ...rest }).toEqual({ repeated: status });
  if (message === undefined) throw new Error(`There is no message: ${body.slice(0, 200)}`);
  const { type, error_code: code, ...param } = data;
  return { envelope: "standard", type, code, message, ...param };
}

function isCompatible(body: unknown): body is CompatibleBody {
  return typeof body === "object" && body !== null && "error" in body;
}

/** `sandbox.delay_ms` is told as the one or the other. */
function lastFieldOf(param: string): string {
  return (param.split(".").at(-1) ?? "").replace(/\[.*/, "");
}
