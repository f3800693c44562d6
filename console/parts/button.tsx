import type { ComponentChildren, JSX } from "preact";

const LOOKS = {
  main: "border-accent bg-accent text-on-accent hover:opacity-90",
  plain: "border-line bg-card text-ink hover:border-edge",
  quiet: "border-transparent text-soft hover:text-ink hover:bg-sunk",
  danger: "border-bad text-bad hover:bg-sunk",
} as const;

type Props = Omit<JSX.IntrinsicElements["button"], "class" | "children"> & {
  readonly look?: keyof typeof LOOKS;
  /** Something it began goes on: it takes no second press, and keeps the focus. */
  readonly isBusy?: boolean;
  /**
   * What it does costs something or cannot be undone. The second press of a double click does nothing: it was meant for what was there
   * before, or would do the same again.
   */
  readonly isOnce?: boolean;
  readonly children: ComponentChildren;
};

export function Button({
  look = "plain",
  isBusy = false,
  isOnce = false,
  onClick,
  type = "button",
  ...rest
}: Props) {
  return (
    <button
      type={type}
      aria-busy={isBusy}
      aria-disabled={isBusy || rest.disabled}
      class={`inline-flex min-h-9 items-center justify-center gap-2 rounded-md border px-3 text-sm font-medium whitespace-nowrap disabled:opacity-60 aria-busy:cursor-progress ${LOOKS[look]}`}
      onClick={(event) => {
        if (isBusy || (isOnce && event.detail > 1)) event.preventDefault();
        else onClick?.(event);
      }}
      {...rest}
    />
  );
}
