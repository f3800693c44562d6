import type { ComponentChildren } from "preact";

interface Props {
  readonly href: string;
  readonly children: ComponentChildren;
}

/** A way to another screen. */
export function Link({ href, children }: Props) {
  return (
    <a class="text-accent underline underline-offset-2" href={href}>
      {children}
    </a>
  );
}

/** A row of a table leads to what it is about: `j` and `k` go from one to the next. */
export function RowLink({ href, children }: Props) {
  return (
    <a
      data-row
      class="inline-block min-w-24 wrap-anywhere text-accent underline-offset-2 hover:underline"
      href={href}
    >
      {children}
    </a>
  );
}

/** The way to where something is made. */
export function MainLink({ href, children }: Props) {
  return (
    <a
      class="inline-flex min-h-9 items-center justify-center rounded-md border border-accent bg-accent px-3 text-sm font-medium whitespace-nowrap text-on-accent hover:opacity-90"
      href={href}
    >
      {children}
    </a>
  );
}
