/** What must be set before something can be used: names of variables and settings. */
export function Needs({ needs }: { readonly needs: readonly string[] }) {
  return (
    <span class="flex min-w-0 flex-wrap gap-x-2 gap-y-1">
      {needs.map((need) => (
        <code key={need} class="rounded bg-sunk px-1.5 font-mono text-[0.8125rem] break-all">
          {need}
        </code>
      ))}
    </span>
  );
}
