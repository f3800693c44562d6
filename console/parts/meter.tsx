interface Props {
  /** Of the whole, 0 to 1 and more. */
  readonly share: number;
  /** Says the same in words, so that nobody has to guess it from a length or a colour. */
  readonly text: string;
}

/** How much of something is used. */
export function Meter({ share, text }: Props) {
  const percent = Math.min(100, Math.max(0, share * 100));
  const colour = share >= 0.95 ? "bg-bad" : share >= 0.8 ? "bg-warn" : "bg-accent";
  return (
    <div class="flex min-w-0 flex-col gap-1">
      <div aria-hidden="true" class="h-2 overflow-hidden rounded-full bg-sunk">
        <div class={`h-full rounded-full ${colour}`} style={{ width: `${percent}%` }} />
      </div>
      <span class="text-sm text-soft">{text}</span>
    </div>
  );
}
