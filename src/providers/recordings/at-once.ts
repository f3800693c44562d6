import type { ProviderAdapter } from "../../domain/ports/provider.ts";

/** An adapter whose jobs may be polled at once and any number of times, because recorded answers need no waiting. */
export function atOnce(adapter: ProviderAdapter): ProviderAdapter {
  const { poll, withTerms } = adapter;
  return {
    ...adapter,
    rates: undefined,
    async submit(request, signal) {
      const submitted = await adapter.submit(request, signal);
      return submitted.kind === "operation" ? { ...submitted, pollAfterMs: 0, isHooked: false } : submitted;
    },
    ...(poll && {
      async poll(operation, signal, previews) {
        const answer = await poll(operation, signal, previews);
        return answer.kind === "pending" ? { ...answer, pollAfterMs: 0 } : answer;
      },
    }),
    ...(withTerms && { withTerms: (terms) => atOnce(withTerms(terms)) }),
  };
}
