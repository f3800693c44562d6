import type { ComponentChildren } from "preact";

/** Names with what they are. Those without a value are left out. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  const there = facts.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return (
    <dl class="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1.5 sm:gap-x-6">
      {there.map(([name, value]) => (
        <div key={name} class="contents">
          <dt class="text-soft">{name}</dt>
          <dd class="min-w-0 wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
