/** How a body ended: all of it came, its reader wanted no more, or it broke off. */
export type BodyEnd =
  | { readonly kind: "whole" | "left" }
  | { readonly kind: "broken"; readonly error: unknown };

/** An answer whose body is told of, piece by piece, while its reader takes it at its own pace. */
export function observed(
  response: Response,
  to: { piece(piece: Uint8Array): void; end(end: BodyEnd): void },
): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) {
    to.end({ kind: "whole" });
    return response;
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            to.end({ kind: "whole" });
            controller.close();
          } else {
            to.piece(value);
            controller.enqueue(value);
          }
        } catch (error) {
          to.end({ kind: "broken", error });
          controller.error(error);
        }
      },
      cancel(reason) {
        to.end({ kind: "left" });
        return reader.cancel(reason);
      },
    },
    // Nothing is read ahead of the reader.
    { highWaterMark: 0 },
  );
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}
