import { useState } from "preact/hooks";

/** Text to read and to take along, as it is. */
export function CodeBlock({ text, label }: { readonly text: string; readonly label: string }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      // Browsers offer it over TLS and on the same machine only.
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      setSaid("Select it and copy it by hand");
    }
  };
  return (
    <div class="relative min-w-0 rounded-lg border border-line bg-sunk">
      <div class="absolute top-1.5 right-1.5 flex items-center gap-2 text-sm">
        <span role="status" class="text-soft">
          {said}
        </span>
        <button
          type="button"
          class="rounded border border-line bg-card px-2 py-0.5 text-soft hover:text-ink"
          aria-label={`Copy: ${label}`}
          onClick={() => void copy()}
        >
          Copy
        </button>
      </div>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it has to be reached by keyboard
        tabIndex={0}
        aria-label={label}
        class="max-h-[28rem] overflow-auto p-3 pr-20 font-mono text-[0.8125rem] leading-normal"
      >
        <pre class="font-[inherit] break-words whitespace-pre-wrap">{text}</pre>
      </section>
    </div>
  );
}
