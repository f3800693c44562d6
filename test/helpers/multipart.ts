import { AppError } from "../../src/domain/errors.ts";
import { createIngressBudget } from "../../src/http/ingress/budget.ts";
import { createIngress } from "../../src/http/ingress/ingress.ts";
import { createPace } from "../../src/http/ingress/pace.ts";
import { type MultipartForm, type MultipartLimits, readMultipart } from "../../src/http/multipart/read.ts";

export const LIMITS: MultipartLimits = {
  maxFiles: 3,
  maxFields: 4,
  maxFieldBytes: 1_000,
  maxHeaderBytes: 500,
};
export const TYPE = "multipart/form-data; boundary=B";

export type Content = AsyncIterable<Uint8Array>;

/** Text is one byte a character throughout, so that any bytes can be written. */
export const latin1 = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
export const part = (header: string, content: string) => `--B\r\n${header}\r\n\r\n${content}\r\n`;
export const named = (name: string, content: string) =>
  part(`Content-Disposition: form-data; name="${name}"`, content);
export const file = (name: string, content: string) =>
  part(`Content-Disposition: form-data; name="${name}"; filename="f.png"`, content);
export const END = "--B--\r\n";

export async function textOf(content: Content): Promise<string> {
  let text = "";
  for await (const chunk of content) text += Buffer.from(chunk).toString("latin1");
  return text;
}

export function request(
  body: string | ReadableStream<Uint8Array>,
  type = TYPE,
  headers: Record<string, string> = {},
) {
  const content = typeof body === "string" ? latin1(body) : body;
  return new Request("http://test/", {
    method: "POST",
    body: content,
    headers: { "Content-Type": type, ...headers },
  });
}

export function inPieces(body: string, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= body.length) return controller.close();
      controller.enqueue(latin1(body.slice(at, at + size)));
      at += size;
    },
  });
}

export interface Outcome {
  /** What was refused, or the form. */
  readonly said: string | MultipartForm<string>;
  readonly abandoned: string[];
}

type Clocks = Parameters<typeof createPace>[0];

/** A clock that stands still: no sender is ever too slow. */
const STILL: Clocks = { clock: { elapsed: () => 0, after: () => () => {} } };

/** A request's body on its way in, with room for everything. */
export function intakeOf(given: Request, clocks: Clocks = STILL) {
  const budget = createIngressBudget({ bytes: 2 ** 30, bodies: 100, waiting: 100 });
  return createIngress({ budget, pace: createPace(clocks), lane: () => undefined }).intakeOf(
    given,
    () => "owner",
  );
}

export async function read(
  given: Request,
  options: {
    limits?: Partial<MultipartLimits>;
    onFile?: (field: string, content: Content) => Promise<string>;
    maxTotalBytes?: number;
    clocks?: Clocks;
  } = {},
): Promise<Outcome> {
  const abandoned: string[] = [];
  const onFile = options.onFile ?? ((_, content) => textOf(content));
  const keep = async (value: string) => void abandoned.push(value);
  const limits = { ...LIMITS, ...options.limits };
  const said = await intakeOf(given, options.clocks)
    .receive(options.maxTotalBytes ?? 100_000, (incoming) =>
      readMultipart(given, incoming, limits, onFile, keep),
    )
    .catch((error: unknown) => {
      if (error instanceof AppError) return `${error.code}: ${error.message}`;
      throw error;
    });
  return { said, abandoned };
}
