import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { stay } from "../shell/router.ts";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  /** Is not left by Escape or the way back: the reader has to choose. */
  readonly isFirm?: boolean;
  /** For what is looked at closely. */
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

/** A native modal dialog: the browser keeps the focus inside, and gives it back at the end. It is open while it is rendered. */
export function Dialog({ title, onClose, isFirm = false, isWide = false, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  useEffect(() => (isFirm ? stay() : undefined), [isFirm]);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      class={`m-auto max-h-[90dvh] ${isWide ? "w-[min(64rem,calc(100vw-2rem))]" : "w-[min(34rem,calc(100vw-2rem))]"} overflow-auto rounded-xl border border-line bg-card p-5 text-ink shadow-2xl`}
      onCancel={(event) => {
        event.preventDefault();
        if (!isFirm) onClose();
      }}
      // Browsers ask by `cancel`, but close at the second Escape or step back whatever was answered.
      onKeyDown={(event) => {
        if (isFirm && event.key === "Escape") event.preventDefault();
      }}
      onClose={({ currentTarget }) => {
        if (!currentTarget.isConnected) return;
        if (isFirm) currentTarget.showModal();
        else onClose();
      }}
    >
      <div class="mb-3 flex items-start gap-3">
        <h2 id={id} class="grow text-lg font-semibold">
          {title}
        </h2>
        {!isFirm && (
          <button
            type="button"
            class="px-2 text-xl leading-none text-soft hover:text-ink"
            aria-label="Close"
            onClick={onClose}
          >
            ×
          </button>
        )}
      </div>
      {children}
    </dialog>
  );
}
