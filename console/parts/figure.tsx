import type { ComponentChildren } from "preact";

/** Figures side by side, as many in a row as fit. */
export function Figures({ children }: { readonly children: ComponentChildren }) {
  return (
    <dl class="grid grid-cols-2 gap-3 lg:grid-cols-[repeat(auto-fit,minmax(9.5rem,1fr))]">{children}</dl>
  );
}

/** One of them: its name, what it is, and what puts it into proportion. */
export function Figure({
  name,
  more,
  children,
}: {
  readonly name: string;
  readonly more?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="flex min-w-0 flex-col rounded-xl border border-line bg-card p-4">
      <dt class="text-sm text-soft">{name}</dt>
      <dd class="text-2xl font-semibold tracking-tight break-words tabular-nums">{children}</dd>
      {more !== undefined && <dd class="text-sm text-soft">{more}</dd>}
    </div>
  );
}
