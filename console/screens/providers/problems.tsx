/** What is wrong with files, settings or keys, as the service says it: a line each. */
export function Problems({ problems }: { readonly problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <div role="status" class="rounded-xl border border-warn bg-card p-4">
      <p class="font-medium text-warn">Something here cannot be used as it is</p>
      <ul class="mt-1 flex flex-col gap-1">
        {problems.map((problem) => (
          <li key={problem} class="wrap-anywhere">
            {problem}
          </li>
        ))}
      </ul>
    </div>
  );
}
