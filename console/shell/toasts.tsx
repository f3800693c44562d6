import { signal } from "@preact/signals";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: "done" | "failed";
}

const toasts = signal<readonly Toast[]>([]);
const SHOWN_MS = 6_000;
let count = 0;

/** Says in passing what was done. What the reader has to act on is said where it is. */
export function say(text: string, kind: Toast["kind"] = "done"): void {
  const id = ++count;
  toasts.value = [...toasts.peek().slice(-3), { id, text, kind }];
  setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
}

export function Toasts() {
  return (
    <div
      role="status"
      class="pointer-events-none fixed inset-x-0 bottom-0 z-40 flex flex-col items-center gap-2 p-4"
    >
      {toasts.value.map(({ id, text, kind }) => (
        <div
          key={id}
          class={`pointer-events-auto flex max-w-xl items-center gap-3 rounded-lg border bg-card px-4 py-2 shadow-lg ${kind === "failed" ? "border-bad text-bad" : "border-line"}`}
        >
          <span class="break-words">{text}</span>
          <button
            type="button"
            class="px-1 text-soft hover:text-ink"
            aria-label="Dismiss"
            onClick={() => dismiss(id)}
          >
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
