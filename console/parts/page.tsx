import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  readonly title: string;
  /** Beside the title: what can be done here. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A screen: its heading gets the focus when it appears, so that the keyboard and screen readers begin there. */
export function Page({ title, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · svc`;
  }, [title]);
  // Before the reader can press anything: later it would take the focus away.
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div class="flex min-w-0 flex-col gap-4">
      <div class="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h1
          ref={heading}
          tabIndex={-1}
          class="min-w-0 grow text-2xl font-semibold tracking-tight wrap-anywhere"
        >
          {title}
        </h1>
        {actions}
      </div>
      {children}
    </div>
  );
}

/** A part of a screen, with a heading of its own. */
export function Section({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="flex min-w-0 flex-col gap-2">
      <h2 class="text-base font-semibold">{title}</h2>
      {children}
    </section>
  );
}

/** While something is read for the first time. */
export function Reading({ what }: { readonly what: string }) {
  return (
    <p role="status" class="py-6 text-soft">
      Reading {what}…
    </p>
  );
}
